import CoreDataSyncEngine

/// Which IDs name one object: two objects of different IDs with equal unique values became one, and devices may mean it
/// by either ID.
///
/// What a device knows of aliases is joined here, whether from its sidecar or from files: if `a` is `b`, and `b` is
/// `c`, all three are one. The state of the object is the join of the states of all its IDs, so each device may keep it
/// under the ID whose row it has.
struct AliasGroups {
    private var groups: [Set<GlobalID>] = []
    private var numbers: [GlobalID: Int] = [:]

    init() {}

    /// - Parameter twins: objects that become one now, each with the one that it becomes.
    init(_ entries: some Sequence<SidecarEntry>, _ parts: [IncomingPart], twins: [GlobalID: GlobalID]) {
        for entry in entries { for alias in entry.state.aliases { join(entry.id, alias) } }
        for part in parts { for state in part.states { for alias in state.aliases { join(state.id, alias) } } }
        for (id, keeper) in twins { join(id, keeper) }
    }

    mutating func join(_ a: GlobalID, _ b: GlobalID) {
        switch (numbers[a], numbers[b]) {
        case (nil, nil):
            (numbers[a], numbers[b]) = (groups.count, groups.count)
            groups.append([a, b])
        case (let number?, nil): add(b, to: number)
        case (nil, let number?): add(a, to: number)
        case (let first?, let second?):
            guard first != second else { return }
            for id in groups[second] { add(id, to: first) }
            groups[second] = []
        }
    }

    private mutating func add(_ id: GlobalID, to number: Int) {
        groups[number].insert(id)
        numbers[id] = number
    }

    /// All objects with several IDs.
    var all: [Set<GlobalID>] { groups.filter { !$0.isEmpty } }

    /// All IDs of an object.
    func members(of id: GlobalID) -> Set<GlobalID> { numbers[id].map { groups[$0] } ?? [id] }

    func hasAliases(_ id: GlobalID) -> Bool { numbers[id] != nil }

    /// The ID under which this device keeps the object: that of its row; of several rows the oldest, which stays.
    func representative(of id: GlobalID, _ entries: [GlobalID: SidecarEntry]) -> GlobalID {
        guard let number = numbers[id] else { return id }
        let rows = groups[number].filter { (entries[$0]?.key ?? 0) != 0 }
        return rows.min { Self.isOlder($0, $1, entries) } ?? groups[number].min() ?? id
    }

    static func isOlder(_ a: GlobalID, _ b: GlobalID, _ entries: [GlobalID: SidecarEntry]) -> Bool {
        guard let x = entries[a]?.state.born, let y = entries[b]?.state.born, x != y else { return a < b }
        return x < y
    }
}
