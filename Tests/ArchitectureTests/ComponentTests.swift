import Foundation
import Testing

/// Files that all depend on each other have to be understood, compiled and changed together: their number may only shrink.
@Suite struct ComponentTests {
    /// The most files, and the most lines, that a component of a module may have. Lower the numbers when a change makes them smaller.
    struct Limit: CustomTestStringConvertible {
        var module: String
        var kind: FileGraph.Kind
        var files: Int
        var lines: Int

        var testDescription: String { "\(module), \(kind.rawValue)" }
    }

    static let limits = [
        Limit(module: "CoreDataStore", kind: .topLevel, files: 6, lines: 1130),
        Limit(module: "CoreDataStore", kind: .members, files: 10, lines: 1899),
        Limit(module: "CoreData", kind: .topLevel, files: 63, lines: 7907),
        Limit(module: "CoreData", kind: .members, files: 252, lines: 33298),
    ]

    @Test(arguments: limits)
    func largestComponentOnlyShrinks(limit: Limit) throws {
        let graph = try FileGraph(of: limit.module, limit.kind)
        #expect(graph.files.count > 100)
        for component in graph.components {
            let lines = graph.lines(of: component)
            guard component.count > limit.files || lines > limit.lines else { continue }
            let paths = component.map { graph.files[$0].path }
            Issue.record(
                """
                \(component.count) files of \(limit.module) with \(lines) lines depend on each other (\(limit.kind.rawValue)); \
                at most \(limit.files) with \(limit.lines) are recorded. Move what two files share into a third one below both, or \
                hand over a parameter, a protocol or a closure.
                \(paths.joined(separator: "\n"))
                Between rooms:
                \(graph.roomEdges(in: component).joined(separator: "\n"))
                """)
        }
    }

    // MARK: The order of rooms

    /// The lines of rooms that docs/architecture.md draws of a module, the highest first.
    static func order(of module: String, in page: String) -> [[String]] {
        guard let start = page.range(of: "\nThe order of the rooms of `\(module)`"),
            let open = page.range(of: "\n```\n", range: start.upperBound..<page.endIndex),
            let close = page.range(of: "\n```", range: open.upperBound..<page.endIndex)
        else { return [] }
        return page[open.upperBound..<close.lowerBound].split(separator: "\n").map { line in
            line.split(separator: " ").map(String.init)
        }
    }

    @Test(arguments: ["CoreDataStore"])
    func roomsNameOnlyRoomsBelow(module: String) throws {
        let page = try String(
            contentsOf: Repository.root.appendingPathComponent("docs/architecture.md"), encoding: .utf8)
        var line: [String: Int] = [:]
        for (index, rooms) in Self.order(of: module, in: page).enumerated() {
            for room in rooms { line[room] = index }
        }
        let graph = try FileGraph(of: module, .members)
        #expect(Set(line.keys) == Set(graph.files.map(\.room)))
        for (file, edges) in zip(graph.files, graph.edges) {
            for (index, name) in edges {
                let other = graph.files[index]
                guard other.room != file.room, line[other.room, default: 0] <= line[file.room, default: 0] else {
                    continue
                }
                Issue.record("\(file.path) names \(name) of \(other.path), whose room is not below \(file.room)")
            }
        }
    }

    /// Rooms of `CoreData` that stand above others, each with the rooms that may still name something of its top level.
    private static let upperRooms: [String: Set<String>] = [
        // A context keeps its followers and what counts its faults.
        "FetchedResults": ["Context"], "Tools": ["Context"],
        // The coordinator hands the migration to the stores that it opens; tools ask what a migration would do.
        "Migration": ["Coordinator", "Tools"], "Searching": [],
    ]

    @Test(arguments: upperRooms.keys.sorted())
    func upperRoomsAreNamedByFew(room: String) throws {
        let graph = try FileGraph(of: "CoreData", .topLevel)
        #expect(graph.files.contains { $0.room == room })
        for (file, edges) in zip(graph.files, graph.edges)
        where file.room != room && Self.upperRooms[room]?.contains(file.room) == false {
            for (index, name) in edges where graph.files[index].room == room {
                Issue.record("\(file.path) names \(name) of \(graph.files[index].path), of a room above it")
            }
        }
    }

