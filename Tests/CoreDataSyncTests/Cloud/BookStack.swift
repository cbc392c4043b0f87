import CoreData
import CoreDataToolkit
import Foundation
import Synchronization
import TestSupport

/// The stack of an app of 2013 on one device: a local store, a store in iCloud, and a stack that seeds the second from
/// the first.
final class BookStack: @unchecked Sendable {
    // Safe because a test uses it from one task, and notifications change what `state` guards.

    /// The notifications that arrived, in order.
    enum Note: Equatable {
        case willChange(NSPersistentStoreUbiquitousTransitionType?)
        case didChange(NSPersistentStoreUbiquitousTransitionType?, added: Int, removed: Int)
        case imported
    }

    let folder: URL
    let model = PersistenceController.model()
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext
    /// What the user chose in the settings.
    var iCloudEnabledByUser = true
    private(set) var localStore: NSPersistentStore?
    var localStoreOptions: [AnyHashable: Any]?
    private let state = Mutex(State())

    private struct State {
        var notes: [Note] = []
        var isUserInterfaceEnabled = true
        var observers: [Observer] = []
        var didImport: (@Sendable (BookStack) -> Void)?
    }

    private struct Observer: @unchecked Sendable {
        // Safe because nothing but its removal is done with it.
        let token: any NSObjectProtocol
    }

    init(_ folder: URL) {
        self.folder = folder
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
        listenForStoreChanges()
    }

    deinit {
        for observer in state.withLock({ $0.observers }) { NotificationCenter.default.removeObserver(observer.token) }
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }

    // MARK: Choosing the store

    var iCloudAccountIsSignedIn: Bool { FileManager.default.ubiquityIdentityToken != nil }
    var localStoreURL: URL { folder.appendingPathComponent("Local.sqlite") }
    var iCloudStoreURL: URL { folder.appendingPathComponent("iCloud.sqlite") }

    var iCloudOptions: [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreUbiquitousContentNameKey: "Grocery-Dude",
        ]
    }

    func ensureAppropriateStoreIsLoaded() throws {
        let isCloudWanted = iCloudEnabledByUser && iCloudAccountIsSignedIn
        if isCloudWanted == (localStore == nil), !coordinator.persistentStores.isEmpty { return }
        try resetCoreData()
        if isCloudWanted { try loadiCloudStore() } else { try loadLocalStore() }
    }

    func loadLocalStore() throws {
        localStore = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: localStoreURL, options: localStoreOptions)
    }

    func loadiCloudStore(_ change: (inout [AnyHashable: Any]) -> Void = { _ in }) throws {
        var options = iCloudOptions
        change(&options)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: iCloudStoreURL, options: options)
    }

    func resetCoreData() throws {
        context.performAndWait { context.reset() }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        localStore = nil
    }

    // MARK: Notifications

    private func listenForStoreChanges() {
        observe(.NSPersistentStoreCoordinatorStoresWillChange, BookStack.storesWillChange)
        observe(.NSPersistentStoreCoordinatorStoresDidChange, BookStack.storesDidChange)
        observe(.NSPersistentStoreDidImportUbiquitousContentChanges, BookStack.didImportUbiquitousContentChanges)
    }

    private func observe(
        _ name: NSNotification.Name, _ method: @escaping @Sendable (BookStack) -> (Notification) -> Void
    ) {
        let token = NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) {
            [weak self] notification in
            if let self { method(self)(notification) }
        }
        state.withLock { [observer = Observer(token: token)] in $0.observers.append(observer) }
    }

    private func transition(_ notification: Notification) -> NSPersistentStoreUbiquitousTransitionType? {
        (notification.userInfo?[NSPersistentStoreUbiquitousTransitionTypeKey] as? NSNumber)
            .flatMap { NSPersistentStoreUbiquitousTransitionType(rawValue: $0.uintValue) }
    }

    @Sendable private func storesWillChange(_ notification: Notification) {
        context.performAndWait {
            if context.hasChanges { try? context.save() }
            context.reset()
        }
        let note = Note.willChange(transition(notification))
        state.withLock {
            $0.isUserInterfaceEnabled = false
            $0.notes.append(note)
        }
    }

    @Sendable private func storesDidChange(_ notification: Notification) {
        guard let type = transition(notification) else { return }
        let added = notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore]
        let removed = notification.userInfo?[NSRemovedPersistentStoresKey] as? [NSPersistentStore]
        let note = Note.didChange(type, added: added?.count ?? 0, removed: removed?.count ?? 0)
        state.withLock {
            $0.isUserInterfaceEnabled = true
            $0.notes.append(note)
        }
    }

    @Sendable private func didImportUbiquitousContentChanges(_ notification: Notification) {
        context.performAndWait { context.mergeChanges(fromContextDidSave: notification) }
        didImport?(self)
        state.withLock { $0.notes.append(.imported) }
    }

    /// Called on the thread of the notification that changes were imported.
    var didImport: (@Sendable (BookStack) -> Void)? {
        get { state.withLock { $0.didImport } }
        set { state.withLock { $0.didImport = newValue } }
    }

    var notes: [Note] { state.withLock { $0.notes } }
    var isUserInterfaceEnabled: Bool { state.withLock { $0.isUserInterfaceEnabled } }

    func wait(for note: Note, count: Int = 1) async throws {
        try await Polling.suspend(until: "\(note): \(notes)") { notes.filter { $0 == note }.count >= count }
    }

    // MARK: Taming it

    /// Copies what was saved without iCloud into the store in iCloud, then removes the local store.
    func mergeNoniCloudDataWithiCloud() async throws {
        do {
            let seed = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try seed.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: localStoreURL,
                options: [NSReadOnlyPersistentStoreOption: true])
            try await DeepCopier(from: seed, to: coordinator, unique: ["Item": ["name"]]).copy(["Item"])
            try seed.remove(store)
        }
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: localStoreURL.path + end) }
    }

    /// Keeps the newest of the items of one name, on all devices the same one.
    func deDuplicate() async throws {
        try await Deduplicator(coordinator).removeDuplicates(
            of: "Item", by: "name", keeping: .newest(by: "modified"))
    }

    /// Removes the content from all devices.
    func destroyAlliCloudData() async throws {
        try resetCoreData()
        try await removeUbiquitousContent()
    }

    /// The call blocks its thread, and tasks have few.
    func removeUbiquitousContent() async throws {
        let url = iCloudStoreURL
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try NSPersistentStoreCoordinator.removeUbiquitousContentAndPersistentStore(
                            at: url, options: [NSPersistentStoreUbiquitousContentNameKey: "Grocery-Dude"])
                    })
            }
        }
    }

    // MARK: Items

    func add(_ name: String, modified: TimeInterval = 0, saves: Bool = true) throws {
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(name, forKey: "name")
            item.setValue(Date(timeIntervalSinceReferenceDate: modified), forKey: "modified")
            if saves { try context.save() }
        }
    }

    /// The names of all items, and how often each exists.
    func names() throws -> [String] {
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        return try reader.performAndWait {
            try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                .compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
    }

    func wait(for names: [String]) async throws {
        try await Polling.suspend(until: "\(names), not \((try? self.names()) ?? [])") { try self.names() == names }
    }
}
