import CoreData
import Foundation
import Synchronization
import Testing

/// Methods that Apple's framework lets be overridden: a subclass outside the module overrides them, and its own are called.
/// Those of managed objects are in `OpenObjectMethodTests`.
@Suite struct OpenMethodTests {
    @Test func everyMethodOfAContextIsCalledByItsOverride() throws {
        let stack = try LibraryStack()
        let own = OwnContext(.privateQueue)
        let context: NSManagedObjectContext = own
        context.persistentStoreCoordinator = stack.coordinator
        context.perform {}
        try context.performAndWait { () throws in
            let tag = Tag(context: context)
            tag.name = "a"
            try context.obtainPermanentIDs(for: [tag])
            if let store = stack.coordinator.persistentStores.first {
                let new = Tag(context: context)
                new.name = "b"
                context.assign(new, to: store)
            }
            context.processPendingChanges()
            context.detectConflicts(for: tag)
            try context.save()
            #expect(context.object(with: tag.objectID) === tag && context.registeredObject(for: tag.objectID) === tag)
            #expect(try context.existingObject(with: tag.objectID) === tag)
            context.refresh(tag, mergeChanges: true)
            context.refreshAllObjects()
            _ = try context.execute(NSFetchRequest<Tag>(entityName: "Tag"))
            context.undo()
            context.redo()
            context.delete(tag)
            context.rollback()
            _ = context.shouldHandleInaccessibleFault(tag, for: tag.objectID, triggeredByProperty: nil)
            context.mergeChanges(fromContextDidSave: Notification(name: .NSManagedObjectContextDidSave))
            type(of: context).mergeChanges(fromRemoteContextSave: [:], into: [])
            context.reset()
            _ = (context.hasChanges, context.insertedObjects, context.updatedObjects, context.deletedObjects)
            _ = (context.registeredObjects, context.description)
        }
        #expect(
            own.missing([
                "perform", "performAndWait", "insert", "obtainPermanentIDs", "assign", "processPendingChanges",
                "detectConflicts", "save", "object", "registeredObject", "existingObject", "refresh",
                "refreshAllObjects",
                "execute", "undo", "redo", "delete", "rollback", "shouldHandleInaccessibleFault", "mergeChanges",
                "reset",
                "hasChanges", "insertedObjects", "updatedObjects", "deletedObjects", "registeredObjects", "description",
            ]) == [])
        let hasMerged = OwnContext.merged.load(ordering: .relaxed)
        #expect(hasMerged)
    }

    @Test func everyMethodOfACoordinatorIsCalledByItsOverride() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("open-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let own = OwnCoordinator(managedObjectModel: Library.model())
        let coordinator: NSPersistentStoreCoordinator = own
        let (url, copy) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        coordinator.name = "own"
        coordinator.perform {}
        coordinator.performAndWait {}
        #expect(coordinator.persistentStores == [store] && coordinator.name == "own")
        #expect(coordinator.persistentStore(for: url) === store && coordinator.url(for: store) == url)
        #expect(coordinator.managedObjectID(forURIRepresentation: url) == nil)
        coordinator.setMetadata(coordinator.metadata(for: store), for: store)
        _ = coordinator.currentPersistentHistoryToken(fromStores: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            _ = try coordinator.execute(NSFetchRequest<Tag>(entityName: "Tag"), with: context)
        }
        #expect(!coordinator.setURL(copy, for: store))
        try coordinator.remove(store)
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: url, ofType: NSSQLiteStoreType)
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        coordinator.addPersistentStore(with: NSPersistentStoreDescription(url: copy)) { _, error in
            #expect(error == nil)
        }
        #expect(
            own.missing([
                "addPersistentStore", "name", "perform", "performAndWait", "persistentStores", "persistentStore", "url",
                "managedObjectID", "setMetadata", "metadata", "currentPersistentHistoryToken", "execute", "setURL",
                "remove",
                "replacePersistentStore", "destroyPersistentStore", "addPersistentStoreWith",
            ]) == [])
    }

    @Test func everyMethodOfAContainerIsCalledByItsOverride() throws {
        let own = OwnContainer(name: "Library", managedObjectModel: Library.model())
        let container: NSPersistentContainer = own
        let descriptions = container.persistentStoreDescriptions
        #expect(descriptions.first?.url?.path == "/dev/shm/open-methods/Library.sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        container.performBackgroundTask { _ in }
        #expect(
            own.missing([
                "persistentStoreDescriptions", "loadPersistentStores", "performBackgroundTask", "newBackgroundContext",
            ])
                == [])
    }

    @Test func everyMethodOfAMergePolicyIsCalledByItsOverride() throws {
        let stack = try LibraryStack()
        let policy = OwnPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        let other = stack.newContext()
        try stack.story { context throws in
            context.mergePolicy = policy
            let tag = Tag(context: context)
            tag.name = "a"
            try context.save()
            try other.performAndWait { () throws in
                (other.object(with: tag.objectID) as? Tag)?.name = "b"
                try other.save()
            }
            tag.name = "c"
            try context.save()
            Tag(context: context).name = "c"
            try context.save()
            #expect(try context.all(Tag.self, "Tag").map(\.name) == ["c"])
        }
        #expect(policy.missing(["mergeConflicts", "optimisticLockingConflicts", "constraintConflicts"]) == [])
    }

    @Test func aStoreDescriptionAndARequestCanBeOnesOwn() throws {
        let description: NSPersistentStoreDescription = OwnDescription(url: URL(fileURLWithPath: "/dev/null"))
        #expect(description.type == NSInMemoryStoreType && description.options.isEmpty == false)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        coordinator.addPersistentStore(with: description) { _, error in #expect(error == nil) }
        #expect(coordinator.persistentStores.first?.type == NSInMemoryStoreType)
        let request: NSPersistentStoreRequest = OwnRequest(entityName: "Tag")
        #expect(request.requestType == .saveRequestType)
    }
}

