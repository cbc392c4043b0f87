import Testing

/// The checks of the layering test see what they should, so that it can fail.
@Suite struct SourceTextTests {
    @Test(arguments: [
        ("import Foundation", ["Foundation"]),
        ("@testable import CoreData", ["CoreData"]),
        ("@preconcurrency package import struct Foundation.Data", ["Foundation"]),
        ("import A; import B", ["A", "B"]),
        ("// import Foundation", []),
        ("/* a /* nested */\nimport No */ import Yes", ["Yes"]),
        ("let a = \"import No\"", []),
        ("let a = \"\"\"\nimport No\n\"\"\"\nimport Yes", ["Yes"]),
        ("let a = #\"\"\"\nimport \"No\"\\\"\"\"\n\"\"\"#\nimport Yes", ["Yes"]),
        ("let a = \"\\\"\"\nimport Yes", ["Yes"]),
    ])
    func importsAreFoundInCodeOnly(source: String, modules: [String]) {
        #expect(SourceText(source).imports.map(\.module) == modules)
    }

    @Test(arguments: [
        ("public struct A {}", [1]),
        ("\nopen class A {}", [2]),
        ("public(set) var a = 1", [1]),
        ("@frozen public enum A {}", [1]),
        ("public @Sendable func a() {}", [1]),
        ("extension A { public init() {} }", [1]),
        ("package struct A { func open() {}; var isOpen = open }", []),
        ("a.open(b)", []),
        ("// public struct A", []),
        ("/// the public class", []),
    ])
    func publicDeclarationsAreFoundInCodeOnly(source: String, lines: [Int]) {
        #expect(SourceText(source).publicDeclarations == lines)
    }

    @Test func identifiersAreFoundByTheirBeginning() {
        let source = SourceText("let a: NSManagedObjectID\n// NSManagedObject\nlet b = \"NSManagedObject\"")
        #expect(source.lines(mentioning: ["NSManaged"]) == [1])
    }

    @Test func literalsAreFoundWithTheirLines() {
        let source = SourceText(
            "// \"no\"\nlet a = \"one\"; /*\n\"no\" */ let b = \"\"\"\n  two\n\"\"\"\nlet c = #\"three\"#")
        #expect(source.literals.map(\.text) == ["\"one\"", "\"\"\"\n  two\n\"\"\"", "#\"three\"#"])
        #expect(source.literals.map(\.line) == [2, 3, 6])
    }
}
