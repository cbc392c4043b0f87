import Foundation
import Synchronization

/// A container whose stores synchronise with other devices.
///
///     // import CoreDataSync, when the program starts:
///     CloudPlaces.register(folder: URL(fileURLWithPath: "/home/anna/Sync"))
///
///     let container = NSPersistentCloudKitContainer(name: "Groceries")
///     container.loadPersistentStores { description, error in
///         if let error { fatalError("\(description): \(error)") }
///     }
///     container.viewContext.automaticallyMergesChangesFromParent = true
///
/// Stores whose description has ``NSPersistentStoreDescription/cloudKitContainerOptions`` synchronise; the default
/// description has. They record their history. Other stores are those of any container.
///
/// Differs from Apple: there is no CloudKit. `CloudPlaces` of the module `CoreDataSync` says where devices leave files
/// for each other: a folder, for example. Without such a place, or without an account, the stores are local ones, and
/// an event of the type ``EventType/setup`` has error 134400. Methods with types of CloudKit do not exist: see
/// docs/differences-from-apple.md.
open class NSPersistentCloudKitContainer: NSPersistentContainer, @unchecked Sendable {
    // Safe because `state` guards what changes.

    /// Posted when an ``Event`` begins and when it has ended, on any thread. Object: the container.
    ///
    ///     let observer = NotificationCenter.default.addObserver(
    ///         forName: NSPersistentCloudKitContainer.eventChangedNotification, object: container, queue: .main
    ///     ) { notification in
    ///         let key = NSPersistentCloudKitContainer.eventNotificationUserInfoKey
    ///         guard let event = notification.userInfo?[key] as? NSPersistentCloudKitContainer.Event else { return }
    ///         print(event.type, event.endDate == nil ? "begins" : event.succeeded ? "succeeded" : "failed")
    ///     }
    public static let eventChangedNotification = NSNotification.Name(
        "NSPersistentCloudKitContainerEventChangedNotification")
    /// The key of the ``Event`` in the user info of ``eventChangedNotification``.
    public static let eventNotificationUserInfoKey = "event"

    private struct CloudStore {
        weak var store: NSPersistentStore?
        var options: NSPersistentCloudKitContainerOptions
        var mirror: (any CloudMirror)?
    }

    private struct State {
        var stores: [CloudStore] = []
        var observer: Int?
    }

    private let state = Mutex(Transfer(State()))
    private let log = CloudEventLog()

    deinit {
        let last = state.withLock { $0 }.value
        last.observer.map(CloudServices.shared.removeObserver)
        for store in last.stores { store.mirror?.stop() }
    }

    // MARK: Loading

    override func makeDefaultDescription() -> NSPersistentStoreDescription {
        let description = super.makeDefaultDescription()
        description.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(
            containerIdentifier: Self.defaultIdentifier)
        return description
    }

    /// The identifier of the container of descriptions that name none: `iCloud.` and the bundle identifier, or the
    /// program's name.
    package static var defaultIdentifier: String {
        let program = URL(fileURLWithPath: CommandLine.arguments.first ?? "CoreData").lastPathComponent
        return "iCloud." + (Bundle.main.bundleIdentifier ?? program)
    }

    override func load(
        _ description: NSPersistentStoreDescription,
        _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        guard let options = description.cloudKitContainerOptions else { return loadLocalStore(description, block) }
        do {
            try CloudServices.shared.provider?.check(managedObjectModel, configuration: description.configuration)
        } catch {
            note(.init(.setup, ofStore: "", at: now), endingWith: error)
            return block(description, error)
        }
        recordHistory(of: description)
        super.load(description) { [weak self] description, error in
            if error == nil, let self, let store = self.store(of: description) { self.mirror(store, options) }
            block(description, error)
        }
    }

    /// A store that synchronised before has a history: it would be read-only without recording it.
    private func loadLocalStore(
        _ description: NSPersistentStoreDescription,
        _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        super.load(description) { [weak self] description, error in
            guard error == nil, description.options[NSPersistentHistoryTrackingKey] == nil, let self,
                let store = self.store(of: description), store.readOnlyReason != nil
            else { return block(description, error) }
            do {
                try self.persistentStoreCoordinator.remove(store)
            } catch { return block(description, error) }
            self.recordHistory(of: description)
            self.loadAgain(description, block)
        }
    }

    private func loadAgain(
        _ description: NSPersistentStoreDescription,
        _ block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) { super.load(description, block) }

    private func recordHistory(of description: NSPersistentStoreDescription) {
        // Files that are written as a whole have no history: they are compared.
        guard description.options[NSPersistentHistoryTrackingKey] == nil,
            ![NSXMLStoreType, NSBinaryStoreType].contains(description.type)
        else { return }
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
    }

    private func store(of description: NSPersistentStoreDescription) -> NSPersistentStore? {
        let coordinator = persistentStoreCoordinator
        if let url = description.url, !url.isNullDevice, let store = coordinator.persistentStore(for: url) {
            return store
        }
        // Stores in memory have no URL of their own.
        let known = state.withLock { Transfer($0.value.stores.compactMap(\.store)) }.value
        return coordinator.persistentStores.last { store in !known.contains { $0 === store } }
    }

    // MARK: Synchronising

    private func mirror(_ store: NSPersistentStore, _ options: NSPersistentCloudKitContainerOptions) {
        let added = CloudStore(store: store, options: options, mirror: nil)
        let isFirst = change { state in
            state.stores.removeAll { $0.store?.persistentStoreCoordinator == nil }
            state.stores.append(added)
            return state.observer == nil
        }
        CloudEventLogs.shared.add(log, of: persistentStoreCoordinator)
        if isFirst {
            let observer = CloudServices.shared.observe { [weak self] in self?.restartMirrors() }
            change { $0.observer = observer }
        }
        startMirror(of: added)
    }

