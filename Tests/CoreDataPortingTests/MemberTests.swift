import CoreDataPorting
import SwiftParser
import Testing

/// What key-value coding and validation find of a class by name, in what the plug-in compiles.
@Suite struct MemberTests {
    private func compiled(_ text: String) throws -> String {
        let compiled = try port(text, path: "/a.swift").compiled
        #expect(!Parser.parse(source: compiled).hasError, "\(compiled)")
        return compiled
    }

    private func keys(_ text: String) throws -> [String] {
        try compiled(text).split(separator: "\n").filter { $0.contains("members.add") }
            .compactMap { $0.split(separator: "\"").dropFirst().first.map(String.init) }
    }

    @Test("G1: methods validate<Key>(_:) are listed, private ones too")
    func validators() throws {
        let text = try compiled(
            """
            import CoreData
            class Person: NSManagedObject {
                @objc private func validateAge(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {}
            }
            """)
        #expect(text.contains("members.addValidator(ofKey: \"Age\", Person._member_Person_validateAge)"))
        #expect(text.contains("try object.validateAge(value)"))
        #expect(text.contains("override class var managedClass: NSManagedObject.Type { Person.self }"))
    }

    @Test func propertiesThatObjectiveCSeesAreListedByTheirNamesThere() throws {
        #expect(
            try keys(
                """
                class Base: NSManagedObject { @NSManaged @objc var stored: Int; @objc var full: String { "" }; var swift = 1 }
                @objcMembers class Kid: Base { var seen = 1; @nonobjc var unseen = 1; func title() -> String { "" } }
                extension Kid { var more: Int { 1 } }
                @objc extension Base { var extended: Int { 1 } }
                extension Base { @objc(isActive) var active: Bool { true }; var no: Int { 1 }; @objc func act() {} }
                class Plain: NSObject { @objc var none = 1 }
                """) == ["full", "extended", "isActive", "seen", "title", "more"])
    }

    @Test func listsOfOneClassInTwoFilesHaveTwoNames() throws {
        let ported = Porter.port([
            PortSource(path: "/a.swift", text: "class A: NSManagedObject { @objc var x: Int { 1 } }"),
            PortSource(path: "/b.swift", text: "extension A { @objc var y: Int { 1 } }"),
        ])
        let outers = ported.map { source in
            source.compiled.split(separator: "\n").first { $0.hasPrefix("enum _Members") }
        }
        #expect(outers[0] != nil && outers[1] != nil && outers[0] != outers[1])
    }

    @Test func conditionsAreRepeated() throws {
        let text = try compiled(
            "class A: NSManagedObject {\n#if DEBUG\n@objc var x: Int { 1 }\n#else\n@objc var x: Int { 2 }\n#endif\n}")
        #expect(text.contains("#if (DEBUG)\n        members.addProperty(\"x\""))
        #expect(text.contains("#if (!(DEBUG))\n        members.addProperty(\"x\""))
    }
}
