import CoreDataPrimitives

extension Compilation {
    /// Finds parents, breaks cycles, and numbers entities as Apple does.
    mutating func resolveInheritance() {
        parents = entities.map { entity in entity.parentName.flatMap { indexByName[$0] } }
        for entity in entities {
            guard let parent = entity.parentName, indexByName[parent] == nil else { continue }
            report(
                "entity '\(entity.name)' inherits from '\(parent)', which is not in the model", at: entity.location,
                hint: nearest(to: parent, among: indexByName.keys).map { "did you mean '\($0)'?" }, fatal: true)
        }
        breakCircles()
        numberEntities()
    }

    private mutating func breakCircles() {
        // A cycle is reported once, at its first entity in the document, and broken there.
        for index in entities.indices {
            var chain = [index]
            while let parent = parents[chain[chain.count - 1]] {
                if parent == index {
                    let names = (chain + [index]).map { entities[$0].name }.joined(separator: " → ")
                    report("entities inherit in a circle: \(names)", at: entities[index].location, fatal: true)
                    parents[index] = nil
                    break
                }
                if chain.contains(parent) { break }
                chain.append(parent)
            }
        }
    }

    private mutating func numberEntities() {
        var children: [Int?: [Int]] = Dictionary(grouping: entities.indices, by: { parents[$0] })
        for (parent, group) in children {
            children[parent] = group.sorted { a, b in
                entities[a].name == entities[b].name
                    ? a < b : NameOrder.ignoringCase(entities[a].name, entities[b].name)
            }
        }
        order = []
        var pending = Array((children[nil] ?? []).reversed())
        while let next = pending.popLast() {
            order.append(next)
            pending.append(contentsOf: (children[next] ?? []).reversed())
        }
        ordinals = Array(repeating: 0, count: entities.count)
        for (ordinal, index) in order.enumerated() { ordinals[index] = ordinal }
    }

    /// Returns the entity's ancestors, nearest first.
    package func ancestors(of index: Int) -> [Int] {
        var result: [Int] = []
        var current = parents[index]
        while let ancestor = current {
            result.append(ancestor)
            current = parents[ancestor]
        }
        return result
    }

    /// Returns the most similar name in `names`, if one is similar enough.
    package func nearest(to name: String, among names: some Sequence<String>) -> String? {
        let limit = max(1, name.count / 3)
        return names.map { ($0, Self.distance($0, name)) }
            .filter { $0.1 <= limit }
            .min { $0.1 == $1.1 ? NameOrder.byCodeUnits($0.0, $1.0) : $0.1 < $1.1 }?.0
    }

    /// Returns the edit distance of two names, ignoring case: the number of characters to insert, remove or replace.
    static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a.lowercased())
        let b = Array(b.lowercased())
        var row = Array(0...b.count)
        for (i, character) in a.enumerated() {
            var previous = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let replaced = previous + (character == other ? 0 : 1)
                previous = row[j + 1]
                row[j + 1] = min(replaced, previous + 1, row[j] + 1)
            }
        }
        return row[b.count]
    }
}