    /// Begins to synchronise all stores anew: there is another provider.
    private func restartMirrors() {
        let stores = change { state in
            state.stores.removeAll { $0.store?.persistentStoreCoordinator == nil }
            return state.stores
        }
        for known in stores {
            known.mirror?.stop()
            startMirror(of: known)
        }
    }

    private func startMirror(of known: CloudStore) {
        guard let store = known.store else { return }
        guard let provider = CloudServices.shared.provider else {
            let error = CloudServices.missingProvider()
            CoreDataLog.general.warning("\(store.shownName): \(error.localizedDescription)")
            return note(.init(.setup, ofStore: store.identifier, at: now), endingWith: error)
        }
        let mirror = provider.mirror(store, of: persistentStoreCoordinator, known.options) { [weak self] event in
            self?.note(event)
        }
        let former = change { state -> (any CloudMirror)? in
            guard let index = state.stores.firstIndex(where: { $0.store === store }) else { return nil }
            defer { state.stores[index].mirror = mirror }
            return state.stores[index].mirror
        }
        former?.stop()
    }

    @discardableResult
    private func change<R>(_ body: (inout State) -> R) -> R {
        state.withLock { known -> Transfer<R> in
            var changed = known.value
            let result = Transfer(body(&changed))
            known = Transfer(changed)
            return result
        }.value
    }

    /// The synchronisation of a store; `nil` for a local one.
    package func mirror(of store: NSPersistentStore) -> (any CloudMirror)? {
        state.withLock { Transfer($0.value.stores.first { $0.store === store }?.mirror) }.value
    }

    // MARK: Events

    private var now: Date { Date(timeIntervalSinceReferenceDate: persistentStoreCoordinator.clock.now) }

    private func note(_ event: Event, endingWith error: any Error) {
        note(event)
        note(event.ended(at: event.startDate, error))
    }

    private func note(_ event: Event) {
        log.record(event)
        NotificationCenter.default.post(
            name: Self.eventChangedNotification, object: self, userInfo: [Self.eventNotificationUserInfoKey: event])
    }

    // MARK: Permissions

    /// Whether changes of objects of the store can reach other devices; true for a store that does not synchronise.
    ///
    /// It is false for a read-only store, and if the place cannot be written to: a folder without permission, or a
    /// read-only volume. Before anything was sent this is not known, and the answer is true.
    open func canModifyManagedObjects(in store: NSPersistentStore) -> Bool {
        !store.isReadOnly && mirror(of: store)?.canWrite ?? true
    }

    /// Whether a change of the object can reach other devices; see ``canModifyManagedObjects(in:)``.
    ///
    /// True for an object that is not saved yet.
    open func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
        objectID.persistentStore.map(canModifyManagedObjects(in:)) ?? true
    }

    /// Whether the deletion of the object can reach other devices; see ``canModifyManagedObjects(in:)``.
    ///
    /// True for an object that is not saved yet.
    open func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool {
        canUpdateRecord(forManagedObjectWith: objectID)
    }

    // MARK: The schema

    /// Checks the model, and that the places of the stores answer.
    ///
    ///     #if DEBUG
    ///         try container.initializeCloudKitSchema(options: [.printSchema])
    ///     #endif
    ///
    /// Logs what CloudKit would refuse of the model, as warnings: ``cloudKitSchemaProblems`` has the same lines. These
    /// are no errors here.
    ///
    /// Differs from Apple: a place needs no schema, so nothing is written. Blocks the thread until the places have
    /// answered.
    ///
    /// - Throws: 134400 without a place or an account. 134060 if the model cannot synchronise here, with one line for
    ///   each reason. The place's own error if it does not answer, unless the options contain
    ///   ``NSPersistentCloudKitContainerSchemaInitializationOptions/dryRun``.
    open func initializeCloudKitSchema(
        options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
    ) throws {
        let problems = cloudKitSchemaProblems
        for problem in problems { CoreDataLog.general.warning("CloudKit would refuse this model: \(problem)") }
        let stores = state.withLock { $0 }.value.stores
        let configurations = Set(stores.compactMap { $0.store?.configurationName })
        if options.contains(.printSchema) {
            for line in CloudKitModelRules.outline(of: managedObjectModel) { CoreDataLog.general.notice("\(line)") }
        }
        guard let provider = CloudServices.shared.provider else { throw CloudServices.missingProvider() }
        for name in configurations { try provider.check(managedObjectModel, configuration: name) }
        if configurations.isEmpty { try provider.check(managedObjectModel, configuration: nil) }
        if options.contains(.dryRun) { return }
        for store in stores { try store.mirror?.checkPlace() }
    }

    /// What CloudKit would refuse of the model, one line for each reason; empty for a model that also synchronises on
    /// Apple's platforms.
    ///
    /// The synchronisation here supports all of this: uniqueness constraints, required properties and relationships,
    /// ordered relationships, relationships without inverses, and delete rule Deny.
    ///
    /// - Note: This has no counterpart in Apple's framework.
    public final var cloudKitSchemaProblems: [String] { CloudKitModelRules.problems(of: managedObjectModel) }
}

/// What ``NSPersistentCloudKitContainer/initializeCloudKitSchema(options:)`` does.
public struct NSPersistentCloudKitContainerSchemaInitializationOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Checks the model only, and asks no place.
    public static let dryRun = Self(rawValue: 1 << 1)
    /// Logs the entities and their properties.
    public static let printSchema = Self(rawValue: 1 << 2)
}
