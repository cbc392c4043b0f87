import CoreDataPorting
import Testing

/// Of a source that needs a framework for user interfaces in some declarations only, the others are ported.
@Suite struct LeavingOutTests {
    private static let tag = """
        import CoreData
        import UIKit

        @objc(Tag)
        class Tag: NSManagedObject {
            @NSManaged var name: String
            @NSManaged var color: UIColor?

            func paint() { print(color) }
            func rename(_ color: String) { name = color }
        }

        final class TagView: UIView {}

        extension TagView {
            func show() {}
        }
        """

    @Test func membersAndTypesAreLeftOutWithWhatUsesThem() throws {
        try check(
            Self.tag,
            becomes: """
                import CoreData
                #if canImport(UIKit)
                import UIKit
                #endif

                class Tag: NSManagedObject {
                    @NSManaged var name: String
                    #if canImport(UIKit)
                    @NSManaged var color: UIColor?
                    #endif

                    #if canImport(UIKit)
                    func paint() { print(color) }
                    #endif
                    func rename(_ color: String) { name = color }
                }

                #if canImport(UIKit)
                final class TagView: UIView {}
                #endif

                #if canImport(UIKit)
                extension TagView {
                    func show() {}
                }
                #endif
                """)
    }

    @Test func eachIsToldWithItsReason() throws {
        let ported = try port(Self.tag)
        #expect(!ported.isLeftOut && !ported.isSettled)
        #expect(
            ported.remarks.map { "\($0.location?.line ?? 0): \($0.message)" } == [
                "7: left out: 'UIColor' needs UIKit, which does not exist here",
                "9: left out: it uses 'color', which is left out",
                "13: left out: 'UIView' needs UIKit, which does not exist here",
                "15: left out: it uses 'TagView', which is left out",
            ])
        #expect(ported.changes.map(\.summary).contains("left out @NSManaged var color: UIColor?"))
        #expect(!ported.compiled.contains("UIColor") && !ported.compiled.contains("TagView"))
        #expect(ported.compiled.contains("func rename"))
    }

    @Test(arguments: [
        // A switch would miss a case, so the whole type is left out.
        (
            "import CoreData\nimport UIKit\nenum Paint { case color(UIColor), none }\nstruct A {}\n",
            "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n"
                + "#if canImport(UIKit)\nenum Paint { case color(UIColor), none }\n#endif\nstruct A {}\n"
        ),
        (
            "import CoreData\nimport UIKit\nstruct A { var c: UIColor?; var n = 1 }\n",
            "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n"
                + "struct A { \n#if canImport(UIKit)\nvar c: UIColor?;\n#endif\n var n = 1 }\n"
        ),
        // What is left of a type is its name.
        (
            "import CoreData\nimport SwiftUI\nclass A {\n\tvar body: Text { Text(\"\") } // why\n}\n",
            "import CoreData\n#if canImport(SwiftUI)\nimport SwiftUI\n#endif\n"
                + "class A {\n\t#if canImport(SwiftUI)\n\tvar body: Text { Text(\"\") }\n\t#endif // why\n}\n"
        ),
        (
            "import CoreData\nimport SwiftUI\nstruct A {}\nstruct V: View {}\n\n#Preview { V() }\n",
            "import CoreData\n#if canImport(SwiftUI)\nimport SwiftUI\n#endif\nstruct A {}\n"
                + "#if canImport(SwiftUI)\nstruct V: View {}\n#endif\n\n"
                + "#if canImport(SwiftUI)\n#Preview { V() }\n#endif\n"
        ),
        // A preview shows a view, also where it names one of another source.
        (
            "import SwiftData\nstruct A {}\n\n#Preview(\"Dark\") {\n    Items()\n}\n",
            "import SwiftData\nstruct A {}\n\n#if canImport(SwiftUI)\n#Preview(\"Dark\") {\n    Items()\n}\n#endif\n"
        ),
        (
            "import CoreData\nimport UIKit\nstruct A {}\n@available(iOS 17, *)\n#Preview { Login() }\n",
            "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\nstruct A {}\n"
                + "#if canImport(UIKit)\n@available(iOS 17, *)\n#Preview { Login() }\n#endif\n"
        ),
        (
            "import CoreData\n#if DEBUG\n#Preview { Items() }\n#endif\nstruct A {}\n",
            "import CoreData\n#if DEBUG\n#if canImport(SwiftUI)\n#Preview { Items() }\n#endif\n#endif\nstruct A {}\n"
        ),
        (
            "import CoreData\nimport UIKit\nextension UIColor { static let a = 1 }\nfunc f() {}\n",
            "import CoreData\n#if canImport(UIKit)\nimport UIKit\n#endif\n"
                + "#if canImport(UIKit)\nextension UIColor { static let a = 1 }\n#endif\nfunc f() {}\n"
        ),
    ])
    func theRestIsPorted(before: String, after: String) throws { try check(before, becomes: after) }

    @Test(arguments: [
        "import UIKit\nlet a = UIColor.red\n", "import UIKit\nclass A: UIView {}\nextension A { func f() {} }\n",
        "import UIKit\nlet n = 1\nprint(UIColor.red)\n",
    ])
    func whereNothingIsLeftTheSourceIsLeftOut(text: String) throws { #expect(try port(text).isLeftOut) }

    @Test func aLonePreviewIsLeftOutWithANote() throws {
        let ported = try port("import CoreData\nstruct A {}\n#Preview { Items() }\n")
        #expect(
            ported.remarks.map(\.rendered) == [
                "Book.swift:3:1: note: left out: '#Preview' needs SwiftUI, which does not exist here\n"
                    + "    #Preview { Items() }\n    ^"
            ])
        // Nobody has to do anything about it.
        #expect(ported.isSettled && ported.placesToSeeTo == 0)
        #expect(!ported.compiled.contains("Preview"))
    }

    @Test(arguments: ["", "import SwiftUI\n", "import CoreData\nimport SwiftUI\n"])
    func aSourceOfPreviewsAloneIsLeftOut(imports: String) throws {
        let ported = try port(imports + "#Preview { Items() }\n#Preview(\"Two\") { Items() }\n")
        #expect(ported.isLeftOut && ported.neededFrameworks == ["SwiftUI"])
        #expect(ported.remarks.map(\.message) == ["left out: '#Preview' needs SwiftUI, which does not exist here"])
    }

    @Test(arguments: ["struct A { let text = \"#Preview\" }\n", "// #Preview { A() }\nstruct A {}\n"])
    func whatOnlyMentionsPreviewsStays(text: String) throws { try check(text, becomes: text) }

    /// Whether the type's own source is left out as a whole or in part.
    @Test(arguments: ["", "struct Rest {}\n"])
    func extensionsInOtherSourcesGoWithTheirType(rest: String) {
        let ported = Porter.port([
            PortSource(path: "A.swift", text: "import UIKit\nclass Login: UIView {}\n" + rest),
            PortSource(path: "B.swift", text: "import CoreData\nextension Login { func f() {} }\nstruct Kept {}\n"),
        ])
        #expect(ported[0].isLeftOut == rest.isEmpty)
        #expect(!ported[1].isLeftOut)
        #expect(
            ported[1].written
                == "import CoreData\n#if canImport(UIKit)\nextension Login { func f() {} }\n#endif\nstruct Kept {}\n")
        #expect(ported[1].remarks.map(\.message) == ["left out: it uses 'Login', which is left out"])
        let declared = Porter.port(
            [
                PortSource(path: "A.swift", text: "import UIKit\nclass Login: UIView {}\n"),
                PortSource(path: "B.swift", text: "extension Login { func f() {} }\n"),
            ], beside: [PortSource(path: "Own.swift", text: "class Login {}\n")])
        #expect(declared.map(\.isLeftOut) == [true, false] && !declared[1].isChanged)
    }

    @Test func modulesOfOthersAreNamed() throws {
        let ported = try port(
            """
            import Alamofire
            import CoreData
            import UIKit
            @testable import Library
            #if DEBUG
            import Probe
            #endif
            """)
        #expect(ported.otherModules.map { "\($0.location.line) \($0.name)" } == ["1 Alamofire", "4 Library"])
        #expect(ported.isSettled, "\(ported.remarks)")
    }
}
