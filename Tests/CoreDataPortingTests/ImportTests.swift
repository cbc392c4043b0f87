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
        (
            "import CoreData\nlet t: Foundation.ValueTransformer? = nil\n",
            "import CoreData\nlet t: ValueTransformer? = nil\n"
        ),
        (
            "import CoreData\nFoundation.ValueTransformer.setValueTransformer(t, forName: n)\n",
            "import CoreData\nValueTransformer.setValueTransformer(t, forName: n)\n"
        ),
        (
            "import Foundation\nclass T: Foundation.ValueTransformer {}\n",
            "import Foundation\nimport CoreData\nclass T: ValueTransformer {}\n"
        ),
        (
            "import Foundation\nlet s = Foundation.URLSession.shared\n",
            "import Foundation\n#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\nlet s = URLSession.shared\n"
        ),
        ("import CoreData\nlet m = Foundation.UndoManager()\n", "import CoreData\nlet m = UndoManager()\n"),
        (
            "import Foundation\nlet d: Foundation.Date = Foundation.Date()\n",
            "import Foundation\nlet d: Foundation.Date = Foundation.Date()\n"
        ),
        (
            "import Foundation\nlet v = Kit.ValueTransformer.self\n",
            "import Foundation\nlet v = Kit.ValueTransformer.self\n"
        ),
    ])
    func moduleThatAnotherHasHereIsDropped(before: String, after: String) throws {
        try check(before, becomes: after)
    }

    @Test func aModuleThatTheTargetHasIsImportedAndItsNamesAreNotTold() throws {
        let text = "import Combine\nimport CoreData\nlet changes: AnyPublisher<Int, Never>? = nil\n"
        let having = Porter.port([PortSource(path: "Book.swift", text: text)], having: ["Combine"])
        let ported = try #require(having.first)
        #expect(ported.written == text && ported.remarks.isEmpty)
        #expect(ported.compiled.contains("import Combine"))
        let without = try port(text)
        #expect(!without.compiled.contains("import Combine"))
        #expect(without.remarks.rendered.contains("OpenCoreData's product Combine has it"))
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

/// Names that came along with something else on Apple's platforms.
extension ImportTests {
    private static let networking = "#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif"

    @Test(arguments: [
        (
            "import Foundation\n\nlet a = URLSession.shared\n",
            "import Foundation\n\(networking)\n\nlet a = URLSession.shared\n"
        ),
        (
            "import CoreData\nfunc f(_ r: URLRequest, _ a: HTTPURLResponse?) {}\n",
            "import CoreData\n\(networking)\nfunc f(_ r: URLRequest, _ a: HTTPURLResponse?) {}\n"
        ),
        (
            "import UIKit\nextension URLSessionTask {}\n",
            "#if canImport(UIKit)\nimport UIKit\n#else\nimport Foundation\n#endif\n\(networking)\n"
                + "extension URLSessionTask {}\n"
        ),
        (
            "import Foundation\nlet a = URLSession.shared, p = NSPredicate(value: true)\n",
            "import Foundation\nimport CoreData\n\(networking)\n"
                + "let a = URLSession.shared, p = NSPredicate(value: true)\n"
        ),
        (
            "import class Foundation.URLSession\nlet a = URLSession.shared\n",
            "#if canImport(FoundationNetworking)\nimport class FoundationNetworking.URLSession\n#else\n"
                + "import class Foundation.URLSession\n#endif\nlet a = URLSession.shared\n"
        ),
        (
            "import Foundation\nclass P: NSObject, XMLParserDelegate {}\n",
            "import Foundation\n#if canImport(FoundationXML)\nimport FoundationXML\n#endif\n"
                + "class P: NSObject, XMLParserDelegate {}\n"
        ),
    ])
    func moduleThatHasPartOfFoundationHereIsImported(before: String, after: String) throws {
        try check(before, becomes: after)
    }

    @Test(arguments: [
        "import Foundation\nstruct URLSession {}\nlet a = URLSession()\n",
        "import Foundation\nlet a = Kind.URLSession\nlet b: Kind = .URLSession\nlet c = \\Kind.URLSession\n",
        "import Foundation\n#if canImport(UIKit)\nlet a = URLSession.shared\n#endif\n",
        "import Foundation\n\(networking)\nlet a = URLSession.shared\n",
        "import Foundation\nlet a: URLError.Code? = nil\n",
    ])
    func nothingIsImportedForAnotherOfThatName(text: String) throws { try check(text, becomes: text) }

    @Test func copyImportsOnTheSameLine() throws {
        let ported = try port("import Foundation\nlet a = URLSession.shared\n", path: "/A.swift")
        #expect(
            ported.compiled
                == "#sourceLocation(file: \"/A.swift\", line: 1)\nimport Foundation; import FoundationNetworking\n"
                + "let a = URLSession.shared\n")
    }

    @Test(arguments: [
        ("class Book: NSManagedObject {}\n", "import CoreData\n\nclass Book: NSManagedObject {}\n"),
        (
            "//\n//  Book.swift\n//\n\n/// A book.\nclass Book: NSManagedObject {}\n",
            "//\n//  Book.swift\n//\n\nimport CoreData\n\n/// A book.\nclass Book: NSManagedObject {}\n"
        ),
        ("struct A {\n    var at: Date\n}\n", "import Foundation\n\nstruct A {\n    var at: Date\n}\n"),
        (
            "import Shelves\nfunc f(_ context: NSManagedObjectContext) {}\n",
            "import Shelves\nimport CoreData\nfunc f(_ context: NSManagedObjectContext) {}\n"
        ),
        (
            "import UIKit\nfunc f(_ context: NSManagedObjectContext) {}\n",
            "#if canImport(UIKit)\nimport UIKit\n#else\nimport CoreData\n#endif\n"
                + "func f(_ context: NSManagedObjectContext) {}\n"
        ),
        (
            "#if canImport(UIKit)\nimport UIKit\n#endif\n\nlet a = UUID()\n",
            "import Foundation\n\n#if canImport(UIKit)\nimport UIKit\n#endif\n\nlet a = UUID()\n"
        ),
    ])
    func missingImportOfAModuleThatExistsIsAdded(before: String, after: String) throws {
        try check(before, becomes: after)
    }

    @Test func importThatOneSourcePassesOnIsNotMissing() throws {
        let ported = Porter.port([
            PortSource(path: "Exports.swift", text: "@_exported import Foundation\n"),
            PortSource(path: "A.swift", text: "let a = Date()\n"),
        ])
        #expect(ported.map(\.isChanged) == [false, false])
    }

    @Test func missingImportOfAModuleThatIsMissingIsTold() throws {
        let ported = try port("import CoreData\n\nlet a = UIColor.red\nvar b: UIImage?\nlet c = UIColor.blue\n")
        #expect(!ported.isLeftOut && !ported.isChanged)
        #expect(
            ported.remarks.map(\.message) == [
                "'UIColor' needs UIKit, which is not imported and does not exist here",
                "'UIImage' needs UIKit, which is not imported and does not exist here",
            ])
        #expect(ported.remarks.map(\.location?.line) == [3, 4])
        #expect(ported.remarks.allSatisfy { $0.severity == .warning && $0.hint?.contains("canImport(UIKit)") == true })
    }

    @Test(arguments: [
        "import CoreData\nlet a: UInt8 = 1, b = UITESTING, c = UI.self, d = UIDMap()\n",
        "import CoreData\nenum UIColor {}\nlet a = UIColor.self\n",
        "import CoreData\nlet a = Style.UIColor\n",
        "import CoreData\n#if canImport(UIKit)\nlet a = UIColor.red\n#endif\n",
    ])
    func nothingIsToldOfNamesOfOnesOwn(text: String) throws { #expect(try port(text).remarks.isEmpty) }

    @Test func typeOfTheTargetsOwnSourcesIsNotMissing() throws {
        let source = PortSource(path: "A.swift", text: "import UIKit\nlet a = UIColor.red\n")
        let own = PortSource(path: "Own.swift", text: "struct UIColor { static let red = UIColor() }\n")
        #expect(Porter.port([source]).map(\.isLeftOut) == [true])
        #expect(Porter.port([source], beside: [own]).map(\.isLeftOut) == [false])
    }

    @Test(arguments: [
        ("LinkPresentation", "LPMetadataProvider"), ("CommonCrypto", "CC_SHA256"), ("Security", "SecItemAdd"),
        ("Security", "kSecClass"), ("Network", "NWPathMonitor"), ("CoreImage", "CIImage"),
    ])
    func namesOfAModuleAreKnownByTheirBeginning(module: String, name: String) throws {
        let ported = try port("import Foundation\nimport \(module)\nlet a = \(name)(), b = \(name.prefix(2))\n")
        #expect(ported.remarks.map(\.message) == ["'\(name)' needs \(module), which does not exist here"])
    }

    @Test func swiftUIBringsUIKitAlong() throws {
        let ported = try port("import SwiftUI\nlet a = UIColor.red\n")
        #expect(ported.neededFrameworks == ["UIKit"])
    }
}
