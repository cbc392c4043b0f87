import CoreDataSyncEngine
import Foundation

/// Names a row of the store: primary keys are unique among the objects of one root entity.
package struct ObjectKey: Hashable, Sendable {
    /// The name of the topmost ancestor of the object's entity.
    package var root: String
    package var key: Int64

    package init(root: String, key: Int64) { (self.root, self.key) = (root, key) }
}

/// What apply meant to write, so that capture finds what its save changed beyond.
///
/// Counters, pairs, positions, minima and maxima need not be listed: capture compares the store with their states.
package struct IntendedChanges: Sendable {
    /// The author of the transactions that are compared with the intention.
    package static let author = "sync"

    /// Objects that apply inserted; it writes their entries itself.
    package var inserted = ObjectKeys()
    /// The IDs of inserted objects whose entries are not written yet, so that references to them are understood.
    package var insertedIDs: [ObjectKey: GlobalID] = [:]
    package var deleted: Set<ObjectKey> = []
    /// The names in the model of the properties that apply set, by object.
    package var updated: [ObjectKey: Set<String>] = [:]

    package init() {}

    package mutating func insertUpdate(_ key: ObjectKey, _ property: String) {
        updated[key, default: []].insert(property)
    }

    /// Whether apply set the property, or inserted the object.
    package func contains(_ key: ObjectKey, _ property: String) -> Bool {
        updated[key]?.contains(property) == true || inserted.contains(key.key, key.root)
    }
}

/// Many rows of a few hierarchies: no name is hashed for each of them.
package struct ObjectKeys: Hashable, Sendable {
    private var keys: [(root: String, keys: Set<Int64>)] = []

    package init() {}

    package mutating func insert(_ key: Int64, _ root: String) {
        if let index = keys.firstIndex(where: { $0.root == root }) {
            keys[index].keys.insert(key)
        } else {
            keys.append((root, [key]))
        }
    }

    package func contains(_ key: Int64, _ root: String) -> Bool {
        keys.first { $0.root == root }?.keys.contains(key) ?? false
    }

    /// All rows, in no order.
    package var all: Set<ObjectKey> {
        keys.reduce(into: []) { all, hierarchy in
            for key in hierarchy.keys { all.insert(ObjectKey(root: hierarchy.root, key: key)) }
        }
    }

    package static func == (a: Self, b: Self) -> Bool { a.all == b.all }
    package func hash(into hasher: inout Hasher) { hasher.combine(all) }
}