/// What overrides of one object were called.
private protocol Logging: AnyObject {
    var log: CallLog { get }
}

private final class CallLog: Sendable {
    private let names = Mutex<Set<String>>([])
    func add(_ name: String) { names.withLock { _ = $0.insert(name) } }
    var all: Set<String> { names.withLock { $0 } }
}

extension Logging {
    func missing(_ names: [String]) -> [String] { names.filter { !log.all.contains($0) } }
}

private final class OwnContext: NSManagedObjectContext, Logging, @unchecked Sendable {
    let log = CallLog()
    static let merged = Atomic(false)

    override func perform(_ block: @escaping @Sendable () -> Void) {
        log.add("perform")
        super.perform(block)
    }
    override func performAndWait(_ block: () -> Void) {
        log.add("performAndWait")
        super.performAndWait(block)
    }
    override func insert(_ object: NSManagedObject) {
        log.add("insert")
        super.insert(object)
    }
    override func delete(_ object: NSManagedObject) {
        log.add("delete")
        super.delete(object)
    }
    override func assign(_ object: Any, to store: NSPersistentStore) {
        log.add("assign")
        super.assign(object, to: store)
    }
    override func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        log.add("obtainPermanentIDs")
        try super.obtainPermanentIDs(for: objects)
    }
    override func processPendingChanges() {
        log.add("processPendingChanges")
        super.processPendingChanges()
    }
    override func detectConflicts(for object: NSManagedObject) {
        log.add("detectConflicts")
        super.detectConflicts(for: object)
    }
    override func save() throws {
        log.add("save")
        try super.save()
    }
    override func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        log.add("object")
        return super.object(with: objectID)
    }
    override func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
        log.add("registeredObject")
        return super.registeredObject(for: objectID)
    }
    override func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        log.add("existingObject")
        return try super.existingObject(with: objectID)
    }
    override func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) {
        log.add("refresh")
        super.refresh(object, mergeChanges: flag)
    }
    override func refreshAllObjects() {
        log.add("refreshAllObjects")
        super.refreshAllObjects()
    }
    override func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        log.add("execute")
        return try super.execute(request)
    }
    override func undo() {
        log.add("undo")
        super.undo()
    }
    override func redo() {
        log.add("redo")
        super.redo()
    }
    override func rollback() {
        log.add("rollback")
        super.rollback()
    }
    override func reset() {
        log.add("reset")
        super.reset()
    }
    override func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID, triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        log.add("shouldHandleInaccessibleFault")
        return true
    }
    override func mergeChanges(fromContextDidSave notification: Notification) {
        log.add("mergeChanges")
        super.mergeChanges(fromContextDidSave: notification)
    }
    override class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) { merged.store(true, ordering: .relaxed) }
    override var hasChanges: Bool {
        log.add("hasChanges")
        return super.hasChanges
    }
    override var insertedObjects: Set<NSManagedObject> {
        log.add("insertedObjects")
        return super.insertedObjects
    }
    override var updatedObjects: Set<NSManagedObject> {
        log.add("updatedObjects")
        return super.updatedObjects
    }
    override var deletedObjects: Set<NSManagedObject> {
        log.add("deletedObjects")
        return super.deletedObjects
    }
    override var registeredObjects: Set<NSManagedObject> {
        log.add("registeredObjects")
        return super.registeredObjects
    }
    override var description: String {
        log.add("description")
        return super.description
    }
}

