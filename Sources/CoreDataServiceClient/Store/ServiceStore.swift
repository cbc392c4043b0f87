import CoreData
import CoreDataRemoteSync
import Foundation
import Synchronization

/// A store that asks a service for each request: `coredata-service`, which serves the same model.
///
///     let session = try await ServiceSession.signIn(
///         to: URL(string: "https://groceries.example.com")!, name: "ann", password: password, device: "Kitchen")
///     var options = ServiceStore.Options()
///     options.cacheFolder = folder
///     options.cachePolicy = .networkElseCache
///     let store = try ServiceStore.add(to: container.persistentStoreCoordinator, session: session, options: options)
///     let items = try await store.fetch(Item.fetchRequest(), in: container.viewContext)
///
/// Apps that have room for a store should synchronise (`Sync` with a `ServicePlace`): they work without a connection,
/// and never wait. This store is for programs that keep nothing, and for code that was written for such a store.
///
/// Objects need an ID that both sides know: the UUID attribute with a uniqueness constraint of its own. The store
/// assigns it before a save if the app has not. A save is one transaction of the service, with the versions that the
/// context knows: if another writer changed an object, the merge policy of the context decides, with the service's
/// values. What the service refuses is an error with Core Data's code, object and property.
///
/// Requests block their thread. Use contexts with a queue of their own, or ``fetch(_:in:cachePolicy:)`` for the context
/// of the main queue.
///
/// Cost: a fetch is a request for each page. Reading a to-many relationship is a request, as is reading several faults
/// that did not come with a fetch. A save of changed objects takes two requests, one of new objects one.
public final class ServiceStore: NSIncrementalStore, BatchReadingIncrementalStore, @unchecked Sendable {
    // Safe because `held` guards what the store keeps, and `core` is Sendable and set once, before any request.

    /// The type of the store.
    public static let storeType = "CoreDataService"

    /// Posted when the queue has got or lost changes.
    public static let queuedChangesDidChange = Notification.Name("ServiceStoreQueuedChangesDidChange")

    /// Posted after queued changes were sent. The store is the object; ``resultsKey`` has the results, and
    /// `NSUpdatedObjectIDsKey` and `NSDeletedObjectIDsKey` the IDs of objects that are not as contexts saved them.
    public static let didSendQueuedChanges = Notification.Name("ServiceStoreDidSendQueuedChanges")

    /// Posted when the service says that the session has ended: sign in, and give the new session to ``use(_:)``.
    public static let sessionDidEnd = Notification.Name("ServiceStoreSessionDidEnd")

    /// Posted when a request blocks the main thread for the first time.
    public static let didBlockMainThread = Notification.Name("ServiceStoreDidBlockMainThread")

    /// The key of the results in ``didSendQueuedChanges``: an array of ``QueuedChange/Result``.
    public static let resultsKey = "ServiceStoreResults"

    private static let setupKey = "CoreDataServiceClient.setup"

    private static let isRegistered: Bool = {
        NSPersistentStoreCoordinator.registerStoreClass(ServiceStore.self, forStoreType: storeType)
        return true
    }()

    let setup: Setup?
    private let made = Mutex<ServiceCore?>(nil)
    let held = Mutex(HeldObjects())
    private let observers = Mutex<[Passed<any NSObjectProtocol>]>([])

    // MARK: Adding

    /// Adds a store to a coordinator.
    ///
    ///     let store = try ServiceStore.add(to: container.persistentStoreCoordinator, session: session)
    ///
    /// No request is sent.
    ///
    /// - Throws: an error if the cache cannot be opened, or an option is not valid.
    @discardableResult
    public static func add(
        to coordinator: NSPersistentStoreCoordinator, session: ServiceSession, options: Options = Options(),
        configuration: String? = nil
    ) throws -> ServiceStore {
        _ = isRegistered
        let store = try coordinator.addPersistentStore(
            ofType: storeType, configurationName: configuration, at: session.serviceURL,
            options: [setupKey: Setup(session, options)])
        guard let store = store as? ServiceStore else {
            throw ServiceErrors.make(
                NSPersistentStoreInvalidTypeError, "Another class is registered for the store type '\(storeType)'.")
        }
        return store
    }

    /// Returns a description for `NSPersistentContainer.persistentStoreDescriptions`.
    ///
    ///     container.persistentStoreDescriptions = [ServiceStore.description(session: session)]
    ///     container.loadPersistentStores { _, error in … }
    public static func description(
        session: ServiceSession, options: Options = Options()
    ) -> NSPersistentStoreDescription {
        _ = isRegistered
        let description = NSPersistentStoreDescription(url: session.serviceURL)
        description.type = storeType
        description.setOption(Setup(session, options), forKey: setupKey)
        return description
    }

    /// Makes a store that a coordinator adds; use ``add(to:session:options:configuration:)``.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        setup = options?[Self.setupKey] as? Setup
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    /// Opens the cache; no request is sent.
    public override func loadMetadata() throws {
        guard let setup, let model = persistentStoreCoordinator?.managedObjectModel else {
            throw ServiceErrors.make(
                NSPersistentStoreOpenError,
                "A store of the type '\(Self.storeType)' is added by ServiceStore.add(to:session:), or by a description of ServiceStore.description(session:)."
            )
        }
        let core = try ServiceCore(setup, model)
        core.observer = { [weak self] in self?.take($0) }
        made.withLock { $0 = core }
        metadata = [
            NSStoreTypeKey: Self.storeType,
            NSStoreUUIDKey: Self.identifier(of: setup.session.serviceURL).uuidString,
        ]
    }

