import CoreDataStore
import Foundation

/// A store that is read as a whole when it is added, and written as a whole by every save. Subclass it for your own
/// file format.
///
///     final class CSVStore: NSAtomicStore {
///         override func load() throws { addCacheNodes(try nodes(of: Data(contentsOf: url!))) }
///         override func save() throws { try data(of: cacheNodes()).write(to: url!, options: .atomic) }
///         override func newReferenceObject(for object: NSManagedObject) -> Any { UUID().uuidString }
///     }
///     NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "CSV")
///
/// Fetches read the nodes with the semantics of an SQLite store: predicates, sort descriptors and dictionaries mean the
/// same. Saves are checked for conflicts between contexts and for uniqueness constraints before your methods are
/// called.
///
/// Differs from Apple: the initialiser is `required`, since the coordinator makes the store; ``newCacheNode(for:)`` and
/// ``updateCacheNode(_:from:)`` need not be overridden: they copy the object's values.
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    // Safe because the store's source calls it while it holds a lock.

    private var nodes: [NSManagedObjectID: NSAtomicStoreCacheNode] = [:]
    /// Strong from the moment when the store is being attached until it is removed.
    private weak var attached: AttachedStore?

    /// Makes a store that the coordinator is about to add.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    // MARK: To override

    /// Reads the file and adds a node for each object with ``addCacheNodes(_:)``; there may be no file yet.
    open func load() throws { throw missing("load()") }

    /// Writes ``cacheNodes()`` and the metadata to the file. If it throws, the save throws the same error, and the
    /// nodes are restored.
    ///
    /// The folder of the URL exists, if it can be made.
    open func save() throws { throw missing("save()") }

    /// What names a new object in the store, for good: a number, a text, a UUID.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        preconditionFailure("\(Swift.type(of: self)) must override newReferenceObject(for:).")
    }

    /// Returns a node for a new object. Its ID is permanent already. Its relationships may refer to objects without a
    /// node.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        NSAtomicStoreCacheNode(objectID: managedObject.objectID)
    }

    /// Copies the object's values into its node: for new objects, after all have nodes, and for changed ones.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
            switch managedObject.value(forKey: name) {
            case let one as NSManagedObject where property is NSRelationshipDescription:
                node.setValue(cacheNode(for: one.objectID), forKey: name)
            case let many as NSOrderedSet where property is NSRelationshipDescription:
                let members = many.compactMap { ($0 as? NSManagedObject).flatMap { cacheNode(for: $0.objectID) } }
                node.setValue(NSOrderedSet(array: members), forKey: name)
            case let many as Set<NSManagedObject>:
                node.setValue(Set(many.compactMap { cacheNode(for: $0.objectID) }), forKey: name)
            case let value where property is NSAttributeDescription: node.setValue(value, forKey: name)
            default: node.setValue(nil, forKey: name)
            }
        }
    }

    /// Called before nodes of deleted objects are taken out.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    private func missing(_ method: String) -> CocoaError {
        CoreDataErrors.make(
            NSPersistentStoreOperationError, "\(Swift.type(of: self)) must override \(method).")
    }

    // MARK: Nodes

    /// The nodes of all objects.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(nodes.values) }

    /// Takes nodes in, each in the place of one with its ID.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        for node in cacheNodes { nodes[node.objectID] = node }
    }

    /// The node of an object, if there is one.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { nodes[objectID] }

    /// The ID of the object that the reference names.
    ///
    /// - Precondition: the store is being added or has been.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        guard let attached, let id = attached.objectID(for: entity, reference: data) else {
            preconditionFailure("An ID can be made when the store is being added, of an entity of its model.")
        }
        return id
    }

    /// What names the object of an ID in the store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        attached?.references?.reference(ofKey: objectID.primaryKey, rootName: objectID.runtime.rootName)
            ?? NSNumber(value: objectID.primaryKey)
    }

    // MARK: The source

    /// Loads the nodes, and makes rows from them.
    ///
    /// - Parameter check: called after they were loaded: the store may set its metadata while loading.
    final func attach(
        index: Int32, coordinator: NSPersistentStoreCoordinator, entities: [Int], check: () throws -> Void
    ) throws -> AttachedStore {
        let backing = NodeBacking(self, runtime: coordinator.runtime, ReferenceTable.of(store: identifier))
        var empty = MemoryContents(model: coordinator.runtime.model, identifier: identifier)
        empty.metadata = try metadataRow().metadata
        let engine = try MemoryEngine(
            empty, entities: entities, isReadOnly: isReadOnly, backing: backing, clock: coordinator.clock)
        let attached = AttachedStore(
            self, source: engine, index: index, objectSource: backing, references: backing.references)
        self.attached = attached
        backing.attached = attached
        try load()
        try check()
        var contents = try backing.contents(of: nodes.values)
        contents.metadata = try metadataRow().metadata
        engine.begin(with: contents)
        return attached
    }

    /// Starts with rows that a migration has made, instead of those in the file; they have the keys of the references.
    final func attach(
        index: Int32, coordinator: NSPersistentStoreCoordinator, entities: [Int], migrated contents: MemoryContents,
        _ name: (ReferenceTable) -> Void
    ) throws -> AttachedStore {
        // Its own: the names that the store has go by the entities of the older model.
        let backing = NodeBacking(self, runtime: coordinator.runtime, ReferenceTable())
        name(backing.references)
        let engine = try MemoryEngine(
            contents, entities: entities, isReadOnly: true, backing: backing, clock: coordinator.clock)
        let attached = AttachedStore(
            self, source: engine, index: index, objectSource: backing, references: backing.references)
        self.attached = attached
        backing.attached = attached
        return attached
    }

    /// Makes nodes of the objects, and writes them.
    final func write(migrated objects: [NSManagedObject]) throws {
        for object in objects { addCacheNodes([newCacheNode(for: object)]) }
        for object in objects {
            guard let node = cacheNode(for: object.objectID) else { continue }
            updateCacheNode(node, from: object)
        }
        try StoreFolder.offering(for: url) { try save() }
    }

    /// Applies a save's changes to the nodes, and writes them; after an error the nodes are restored.
    final func write(_ saved: SavedRequest?, deleted: [NSManagedObjectID]) throws {
        let before = nodes.mapValues { (node: $0, cache: $0.propertyCache?.mutableCopy() as? NSMutableDictionary) }
        do {
            let updated = saved?.updated() ?? []
            for object in saved?.inserted ?? [] { addCacheNodes([newCacheNode(for: object)]) }
            for object in (saved?.inserted ?? []) + updated {
                guard let node = cacheNode(for: object.objectID) else { continue }
                updateCacheNode(node, from: object)
            }
            let gone = Set(deleted.compactMap { nodes[$0] })
            if !gone.isEmpty {
                willRemoveCacheNodes(gone)
                for node in gone { nodes[node.objectID] = nil }
            }
            try StoreFolder.offering(for: url) { try save() }
        } catch {
            for (node, cache) in before.values { node.propertyCache = cache }
            nodes = before.mapValues(\.node)
            throw error
        }
    }
}