private final class OwnCoordinator: NSPersistentStoreCoordinator, Logging, @unchecked Sendable {
    let log = CallLog()

    override var name: String? {
        get { super.name }
        set {
            log.add("name")
            super.name = newValue
        }
    }
    override var persistentStores: [NSPersistentStore] {
        log.add("persistentStores")
        return super.persistentStores
    }
    override func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        log.add("addPersistentStore")
        return try super.addPersistentStore(
            ofType: storeType, configurationName: configuration, at: storeURL, options: options)
    }
    override func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        log.add("addPersistentStoreWith")
        super.addPersistentStore(with: storeDescription, completionHandler: block)
    }
    override func remove(_ store: NSPersistentStore) throws {
        log.add("remove")
        try super.remove(store)
    }
    override func persistentStore(for URL: URL) -> NSPersistentStore? {
        log.add("persistentStore")
        return super.persistentStore(for: URL)
    }
    override func url(for store: NSPersistentStore) -> URL {
        log.add("url")
        return super.url(for: store)
    }
    override func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        log.add("setURL")
        return false
    }
    override func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        log.add("managedObjectID")
        return super.managedObjectID(forURIRepresentation: url)
    }
    override func metadata(for store: NSPersistentStore) -> [String: Any] {
        log.add("metadata")
        return super.metadata(for: store)
    }
    override func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        log.add("setMetadata")
        super.setMetadata(metadata, for: store)
    }
    override func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        log.add("currentPersistentHistoryToken")
        return super.currentPersistentHistoryToken(fromStores: stores)
    }
    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        log.add("execute")
        return try super.execute(request, with: context)
    }
    override func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        log.add("destroyPersistentStore")
        try super.destroyPersistentStore(at: url, ofType: storeType, options: options)
    }
    override func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        log.add("replacePersistentStore")
        try super.replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: storeType)
    }
    override func perform(_ block: @escaping @Sendable () -> Void) {
        log.add("perform")
        super.perform(block)
    }
    override func performAndWait(_ block: () -> Void) {
        log.add("performAndWait")
        super.performAndWait(block)
    }
}

private final class OwnContainer: NSPersistentContainer, Logging, @unchecked Sendable {
    let log = CallLog()

    override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/dev/shm/open-methods") }
    override var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get {
            log.add("persistentStoreDescriptions")
            return super.persistentStoreDescriptions
        }
        set { super.persistentStoreDescriptions = newValue }
    }
    override func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        log.add("loadPersistentStores")
        super.loadPersistentStores(completionHandler: block)
    }
    override func newBackgroundContext() -> NSManagedObjectContext {
        log.add("newBackgroundContext")
        return super.newBackgroundContext()
    }
    override func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
        log.add("performBackgroundTask")
        super.performBackgroundTask(block)
    }
}

private final class OwnPolicy: NSMergePolicy, Logging, @unchecked Sendable {
    let log = CallLog()

    override func resolve(mergeConflicts list: [Any]) throws {
        log.add("mergeConflicts")
        try super.resolve(mergeConflicts: list)
    }
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        log.add("optimisticLockingConflicts")
        try super.resolve(optimisticLockingConflicts: list)
    }
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        log.add("constraintConflicts")
        try super.resolve(constraintConflicts: list)
    }
}

private final class OwnDescription: NSPersistentStoreDescription {
    override var type: String {
        get { NSInMemoryStoreType }
        set {}
    }
}

private final class OwnRequest: NSFetchRequest<Tag> {
    override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