    @Test func theOrderIsReadFromThePage() {
        let page = "## Rooms\n\nThe order of the rooms of `T`: text.\n\n```\nC\nA    B\n```\n\n```\nD\n```\n"
        #expect(Self.order(of: "T", in: page) == [["C"], ["A", "B"]])
        #expect(Self.order(of: "U", in: page) == [])
    }

    // MARK: What the graph is made of

    /// By source, what it declares at its top level and in extensions.
    @Test(
        arguments: [
            ("package struct A {\n    var b = 1\n}\nprivate enum C {}\nfunc d() {}", ["A", "d"], []),
            (
                "extension A {\n    func b(c d: Int) {}\n    private var e: Int { 1 }\n    static let f = 1\n}", [],
                ["b", "f"]
            ),
            ("private extension A {\n    func b() {}\n}\nlet c = 0xFF", ["c"], []),
            (
                "extension A {\n    package private(set) static var b = 1\n    struct C { var d = 1 }\n}", [],
                ["b", "C"]
            ),
            (
                "final class A {\n    func b() {\n        let c = 1\n    }\n}\nextension A: B {\n    var e: Int { 1 }\n}",
                ["A"], ["e"]
            ),
            ("// struct A {}\nlet a = \"struct B {}\"", ["a"], []),
        ] as [(String, Set<String>, Set<String>)])
    func declarationsAreFound(source: String, topLevel: Set<String>, members: Set<String>) {
        let names = FileNames(SourceText(source))
        #expect(names.topLevel == topLevel)
        #expect(names.members == members)
    }

    @Test func labelsAreNoMembers() {
        let names = FileNames(SourceText("func f(first second: Int) { third(fourth: fifth) ? sixth else seventh }"))
        #expect(names.mentioned.isDisjoint(with: ["first", "fourth", "second"]))
        #expect(names.mentioned.isSuperset(of: ["third", "fifth", "sixth", "seventh"]))
        #expect(FileNames(SourceText("a.B + C.d")).named == ["a", "C"])
    }

    private static func graph(_ sources: [String: String], _ kind: FileGraph.Kind) -> FileGraph {
        FileGraph(sources.sorted { $0.key < $1.key }.map { ($0.key, SourceText($0.value)) }, kind)
    }

    @Test func filesDependOnWhatTheyName() {
        let sources = [
            "One/A.swift": "struct A {\n    let b: B\n}", "Two/B.swift": "struct B {\n    let c: C.D\n}",
            "Two/C.swift": "enum C {\n    typealias D = A\n}", "Two/E.swift": "let e = A(b: lowercased)",
            "Two/F.swift": "extension B {\n    var isRemarkable: Bool { true }\n}",
            "Two/G.swift": "struct G {\n    let isSuperb = b.isRemarkable\n}",
        ]
        let graph = Self.graph(sources, .topLevel)
        #expect(graph.files.map(\.room) == ["One", "Two", "Two", "Two", "Two", "Two"])
        #expect(graph.edges == [[1: "B"], [2: "C"], [0: "A"], [0: "A"], [1: "B"], [:]])
        #expect(graph.components.first == [0, 1, 2])
        #expect(graph.components.count == 4)
        #expect(
            graph.roomEdges(in: [0, 1, 2]) == [
                "One → Two: One/A.swift names B of Two/B.swift", "Two → One: Two/C.swift names A of One/A.swift",
            ])
        #expect(Self.graph(sources, .members).edges.last == [4: "isRemarkable"])
    }

    /// Components of more than one file, by what each file names.
    @Test(
        arguments: [
            ([[1], [0], [0]], [[0, 1]]), ([[1], [2], []], []), ([[1], [2], [3], [1]], [[1, 2, 3]]),
            ([[1], [0], [3], [2], [0, 2]], [[0, 1], [2, 3]]), ([[1, 2], [2], [0]], [[0, 1, 2]]),
        ] as [([[Int]], [[Int]])])
    func componentsAreFound(uses: [[Int]], components: [[Int]]) {
        let sources = uses.enumerated().map { index, uses in
            (
                "F\(index).swift",
                SourceText("struct T\(index) {}\nlet v\(index) = [\(uses.map { "T\($0)" }.joined(separator: ", "))]")
            )
        }
        let graph = FileGraph(sources, .topLevel)
        #expect(graph.components.filter { $0.count > 1 } == components)
    }
}
