/// Which objects came together: by one fetch, or as the members of one relationship. Only their keys are kept, of the
/// lists that came last.
struct SiblingLists {
    private final class List {
        let store: Int32
        let root: Int
        let keys: [Int64]
        /// The relationship whose members these are, if only their keys were read; -1 otherwise.
        let relationship: Int
        /// Made at the first use.
        private(set) lazy var positions = Dictionary(
            zip(keys, keys.indices), uniquingKeysWith: { first, _ in first })

        init(store: Int32, root: Int, keys: [Int64], relationship: Int) {
            (self.store, self.root, self.keys, self.relationship) = (store, root, keys, relationship)
        }
    }

    /// The to-one through which an unregistered object was reached last.
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
    /// The relationship of the list that was found last, if it has members of which only the keys were read; -1
    /// otherwise.
    private(set) var foundMembersOf = -1
    private static let listLimit = 8
    private static let keyLimit = 16_384
    /// So many are read at once.
    static let portion = 100

    var isEmpty: Bool { lists.isEmpty }

    mutating func removeAll() { self = SiblingLists() }

    /// Adds the members of a relationship of which only the keys were read.
    mutating func add(_ objects: [NSManagedObject], membersOf relationship: Int) {
        // A list of one object says that its row was needed.
        add(objects, atLeast: 1, relationship)
    }

    mutating func add(_ objects: [NSManagedObject]) { add(objects, atLeast: 2, -1) }

    private mutating func add(_ objects: [NSManagedObject], atLeast least: Int, _ relationship: Int) {
        guard objects.count >= least, let home = objects.first?.home else { return }
        let keys = objects.prefix(Self.keyLimit).compactMap { object in
            object.home.root == home.root && object.storeIndex == home.storeIndex && object.isStored
                ? object.primaryKey : nil
        }
        guard keys.count >= least else { return }
        if lists.count == Self.listLimit { lists.removeFirst() }
        lists.append(List(store: home.storeIndex, root: home.root, keys: keys, relationship: relationship))
    }

    /// Returns the hundred keys around this one, in the newest list that contains it: in whatever order the keys are
    /// requested, each is read once. The list then counts as the newest, so that a caller that iterates over it does
    /// not lose it to the lists of its related objects.
    mutating func keys(beside key: Int64, root: Int, store: Int32) -> ArraySlice<Int64> {
        foundMembersOf = -1
        for (index, list) in lists.enumerated().reversed() where list.root == root && list.store == store {
            guard let position = list.positions[key] else { continue }
            if index < lists.count - 1 { lists.append(lists.remove(at: index)) }
            foundMembersOf = list.relationship
            let start = position / Self.portion * Self.portion
            return list.keys[start..<min(start + Self.portion, list.keys.count)]
        }
        return []
    }
}
