import CoreDataManagedProperties
import CoreDataPrimitives
import Testing

/// What key-value coding and validation find of a class by name.
@Suite struct MemberTests {
    private func companion(_ text: String, dependencies: [ModuleSources] = []) -> Companion {
        Companion(
            target: ModuleSources(name: "App", files: [.init(path: "/App/Note.swift", text: text)]),
            dependencies: dependencies)
    }

    private func keys(_ text: String, dependencies: [ModuleSources] = []) -> [String] {
        companion(text, dependencies: dependencies).text.split(separator: "\n").filter { $0.contains("members.add") }
            .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
    }

    @Test("G1: a method validate<Key>(_:) is listed, in the class and in an extension")
    func validatorsAreListed() {
        let text = companion(
            """
            import CoreData
            class Person: NSManagedObject {
                func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
            }
            extension Person {
                func validateName(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
            }
            """
        ).text
        #expect(
            text.contains(
                """
                    static func _member_Person_validateAge(_ object: App.Person, _ value: \
                AutoreleasingUnsafeMutablePointer<AnyObject?>) throws { try object.validateAge(value) }
                """))
        #expect(text.contains("members.addValidator(ofKey: \"Age\", App.Person._member_Person_validateAge)"))
        #expect(text.contains("members.addValidator(ofKey: \"Name\", App.Person._member_Person_validateName)"))
        #expect(text.contains("final class _PersonMembers: ManagedMembers {"))
    }

    @Test func ownPropertiesAreListedWithTheirSetters() {
        let text = companion(
            """
            class Person: NSManagedObject {
                @NSManaged var age: Int16
                var isAdult: Bool { age >= 18 }
                var nickname: String?
                var both: Int { get { 1 } set {} }
                let constant = 1
                private(set) var count = 0
                lazy var late: [String: Int] = [:]
            }
            """
        ).text
        #expect(text.contains("members.addProperty(\"isAdult\", get: App.Person._member_Person_isAdult)"))
        for key in ["nickname", "both", "late"] {
            #expect(
                text.contains(
                    "addProperty(\"\(key)\", get: App.Person._member_Person_\(key), set: App.Person._member_Person_\(key)_set)"
                ))
        }
        for key in ["constant", "count"] {
            #expect(text.contains("addProperty(\"\(key)\", get: App.Person._member_Person_\(key))"))
        }
        #expect(!text.contains("_member_Person_age"))
    }

    @Test(
        "members that plain code cannot read are left out",
        arguments: [
            "static var x: Int { 1 }", "class var x: Int { 1 }", "private var x: Int { 1 }",
            "@nonobjc var x: Int { 1 }",
            "var x: some Equatable { 1 }", "var x: (Int) -> Int { { $0 } }", "var x: Int { get async { 1 } }",
            "var x: Int { get throws { 1 } }", "@available(*, unavailable) var x: Int { 1 }",
            "@Worker var x: Int { 1 }",
            "var x: Int.Type { Int.self }", "func validateX() throws {}", "func validateX(_ value: Int) throws {}",
            "func validateX(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) {}",
            "func validated(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}",
        ])
    func leftOut(_ member: String) {
        #expect(keys("class Person: NSManagedObject { \(member) }") == [])
        #expect(companion("class Person: NSManagedObject { \(member) }").diagnostics.isEmpty)
    }

    @Test func onlyClassesOfManagedObjectsAreRead() {
        let shared = ModuleSources(
            name: "Shared",
            files: [
                .init(
                    path: "/s.swift",
                    text: "open class Root: CoreData.NSManagedObject {}\nopen class Other: NSObject {}")
            ])
        let text = """
            import Shared
            typealias Base = Shared.Root
            class Thing: Base { var full: Int { 1 }; class Part: NSObject { var no: Int { 1 } } }
            class Plain: Other { var no: Int { 1 } }
            struct Value { var no: Int { 1 } }
            protocol P { var no: Int { get } }
            extension Root { var more: Int { 1 } }
            enum Outer { class Inner: Thing { var inner: Int { 1 } } }
            """
        #expect(keys(text, dependencies: [shared]) == ["full", "more", "inner"])
        let companion = companion(text, dependencies: [shared]).text
        #expect(companion.contains("class _Outer_InnerMembers: ManagedMembers"))
        #expect(companion.contains("import Shared"))
    }

    @Test func isolationAndConditionsAreRepeated() {
        let text = companion(
            """
            class Person: NSManagedObject {
                @MainActor var shown: String { "" }
                #if DEBUG
                var debug: Int { 1 }
                #endif
            }
            @MainActor extension Person { var extended: Int { 1 } }
            """
        ).text
        #expect(text.contains("@MainActor static func _member_Person_shown"))
        #expect(text.contains("@MainActor static func _member_Person_extended"))
        #expect(text.contains("#if (DEBUG)\n        members.addProperty(\"debug\""))
    }

    @Test(
        "a validation method that cannot be called is told",
        arguments: [
            ("class P: NSManagedObject { private func F }", "it is private"),
            ("private class P: NSManagedObject { func F }", "'P' is private"),
            ("class P<T>: NSManagedObject { func F }", "'P' is generic"),
        ])
    func unreachableValidators(_ source: String, _ reason: String) throws {
        let function = "validateAge(_ v: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}"
        let companion = companion(source.replacing(" F ", with: " \(function) "))
        let diagnostic = try #require(companion.diagnostics.first)
        #expect(diagnostic.severity == .warning)
        #expect(diagnostic.message == "'validateAge' is not called when objects are validated: \(reason)")
        #expect(diagnostic.location?.line == 1)
    }
}
