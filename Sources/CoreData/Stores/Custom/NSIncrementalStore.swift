import CoreDataStore
import Foundation

/// A store that is asked for objects one by one: a web service, a database of another kind, a folder of files. Subclass
/// it.
///
///     final class JSONFolderStore: NSIncrementalStore {
///         override func loadMetadata() throws { metadata = [NSStoreTypeKey: "JSONFolder", NSStoreUUIDKey: uuid] }
///         override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any { … }
///         override func newValuesForObject(…) throws -> NSIncrementalStoreNode { … }
///         override func newValue(forRelationship: …) throws -> Any { … }
///         override func obtainPermanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] { … }
///     }
///     NSPersistentStoreCoordinator.registerStoreClass(JSONFolderStore.self, forStoreType: "JSONFolder")
///
/// The example `JSONFolderStore` is complete and meant to be copied.
///
/// A fetch asks the store only for IDs. The store is asked for the values of an object when the object is read. It is
/// asked for the members of a to-many, and for the destination of a to-one that the node omits, when the relationship
/// is read. A store that can read many objects together conforms to ``BatchReadingIncrementalStore``.
/// `returnsObjectsAsFaults = false` and prefetching ask immediately.
///
/// One thread at a time calls the store. The store's answers are cached and shared by contexts. Before a save writes or
/// deletes an object, it asks for its node again; another version is a conflict for the merge policy. A refresh asks
/// for the node again, too.
///
/// Query generations do not apply: a context that is pinned to one reads the store's current state.
///
/// Differs from Apple: the initialiser is `required`, since the coordinator makes the store. Requests for objects pass
/// the store a context of its own. The store itself is responsible for uniqueness constraints and derived attributes.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // Safe because the store's source calls it while it holds a lock.

    private weak var attached: AttachedStore?

    /// Makes a store that the coordinator is about to add.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    // MARK: To override

    /// Executes a request.
    ///
    /// - For a fetch, an `NSFetchRequest<any NSFetchRequestResult>`, return according to its `resultType`:
    ///   `[NSManagedObject]` (of `context.object(with:)`), `[NSManagedObjectID]`, `[NSDictionary]`, or `[NSNumber]`
    ///   with the count. Objects and IDs must be of the request's entity, or of its subentities if
    ///   `includesSubentities` is set: otherwise the fetch fails.
    /// - For an ``NSSaveChangesRequest``, return `[]` after everything was written; without any sets only the metadata
    ///   must be written.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw missing("execute(_:with:)")
    }

    /// The values of an object: its attributes and, if they are at hand, the IDs of its to-ones. For a to-one that is
    /// left out, the store is asked by ``newValue(forRelationship:forObjectWith:with:)`` when it is read, once for each
    /// version of the node.
    ///
    /// - Throws: `CocoaError` with `NSManagedObjectReferentialIntegrityError` where there is no such object (any more).
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { throw missing("newValuesForObject(with:with:)") }

    /// Returns the destinations of a relationship of an object: an ID or `NSNull` for a to-one, an array or set of IDs
    /// for a to-many, in order if it is ordered. Omit deleted members: a member without an object is deleted when it is
    /// read.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { throw missing("newValue(forRelationship:forObjectWith:with:)") }

    /// IDs for new objects, in their order, made by ``newObjectID(for:referenceObject:)``.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw missing("obtainPermanentIDs(for:)")
    }

    /// A UUID for a store that is made at the URL.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Contexts have registered objects with these IDs: called once for each context, for fetched and saved objects
    /// alike. A store may keep their data in memory.
    ///
    /// Called on any thread while the store executes no request. Objects of a child context are registered by its
    /// parent.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Contexts know objects of these IDs no more: they were deallocated, or the context was reset. As often as
    /// ``managedObjectContextDidRegisterObjects(with:)`` for each.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    private func missing(_ method: String) -> CocoaError {
        CoreDataErrors.make(NSPersistentStoreOperationError, "\(Swift.type(of: self)) must override \(method).")
    }

    // MARK: IDs

    /// The ID of the object that the reference names: a number, a text, a UUID.
    ///
    /// - Precondition: the store is attached, and the entity is one of its model.
    public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        guard let attached, let id = attached.objectID(for: entity, reference: data) else {
            preconditionFailure("An ID can be made when the store has been added, of an entity of its model.")
        }
        return id
    }

    /// What names the object of an ID in the store.
    public final func referenceObject(for objectID: NSManagedObjectID) -> Any {
        attached?.references?.reference(ofKey: objectID.primaryKey, rootName: objectID.runtime.rootName)
            ?? NSNumber(value: objectID.primaryKey)
    }

    /// Gives the object of an ID another reference, which follows `p` in a URI. The former reference also identifies it
    /// as long as the store is attached.
    package final func rename(_ objectID: NSManagedObjectID, toReferenceText text: String) {
        attached?.references?.take(text: text, key: objectID.primaryKey, entity: objectID.runtime)
    }

    /// Asks for the values of these objects again when they are read.
    package final func forgetValues(of objectIDs: [NSManagedObjectID]) {
        for id in objectIDs { attached?.objectSource?.forget(id.primaryKey, root: id.runtime.root) }
    }

    /// Whether a caller on the main queue waits for the answer to the present request.
    package final var isAskedOnMain: Bool { (attached?.objectSource as? IncrementalSource)?.isAskedOnMain ?? false }

    /// Runs the body while no other thread asks the store.
    package final func alone(_ body: () -> Void) {
        (attached?.objectSource as? IncrementalSource)?.whileAlone(body) ?? body()
    }

    /// What stands for a reference in URIs.
    package static func referenceText(of reference: Any) -> String { ReferenceTable.text(of: reference) }

    // MARK: The source

    final func attach(index: Int32, coordinator: NSPersistentStoreCoordinator, entities: [Int]) -> AttachedStore {
        let source = IncrementalSource(self, runtime: coordinator.runtime, entities: entities, clock: coordinator.clock)
        let attached = AttachedStore(
            self, source: source, index: index, objectSource: source, references: source.references)
        self.attached = attached
        source.attached = attached
        return attached
    }
}

extension AttachedStore {
    /// The ID of the object that the reference names; `nil` for an entity that the model does not have.
    func objectID(for entity: NSEntityDescription, reference: Any) -> NSManagedObjectID? {
        guard let references, let coordinator = store.persistentStoreCoordinator,
            let runtime = entity.name.flatMap({ coordinator.runtime.entity(named: $0) })
        else { return nil }
        let key = references.key(of: reference, entity: runtime)
        return NSManagedObjectID(
            runtime: references.runtime(ofKey: key, below: runtime, in: coordinator.runtime), primaryKey: key,
            store: self)
    }
}
