import CoreDataPorting
import Testing

@Suite struct ImportTests {
    @Test(arguments: [
        (
            "import CoreData\nimport UIKit\n\nclass A {}\n",
            "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n\nclass A {}\n"
        ),
        (
            "import os.log // why\nimport Foundation\n",
            "#if canImport(os)\nimport os.log\n#endif // why\nimport Foundation\n"
        ),
        (
            "import class UIKit.UIImage\n",
            "#if canImport(UIKit)\nimport class UIKit.UIImage\n#else\nimport Foundation\n#endif\n"
        ),
        ("import CoreData.CoreDataDefines\n", "import CoreData\n"),
        (
            "@preconcurrency import Combine\nimport Foundation\n",
            "#if canImport(Combine)\n@preconcurrency import Combine\n#endif\nimport Foundation\n"
        ),
    ])
    func missingModuleIsImportedWhereItExists(before: String, after: String) throws {
        try check(before, becomes: after)
    }

    @Test(arguments: [
        "import Foundation\nimport CoreData\nimport Dispatch\nimport XCTest\n@testable import Library\n",
        "#if canImport(UIKit)\nimport UIKit\n#endif\n",
        "import struct Foundation.URL\n",
    ])
    func otherImportsStay(text: String) throws { try check(text, becomes: text) }

    @Test(arguments: [
        (
            "import Foundation\nlet a = NSPredicate(value: true)\n",
            "import Foundation\nimport CoreData\nlet a = NSPredicate(value: true)\n"
        ),
        (
            "import Foundation // F\nfunc f(_ e: NSExpression) {}\n",
            "import Foundation\nimport CoreData // F\nfunc f(_ e: NSExpression) {}\n"
        ),
        ("import Foundation\nlet a = URL(string: x)\n", "import Foundation\nlet a = URL(string: x)\n"),
    ])
    func moduleThatHasTheNamesHereIsImported(before: String, after: String) throws { try check(before, becomes: after) }

    @Test func copyDoesWithoutTheImport() throws {
        let ported = try port("import UIKit\nimport CoreData\n", path: "/src/A.swift")
        #expect(ported.compiled == "#sourceLocation(file: \"/src/A.swift\", line: 1)\n            \nimport CoreData\n")
    }

    @Test func sourceThatNeedsAUserInterfaceIsLeftOut() throws {
        let ported = try port("import CoreData\nimport UIKit\n\nclass Controller: UIViewController {}\n")
        #expect(ported.isLeftOut)
        #expect(ported.neededFrameworks == ["UIKit"])
        #expect(ported.remarks.map(\.location?.line) == [4])
        #expect(ported.compiled == "// Left out: needs UIKit.\n")
    }

    @Test func typeOfOnesOwnWithSuchANameIsNotTheFramework() throws {
        #expect(try !port("import UIKit\nstruct UIState {}\nlet a = UIState()\nlet b: UInt8 = 1\n").isLeftOut)
    }

    @Test func useInsideAConditionDoesNotCount() throws {
        let text = "#if canImport(UIKit)\nimport UIKit\ntypealias Image = UIImage\n#endif\n"
        #expect(try !port(text).isLeftOut)
    }

    @Test func useOfAnotherMissingModuleIsReported() throws {
        let ported = try port("import os\nlet log = Logger(subsystem: \"a\", category: \"b\")\nlet other = Logger(x)\n")
        #expect(!ported.isLeftOut)
        #expect(ported.remarks.map(\.message) == ["'Logger' needs os, which does not exist here"])
        #expect(ported.remarks.map(\.location?.line) == [2])
    }
}
