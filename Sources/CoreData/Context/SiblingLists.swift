/// Which objects came together: by one fetch, or as the members of one relationship. Only their keys are kept, of the lists that came
/// last.
struct SiblingLists {
    private final class List {
        let store: Int32
        let root: Int
        let keys: [Int64]
        /// Made when somebody first asks.
        private(set) lazy var positions = Dictionary(
            zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })

        init(store: Int32, root: Int, keys: [Int64]) { (self.store, self.root, self.keys) = (store, root, keys) }
    }

    /// How an object was reached last that nobody had registered before: by a to-one of another.
    struct Trail {
        var store: Int32
        var root: Int
        var owner: Int64
        var slot: Int
        var destinationRoot: Int
        var destination: Int64
    }

    private var lists: [List] = []
    var trail: Trail?
    private static let listLimit = 8
    private static let keyLimit = 16_384
    /// So many are read at once.
    static let portion = 100

    var isEmpty: Bool { lists.isEmpty }

    mutating func removeAll() { self = SiblingLists() }

    mutating func add(_ objects: [NSManagedObject]) {
        guard objects.count > 1, let home = objects.first?.home else { return }
        let keys = objects.prefix(Self.keyLimit).compactMap { object in
            object.home.root == home.root && object.storeIndex == home.storeIndex && object.isStored
                ? object.primaryKey : nil
        }
        guard keys.count > 1 else { return }
        if lists.count == Self.listLimit { lists.removeFirst() }
        lists.append(List(store: home.storeIndex, root: home.root, keys: keys))
    }

    /// The hundred of keys that has this one in it, in the newest list that does: whatever the order in which all are asked for, each is
    /// read once. The list counts as the newest from then on: whoever goes through it does not lose it to the lists that he comes by.
    mutating func keys(beside key: Int64, root: Int, store: Int32) -> ArraySlice<Int64> {
        for (index, list) in lists.enumerated().reversed() where list.root == root && list.store == store {
            guard let position = list.positions[key] else { continue }
            if index < lists.count - 1 { lists.append(lists.remove(at: index)) }
            let start = position / Self.portion * Self.portion
            return list.keys[start..<min(start + Self.portion, list.keys.count)]
        }
        return []
    }
}
