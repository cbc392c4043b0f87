import Foundation
import Testing

/// `NSManagedObjectContext` keeps its variables in parts: see "The parts of a context" in docs/architecture.md.
@Suite struct ContextPartsTests {
    private static let file = "Sources/CoreData/Context/NSManagedObjectContext.swift"

    /// The number of variables that the class itself may have. It may only become smaller: put a new variable into the part that it
    /// belongs to.
    private static let limit = 23

    /// Parts that are objects of their own; the page gives the reason for each. All others are structs, stored inline.
    private static let classes: Set<String> = ["ChildContexts"]

    /// The stored variables that the body of a class declares, in their order.
    ///
    /// Members of the class are indented by four spaces, as the formatter has them.
    static func storedVariables(of type: String, in text: SourceText) -> [String] {
        let others: Set<Substring> = ["func", "init", "deinit", "subscript", "static", "class", "case"]
        guard let start = text.lines.firstIndex(where: { $0.contains("class \(type):") }) else { return [] }
        let body = text.lines[(start + 1)...].prefix { !$0.hasPrefix("}") }
        var names: [String] = []
        for index in body.indices {
            let line = body[index]
            guard line.hasPrefix("    "), !line.hasPrefix("     ") else { continue }
            let words = line.split { !($0.isLetter || $0.isNumber || $0 == "_") }
            guard let position = words.firstIndex(where: { $0 == "var" || $0 == "let" }), position + 1 < words.count,
                words[..<position].allSatisfy({ !others.contains($0) })
            else { continue }
            if let brace = line.firstIndex(of: "{"), !line[..<brace].contains("=") {
                // A getter follows, or an observer of a stored variable.
                let next = body[index...].dropFirst().first?.drop { $0 == " " } ?? ""
                guard next.hasPrefix("didSet") || next.hasPrefix("willSet") else { continue }
            }
            names.append(String(words[position + 1]))
        }
        return names
    }

    /// The variables and the types of the parts that the page names, in the first column of the section's table.
    static func parts(in page: String) -> [(variable: String, type: String)] {
        guard let start = page.range(of: "\n## The parts of a context\n") else { return [] }
        let rest = page[start.upperBound...]
        let section = rest[..<(rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex)]
        return section.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("| `") else { return nil }
            let cells = line.split(separator: "|")
            let words = cells[0].split(separator: "`", omittingEmptySubsequences: false)
            return words.count == 5 ? (String(words[1]), String(words[3])) : nil
        }
    }

    private static func variables() throws -> [String] {
        let text = try #require(try Repository.sources(of: "CoreData").first { $0.path == file }).text
        return storedVariables(of: "NSManagedObjectContext", in: text)
    }

    @Test func theClassHasFewVariablesOfItsOwn() throws {
        let names = try Self.variables()
        let list = names.joined(separator: ", ")
        #expect(names.count <= Self.limit, "put the new variable into one of the parts of a context: \(list)")
        #expect(names.count >= Self.limit, "there are fewer variables than the limit: lower it. \(list)")
    }

    @Test func everyPartIsATypeInAFileOfItsOwnWithItsInvariants() throws {
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        let parts = Self.parts(in: page)
        #expect(parts.count > 8, "docs/architecture.md, The parts of a context")
        let names = Set(try Self.variables())
        for (variable, type) in parts {
            #expect(names.contains(variable), "the page names '\(variable)', which the context does not have")
            let path = "Sources/CoreData/Context/\(type).swift"
            let text = try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
            let lines = text.split(separator: "\n").drop { !$0.hasPrefix("///") }
            let comment = lines.prefix { $0.hasPrefix("///") }
            #expect(comment.contains { $0.contains("Invariants:") }, "\(path): the first comment has no invariants")
            let declaration = lines.dropFirst(comment.count).first ?? ""
            let keyword = Self.classes.contains(type) ? "final class" : "struct"
            #expect(declaration.hasPrefix("\(keyword) \(type)"), "\(path): the first comment belongs to the part")
        }
    }

    @Test func storedVariablesAreTold() {
        let text = SourceText(
            """
            import Foundation
            open class A: B {
                public let a: Int
                @exclusivity(unchecked) private(set) final var b = C()
                var c: Int {
                    didSet { d = c }
                }
                var d: Int { 1 }
                open var e: Int {
                    get { d }
                }
                final let f = { 1 }()
                static let g = 1
                class var h: Int { 1 }
                final func i() { let j = 1 }
                // var k = 1
                func l() {
                    let m = 1
                }
            }
            let n = 1
            """)
        #expect(Self.storedVariables(of: "A", in: text) == ["a", "b", "c", "f"])
        #expect(Self.storedVariables(of: "Other", in: text) == [])
    }

    @Test func partsAreReadFromTheirSection() {
        let page =
            "# A\n\n## The parts of a context\n\n| Part | Holds |\n| --- | --- |\n"
            + "| `a` (`A`) | the `b`s |\n\n## C\n\n| `d` (`D`) | e |\n"
        #expect(Self.parts(in: page).map(\.variable) == ["a"])
        #expect(Self.parts(in: page).map(\.type) == ["A"])
    }
}
