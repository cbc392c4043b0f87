/// The files of one module, and which of them depends on which: A depends on B when A's code names what B declares.
///
/// This is an approximation, since no compiler reads the code:
///
/// - A name of a top level counts when one file of the module declares it. A function or variable counts only when nothing else
///   in the module has the same name.
/// - With ``Kind/members``, a member of an extension counts when its name is declared once in the module and is long enough to be
///   unambiguous (``shortestMember``). Members in the braces of a type do not count: code that uses them mostly names the type, too.
/// - A member of another module's type with the name of such a member counts by mistake.
/// - Code in the interpolations of string literals is not read, nor are initializers, subscripts and operators.
struct FileGraph {
    /// What counts as a dependency.
    enum Kind: String, CaseIterable {
        /// Types, free functions and variables.
        case topLevel = "top-level names"
        /// Also the members of extensions.
        case members = "top-level names and members of extensions"
    }

    struct File: Sendable {
        /// The path in the module's folder.
        var path: String
        var lines: Int
        /// The folder in the module's folder; empty for a file beside the folders.
        var room: String { path.split(separator: "/").dropLast().first.map(String.init) ?? "" }
    }

    let files: [File]
    /// By file, the files on which it depends, each with one of the names.
    let edges: [[Int: String]]

    static let shortestMember = 8

    /// The modules that have a graph.
    static let modules = ["CoreData", "CoreDataStore"]

    /// A file with its names, which several tests need.
    private struct NamedFile: Sendable {
        var file: File
        var names: FileNames

        init(_ path: String, _ text: SourceText) {
            file = File(path: path, lines: text.lines.count)
            names = FileNames(text)
        }
    }

    /// Read once.
    private static let named = Result {
        try Dictionary(
            uniqueKeysWithValues: modules.map { module in
                let prefix = "Sources/\(module)/"
                return (
                    module,
                    try Repository.sources(of: module).map {
                        NamedFile(String($0.path.dropFirst(prefix.count)), $0.text)
                    }
                )
            })
    }

    init(of module: String, _ kind: Kind) throws {
        guard let files = try Self.named.get()[module] else {
            throw Repository.NothingThere(description: "\(module) has no graph")
        }
        self.init(files, kind)
    }

    init(_ sources: [(path: String, text: SourceText)], _ kind: Kind) {
        self.init(sources.map { NamedFile($0.path, $0.text) }, kind)
    }

    private init(_ sources: [NamedFile], _ kind: Kind) {
        files = sources.map(\.file)
        let names = sources.map(\.names)
        let declared = Self.places(names.map(\.declared))
        var topLevel: [String: Int] = [:]
        for (name, places) in Self.places(names.map(\.topLevel))
        where places.count == 1 && (name.first?.isUppercase == true || declared[name]?.count == 1) {
            topLevel[name] = places[0]
        }
        var members: [String: Int] = [:]
        if kind == .members {
            for (name, places) in Self.places(names.map(\.members))
            where name.utf8.count >= Self.shortestMember && declared[name]?.count == 1 && topLevel[name] == nil {
                members[name] = places[0]
            }
        }
        edges = names.enumerated().map { index, names in
            var edges: [Int: String] = [:]
            func add(_ words: Set<String>, _ homes: [String: Int]) {
                for word in words {
                    guard let home = homes[word], home != index else { continue }
                    edges[home] = min(edges[home] ?? word, word)
                }
            }
            add(names.named, topLevel)
            add(names.mentioned, members)
            return edges
        }
    }

    /// The files that have each name.
    private static func places(_ names: [Set<String>]) -> [String: [Int]] {
        var places: [String: [Int]] = [:]
        for (index, names) in names.enumerated() {
            for name in names { places[name, default: []].append(index) }
        }
        return places
    }

    // MARK: Components

    /// The strongly connected components: files that all depend on each other, over others or directly. The largest comes first.
    var components: [[Int]] {
        var search = ComponentSearch(edges: edges.map { $0.keys.sorted() })
        for file in files.indices where search.order[file] == nil { search.visit(file) }
        return search.components.sorted { ($0.count, $1[0]) > ($1.count, $0[0]) }
    }

    func lines(of component: [Int]) -> Int { component.reduce(0) { $0 + files[$1].lines } }

    /// The edges between files of different rooms, one for each pair of rooms.
    func roomEdges(in component: [Int]) -> [String] {
        let members = Set(component)
        var edges: [String: String] = [:]
        for file in component.sorted() {
            for (other, name) in self.edges[file].sorted(by: { $0.key < $1.key }) where members.contains(other) {
                let rooms = (files[file].room, files[other].room)
                guard rooms.0 != rooms.1 else { continue }
                let pair = "\(rooms.0) → \(rooms.1)"
                edges[pair] = edges[pair] ?? "\(pair): \(files[file].path) names \(name) of \(files[other].path)"
            }
        }
        return edges.values.sorted()
    }
}

/// Tarjan's search for strongly connected components.
private struct ComponentSearch {
    let edges: [[Int]]
    var components: [[Int]] = []
    /// When each file was reached.
    var order: [Int?]
    /// The earliest file on the path that can be reached from each file.
    private var lowest: [Int]
    private var path: [Int] = []
    private var isOnPath: [Bool]
    private var count = 0

    init(edges: [[Int]]) {
        self.edges = edges
        order = Array(repeating: nil, count: edges.count)
        lowest = Array(repeating: 0, count: edges.count)
        isOnPath = Array(repeating: false, count: edges.count)
    }

    mutating func visit(_ file: Int) {
        let reached = count
        count += 1
        order[file] = reached
        lowest[file] = reached
        path.append(file)
        isOnPath[file] = true
        for other in edges[file] {
            if order[other] == nil {
                visit(other)
                lowest[file] = min(lowest[file], lowest[other])
            } else if isOnPath[other] {
                lowest[file] = min(lowest[file], order[other] ?? 0)
            }
        }
        guard lowest[file] == reached, let start = path.lastIndex(of: file) else { return }
        let component = Array(path[start...])
        path.removeSubrange(start...)
        for member in component { isOnPath[member] = false }
        components.append(component.sorted())
    }
}
