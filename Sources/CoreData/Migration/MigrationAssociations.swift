import CoreDataPrimitives
import Foundation

/// The associations of source and destination objects by one mapping. Only the keys of objects that their stores have
/// are kept, see ``KeyPairs``.
///
/// Pairs of new objects keep the objects until their store has them; see ``settle()``.
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

        /// By hierarchy and key: a caller that has an object knows its entity, which is the row's own.
        static func < (a: Key, b: Key) -> Bool { (a.root, a.primaryKey) < (b.root, b.primaryKey) }
    }

    private var settled = KeyPairs()
    private var recent: [(source: NSManagedObject, destination: NSManagedObject)] = []
    private var recentBySource: [ObjectIdentifier: [Int]] = [:]
    private var recentByDestination: [ObjectIdentifier: [Int]] = [:]

    mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
        recentBySource[ObjectIdentifier(source), default: []].append(recent.count)
        recentByDestination[ObjectIdentifier(destination), default: []].append(recent.count)
        recent.append((source, destination))
    }

    /// Releases the objects that stores have by now; pairs of objects that were deleted meanwhile are dropped.
    mutating func settle() {
        let pairs = recent
        recent = []
        recentBySource = [:]
        recentByDestination = [:]
        for (source, destination) in pairs {
            if destination.managedObjectContext == nil || destination.isDeleted { continue }
            if source.isStored, destination.isStored, !destination.hasTemporaryKey, !source.hasTemporaryKey {
                settled.append(Key(source), Key(destination))
            } else {
                add(source, destination)
            }
        }
    }

    // MARK: Asking

    /// An object, or its key.
    enum Found {
        case key(Key)
        case object(NSManagedObject)
    }

    /// Returns the destination objects of this source.
    mutating func destinations(of source: NSManagedObject) -> [Found] {
        let keys = source.hasTemporaryKey ? [] : settled.destinations(of: Key(source))
        return keys.map { .key($0) }
            + (recentBySource[ObjectIdentifier(source)] ?? []).map { .object(recent[$0].destination) }
    }

    /// Returns the source objects of this destination.
    mutating func sources(of destination: NSManagedObject) -> [Found] {
        let keys = destination.hasTemporaryKey ? [] : settled.sources(of: Key(destination))
        return keys.map { .key($0) }
            + (recentByDestination[ObjectIdentifier(destination)] ?? []).map { .object(recent[$0].source) }
    }

    /// Everything that was made, in that order.
    var allDestinations: [Found] { pairs(0..<count).map(\.destination) }

    var allSources: [Found] { pairs(0..<count).map(\.source) }

    /// How many pairs there are.
    var count: Int { settled.count + recent.count }

    /// A part of all pairs, in the order in which they came.
    func pairs(_ range: Range<Int>) -> [(source: Found, destination: Found)] {
        let old = range.clamped(to: 0..<settled.count)
        let new = range.clamped(to: settled.count..<count)
        return settled.pairs(old).map { (.key($0.source), .key($0.destination)) }
            + new.map { index in
                let pair = recent[index - settled.count]
                return (.object(pair.source), .object(pair.destination))
            }
    }
}