    public override func didAdd(to coordinator: NSPersistentStoreCoordinator) {
        observeSaves(of: coordinator)
        core.startSending()
    }

    public override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        let observers = observers.withLock { observers in
            defer { observers = [] }
            return observers
        }
        for observer in observers { NotificationCenter.default.removeObserver(observer.value) }
        core.close()
    }

    /// What the store does without contexts.
    var core: ServiceCore {
        guard let core = made.withLock({ $0 }) else {
            preconditionFailure("A coordinator loads a store's metadata before any request.")
        }
        return core
    }

    // MARK: Identifiers

    /// The same UUID for the same address, so that URIs of objects are valid after the next start.
    private static func identifier(of address: URL) -> UUID {
        var bytes = (UInt64(0), UInt64(0))
        for byte in address.absoluteString.utf8 {
            bytes.0 = (bytes.0 ^ UInt64(byte)) &* 0x100_0000_01B3 &+ 0xCBF2
            bytes.1 = (bytes.1 ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15 &+ bytes.0
        }
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { uuid in
            withUnsafeBytes(of: bytes) { uuid.copyMemory(from: $0) }
            uuid[6] = uuid[6] & 0x0F | 0x80
            uuid[8] = uuid[8] & 0x3F | 0x80
        }
        return UUID(uuid: uuid)
    }

    /// The ID of an object of the service.
    func objectID(_ entity: String, _ id: UUID) throws -> NSManagedObjectID {
        guard let description = persistentStoreCoordinator?.managedObjectModel.entitiesByName[entity] else {
            throw ServiceErrors.make(
                NSPersistentStoreOperationError,
                "The model has no entity '\(entity)', of which the service has objects.")
        }
        return newObjectID(for: description, referenceObject: id.uuidString)
    }

    /// The object of an ID; `nil` for a temporary ID, or one of another store.
    func identity(of objectID: NSManagedObjectID) -> ServiceCore.Identity? {
        guard !objectID.isTemporaryID, objectID.persistentStore === self, let name = objectID.entity.name,
            let id = (referenceObject(for: objectID) as? String).flatMap(UUID.init(uuidString:))
        else { return nil }
        return (name, id)
    }

    // MARK: Requests

    public override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any { try answer(request, context) }

    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { try node(objectID) }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { try value(of: relationship, objectID) }

    public override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        release(objectIDs)
    }

    // MARK: New objects

    /// Gives new objects an ID before they are validated, and saved objects the values that the service computed.
    private func observeSaves(of coordinator: NSPersistentStoreCoordinator) {
        func observe(
            _ name: Notification.Name, _ body: @escaping @Sendable (ServiceStore, NSManagedObjectContext) -> Void
        ) {
            let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                [weak self, weak coordinator] note in
                guard let self, let context = note.object as? NSManagedObjectContext, let coordinator,
                    context.persistentStoreCoordinator === coordinator
                else { return }
                body(self, context)
            }
            let passed = Passed<any NSObjectProtocol>(observer)
            observers.withLock { $0.append(passed) }
        }
        observe(.NSManagedObjectContextWillSave) { $0.willSave($1) }
        observe(.NSManagedObjectContextDidSave) { $0.takeDerivedValues($1) }
    }

    private func willSave(_ context: NSManagedObjectContext) {
        for object in context.insertedObjects { assignID(to: object) }
        // The check for conflicts must ask the service, whatever the cache has.
        let changed = context.updatedObjects.union(context.deletedObjects).map(\.objectID)
            .filter { $0.persistentStore === self }
        held.withLock { $0.checked.formUnion(changed) }
    }

    @discardableResult private func assignID(to object: NSManagedObject) -> UUID? {
        guard let name = object.entity.name, let identity = core.model.entities[name]?.identity else { return nil }
        if let id = object.value(forKey: identity) as? UUID { return id }
        let id = UUID()
        object.setValue(id, forKey: identity)
        return id
    }

    public override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        try array.map { object in
            guard let id = assignID(to: object) else {
                _ = try core.model.entity(named: object.entity.name ?? "")
                throw ServiceErrors.make(
                    NSPersistentStoreOperationError, "An object of \(object.entity.name ?? "") has no ID.")
            }
            return newObjectID(for: object.entity, referenceObject: id.uuidString)
        }
    }
}

/// What the store keeps of objects, besides the rows that Core Data caches.
struct HeldObjects {
    /// Answers of which no row was made yet.
    var fresh: [NSManagedObjectID: RemoteObject] = [:]
    /// The versions of which rows were made last.
    var handed: [NSManagedObjectID: String] = [:]
    /// Objects whose rows do not match the service any more.
    var stale: Set<NSManagedObjectID> = []
    /// Objects whose next read must ask the service.
    var checked: Set<NSManagedObjectID> = []
    /// Objects of the last save whose derived attributes the service computed.
    var derived: [NSManagedObjectID: RemoteObject] = [:]
    /// The entities of objects that may be of a subentity of a relationship's destination.
    var entities: [UUID: String] = [:]

    /// The number of answers that are kept for faults.
    static let maximumFresh = 50_000
}
