import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Stands between the rows of a ``MemoryEngine`` and the nodes of an ``NSAtomicStore``.
final class NodeBacking: MemoryBacking, ObjectSource, @unchecked Sendable {
    // Safe because `attached` is set before there are rows, and `saved` is guarded by `lock`.

    let references: ReferenceTable
    weak var attached: AttachedStore?
    private weak var store: NSAtomicStore?
    private let runtime: ModelRuntime
    /// Held during a save.
    private let lock = NSRecursiveLock()
    private var saved: SavedRequest?

    init(_ store: NSAtomicStore, runtime: ModelRuntime, _ references: ReferenceTable) {
        self.store = store
        self.references = references
        self.runtime = runtime
    }

    // MARK: From nodes

    /// - Throws: for a value that is not of its attribute's type, naming it.
    func contents(of nodes: some Sequence<NSAtomicStoreCacheNode>) throws -> MemoryContents {
        var graph = GraphBuilder(model: runtime.model)
        for node in nodes { try add(node, to: &graph) }
        return graph.contents(identifier: store?.identifier ?? "")
    }

    private func add(_ node: NSAtomicStoreCacheNode, to graph: inout GraphBuilder) throws {
        let entity = runtime.entities[node.objectID.runtime.ordinal]
        let key = node.objectID.primaryKey
        let builder = graph.builder(of: entity.compiled)
        for (index, slot) in entity.slots.enumerated() where !slot.property.isTransient {
            guard let value = CompositeValues.element(slot, in: entity, of: node.value(forKey:)) else { continue }
            if slot.attribute != nil {
                try CustomValues.set(value, slot: index, of: entity, to: builder)
            } else if slot.isToMany {
                graph.setToMany(index, of: entity.compiled, key: key, to: members(value))
            } else if let other = value as? NSAtomicStoreCacheNode {
                graph.setToOne(index, of: entity.compiled, key: key, to: other.objectID.primaryKey)
            }
        }
        graph.finish(entity.compiled, key: key)
    }

    private func members(_ value: Any) -> [Int64] {
        let members: [Any] =
            switch value {
            case let set as Set<NSAtomicStoreCacheNode>: set.map { $0 as Any }
            case let list as [NSAtomicStoreCacheNode]: list
            case let set as NSOrderedSet: set.map { $0 }
            case let set as NSSet: set.map { $0 }
            default: []
            }
        return members.compactMap { ($0 as? NSAtomicStoreCacheNode)?.objectID.primaryKey }
    }

    // MARK: To nodes

    func keys(for objects: [NSManagedObject]) throws -> [Int64] {
        guard let store else { return [] }
        var seen: Set<RowKey> = []
        return try objects.map { object in
            let reference = store.newReferenceObject(for: object)
            let key = references.key(of: reference, entity: object.runtime)
            let id = NSManagedObjectID(runtime: object.runtime, primaryKey: key, store: attached)
            guard seen.insert(RowKey(entity: object.runtime.root, primaryKey: key)).inserted,
                store.cacheNode(for: id) == nil || object.managedObjectContext?.isDeleting(id) == true
            else {
                throw CoreDataErrors.coreData(
                    "\(type(of: store)).newReferenceObject(for:) must return a name of its own for each object: two of '\(object.runtime.name)' got '\(reference)'."
                )
            }
            return key
        }
    }

    func saving<R>(_ save: SavedRequest, _ body: () throws -> R) rethrows -> R {
        lock.lock()
        defer {
            saved = nil
            lock.unlock()
        }
        saved = save
        return try body()
    }

    func write(_ contents: MemoryContents, after changes: ChangeSet) throws {
        lock.lock()
        defer { lock.unlock() }
        guard let store, let attached else { return }
        guard saved != nil || changes.insertions.isEmpty && changes.updates.isEmpty else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "Rows without objects cannot be saved to a store of the program's own class.")
        }
        let deleted = changes.deletions.map {
            NSManagedObjectID(runtime: runtime.entities[$0.key.entity], primaryKey: $0.key.primaryKey, store: attached)
        }
        try store.write(saved, deleted: deleted)
    }

    func close() {}
}

/// Converts the values of stores of the program's own classes.
enum CustomValues {
    /// - Throws: for a value that is not of the attribute's type.
    static func set(_ any: Any, slot index: Int, of entity: EntityRuntime, to builder: RowBuilder) throws {
        let slot = entity.slots[index]
        guard slot.column >= 0, !(any is NSNull) else { return }
        let kind = entity.compiled.rowLayout.kinds[slot.column]
        guard let value = ManagedObjectValues.acceptedValue(any, slot.kind) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "The store has a \(Swift.type(of: any)) for the attribute '\(slot.name)' of entity '\(entity.name)', which is a \(ManagedObjectValues.className(slot))."
            )
        }
        try ManagedObjectValues.encode(value, slot: index, of: entity, kind, at: slot.column, into: builder)
    }
}
