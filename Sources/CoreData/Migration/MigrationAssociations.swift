import CoreDataPrimitives
import Foundation

/// What has become of what, by one mapping: of objects that are in their stores the keys only, 32 bytes a pair.
///
/// Pairs of new objects have the objects until their store has them; see ``settle()``.
struct MigrationAssociations {
    /// A row of either store, by the root of its hierarchy.
    struct Key: Hashable, Comparable {
        var root: Int32
        var entity: Int32
        var primaryKey: Int64

        init(_ object: NSManagedObject) {
            root = Int32(object.runtime.root)
            entity = Int32(object.runtime.ordinal)
            primaryKey = object.primaryKey
        }

        init(root: Int, entity: Int, primaryKey: Int64) {
            self.root = Int32(root)
            self.entity = Int32(entity)
            self.primaryKey = primaryKey
        }

        /// By hierarchy and key: whoever asks for an object knows its entity, which is the row's own.
        static func < (a: Key, b: Key) -> Bool { (a.root, a.primaryKey) < (b.root, b.primaryKey) }
    }

    /// Keys in the order in which they came, and in their own, where those differ.
    private struct Column {
        private(set) var keys: [Key] = []
        private var isAscending = true
        /// The places of the keys in their own order; empty until somebody asks.
        private var order: [Int32] = []

        mutating func append(_ key: Key) {
            if let last = keys.last, key < last { isAscending = false }
            keys.append(key)
            order = []
        }

        /// Where the key is, in the order in which pairs came.
        mutating func places(of key: Key) -> [Int] {
            guard !isAscending else {
                var place = partition(keys.count) { keys[$0] < key }
                var found: [Int] = []
                while place < keys.count, !(key < keys[place]) {
                    found.append(place)
                    place += 1
                }
                return found
            }
            if order.isEmpty {
                order = (0..<Int32(keys.count)).sorted { a, b in
                    let (x, y) = (keys[Int(a)], keys[Int(b)])
                    return x < y || !(y < x) && a < b
                }
            }
            var place = partition(order.count) { keys[Int(order[$0])] < key }
            var found: [Int] = []
            while place < order.count, !(key < keys[Int(order[place])]) {
                found.append(Int(order[place]))
                place += 1
            }
            return found
        }

        /// The first index for which that no longer holds.
        private func partition(_ count: Int, _ isBefore: (Int) -> Bool) -> Int {
            var (low, high) = (0, count)
            while low < high {
                let middle = (low + high) / 2
                if isBefore(middle) { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }

    private var sources = Column()
    private var destinations = Column()
    private var recent: [(source: NSManagedObject, destination: NSManagedObject)] = []
    private var recentBySource: [ObjectIdentifier: [Int]] = [:]
    private var recentByDestination: [ObjectIdentifier: [Int]] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        recentBySource[ObjectIdentifier(source), default: []].append(recent.count)
        recentByDestination[ObjectIdentifier(destination), default: []].append(recent.count)
        recent.append((source, destination))
    }

    /// Gives up the objects that stores have by now; what was deleted meanwhile has become nothing.
    mutating func settle() {
        let pairs = recent
        recent = []
        recentBySource = [:]
        recentByDestination = [:]
        for (source, destination) in pairs {
            if destination.managedObjectContext == nil || destination.isDeleted { continue }
            if source.isStored, destination.isStored, !destination.hasTemporaryKey, !source.hasTemporaryKey {
                sources.append(Key(source))
                destinations.append(Key(destination))
            } else {
                add(source, destination)
            }
        }
    }

    // MARK: Asking

    /// An object, or where it is.
    enum Found {
        case key(Key)
        case object(NSManagedObject)
    }

    /// What the object has become.
    mutating func destinations(of source: NSManagedObject) -> [Found] {
        let settled = source.hasTemporaryKey ? [] : sources.places(of: Key(source))
        return settled.map { .key(destinations.keys[$0]) }
            + (recentBySource[ObjectIdentifier(source)] ?? []).map { .object(recent[$0].destination) }
    }

    /// What the object was.
    mutating func sources(of destination: NSManagedObject) -> [Found] {
        let settled = destination.hasTemporaryKey ? [] : destinations.places(of: Key(destination))
        return settled.map { .key(sources.keys[$0]) }
            + (recentByDestination[ObjectIdentifier(destination)] ?? []).map { .object(recent[$0].source) }
    }

    /// Everything that was made, in that order.
    var allDestinations: [Found] {
        destinations.keys.map { .key($0) } + recent.map { .object($0.destination) }
    }

    var allSources: [Found] { sources.keys.map { .key($0) } + recent.map { .object($0.source) } }

    /// How many pairs there are.
    var count: Int { destinations.keys.count + recent.count }

    /// A part of ``allSources``.
    func sources(in range: Range<Int>) -> [Found] {
        range.map { index in
            index < sources.keys.count
                ? .key(sources.keys[index]) : .object(recent[index - sources.keys.count].source)
        }
    }

    /// A part of ``allDestinations``.
    func destinations(in range: Range<Int>) -> [Found] {
        range.map { index in
            index < destinations.keys.count
                ? .key(destinations.keys[index]) : .object(recent[index - destinations.keys.count].destination)
        }
    }
}
