import Testing

/// What a source can do beside reading and saving is a protocol: a caller that casts to a type would miss every other source.
@Suite struct SourceCastTests {
    /// The types of sources, each with the room that may know it by its type.
    private static let rooms = [
        "StoreEngine": "Sources/CoreDataStore/Engine/", "MemoryEngine": "Sources/CoreDataStore/Memory/",
        "AtomicStore": "Sources/CoreDataStore/Atomic/", "IncrementalSource": "Sources/CoreData/Stores/Custom/",
        "ParentSource": "Sources/CoreData/Context/ParentSource.swift",
        "GenerationSource": "Sources/CoreData/Context/GenerationSource.swift",
    ]

    @Test(arguments: ["CoreDataStore", "CoreData"])
    func sourcesAreAskedForProtocols(target: String) throws {
        for (path, text) in try Repository.sources(of: target) {
            for (name, line) in text.casts(to: rooms(outside: path)) {
                Issue.record("\(path):\(line): ask for what the source can do, not for a \(name)")
            }
        }
    }

    /// The types that a file may not name in a cast.
    private func rooms(outside path: String) -> [String] {
        Self.rooms.filter { !path.hasPrefix($0.value) }.keys.sorted()
    }

    /// So that the test above has something to find.
    @Test func everyRoomDeclaresItsType() throws {
        let sources = try ["CoreDataStore", "CoreData"].flatMap { try Repository.sources(of: $0) }
        for (name, room) in Self.rooms {
            let isThere = sources.contains { path, text in
                path.hasPrefix(room) && text.lines(containing: ["class \(name)"]).isEmpty == false
            }
            #expect(isThere, "\(room) has no \(name)")
        }
    }

    @Test(arguments: [
        ("let a = b as? StoreEngine", ["StoreEngine"]), ("if a is MemoryEngine {", ["MemoryEngine"]),
        ("case let a as StoreEngine: 1", ["StoreEngine"]), ("(a as! MemoryEngine).b", ["MemoryEngine"]),
        ("let a: StoreEngine = b", []), ("StoreEngine.open(a)", []), ("a as? any CopyableSource", []),
        ("a as? NSAtomicStore", []), ("// as? StoreEngine", []), ("this StoreEngine", []),
    ])
    func castsAreFound(source: String, names: [String]) {
        let found = SourceText(source).casts(to: ["StoreEngine", "MemoryEngine", "AtomicStore"]).map(\.name)
        #expect(found == names)
    }
}

extension SourceText {
    /// Where something is cast to one of the types, with the line of each.
    fileprivate func casts(to names: [String]) -> [(name: String, line: Int)] {
        lines(containing: names).flatMap { index in
            lines[index].matches(of: /\b(?:as[?!]?|is)\s+(\w+)/.wordBoundaryKind(.simple))
                .map { (String($0.1), index + 1) }
                .filter { names.contains($0.0) }
        }
    }
}
