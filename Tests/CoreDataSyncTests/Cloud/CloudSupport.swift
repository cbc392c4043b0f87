import CoreData
import CoreDataSync
import CoreDataSyncSimulation
import Foundation
import Synchronization
import TestSupport
import Testing

/// Tests under Apple's names: they register places for the whole process, so only one of them runs at a time.
@Suite(.serialized) struct CloudTests {}

/// The cloud of one test: a place in memory for each database. Everything is unregistered when the test ends.
///
/// Only the test retains it: a task that still runs when the test ends must not end the registration of the next one.
final class TestCloud: Sendable {
    let folder: TemporaryFolder
    private let places = TestPlaces()

    /// - Parameter account: the account that is signed in.
    init(account: String? = "anna") throws {
        folder = try TemporaryFolder()
        register(account: account)
    }

    deinit { CloudPlaces.unregister() }

    func register(account: String? = "anna") {
        var options = SyncOptions()
        options.interval = 0.5
        options.retryPause = 0.01
        CloudPlaces.register(account: account, device: "Test", options: options) { [places] in places[$0.path] }
    }

    /// The place of a database.
    func place(_ path: String) -> FaultyPlace { places[path] }

    /// The paths of the databases that were asked for.
    var paths: [String] { places.paths }

    /// Waits until a device has sent changes to a database.
    func waitForSegment() async throws {
        try await Polling.suspend(until: "a segment in the cloud") {
            for place in paths.map(place) {
                for folder in try await place.list(nil) {
                    if try await place.list(folder).contains(where: { $0.hasPrefix("segment-") }) { return true }
                }
            }
            return false
        }
    }
}

/// A place in memory for each path.
private final class TestPlaces: Sendable {
    private let places = Mutex<[String: FaultyPlace]>([:])

    subscript(path: String) -> FaultyPlace {
        places.withLock { places in
            let place = places[path] ?? FaultyPlace(MemoryPlace(), seed: 1)
            places[path] = place
            return place
        }
    }

    var paths: [String] { places.withLock { $0.keys.sorted() } }
}

/// The events of a container, as an app sees them.
final class EventRecorder: Sendable {
    typealias Event = NSPersistentCloudKitContainer.Event

    private let recorded = Mutex<[Event]>([])
    private let observation: Observation

    private struct Observation: @unchecked Sendable {
        // Safe because nothing but its removal is done with it.
        let token: any NSObjectProtocol
    }

    init(_ container: NSPersistentCloudKitContainer?) {
        let events = Box()
        observation = Observation(
            token: NotificationCenter.default.addObserver(
                forName: NSPersistentCloudKitContainer.eventChangedNotification, object: container, queue: nil
            ) { notification in
                let key = NSPersistentCloudKitContainer.eventNotificationUserInfoKey
                guard let event = notification.userInfo?[key] as? Event else { return }
                events.recorder?.recorded.withLock { $0.append(event) }
            })
        events.recorder = self
    }

    private final class Box: @unchecked Sendable {
        // Safe because it is set once, before the first event.
        weak var recorder: EventRecorder?
    }

    deinit { NotificationCenter.default.removeObserver(observation.token) }

    var all: [Event] { recorded.withLock { $0 } }

    /// The events that have ended.
    func ended(_ type: NSPersistentCloudKitContainer.EventType, succeeded: Bool? = nil) -> [Event] {
        all.filter { $0.type == type && $0.endDate != nil && (succeeded == nil || $0.succeeded == succeeded) }
    }

    func wait(
        for type: NSPersistentCloudKitContainer.EventType, succeeded: Bool = true, count: Int = 1
    ) async throws {
        try await Polling.suspend(until: "\(count) \(type) that \(succeeded ? "succeeded" : "failed"): \(all)") {
            ended(type, succeeded: succeeded).count >= count
        }
    }
}

/// What Xcode's template makes of an app with Core Data and CloudKit, with its store where the test wants it.
struct PersistenceController {
    let container: NSPersistentCloudKitContainer
    let events: EventRecorder

    init(_ url: URL, _ change: (NSPersistentStoreDescription) -> Void = { _ in }) throws {
        container = NSPersistentCloudKitContainer(name: "Shopping", managedObjectModel: Self.model())
        events = EventRecorder(container)
        container.persistentStoreDescriptions.first?.url = url
        container.persistentStoreDescriptions.forEach(change)
        try Self.load(container)
        container.viewContext.automaticallyMergesChangesFromParent = true
    }

    static func load(_ container: NSPersistentContainer) throws {
        let failure = Mutex<(any Error)?>(nil)
        container.loadPersistentStores { _, error in
            if let error { failure.withLock { $0 = error } }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    static func model() -> NSManagedObjectModel {
        ModelMaking.model(
            ModelMaking.entity(
                "Item", ModelMaking.attribute("name"), ModelMaking.attribute("note"),
                ModelMaking.attribute("modified", .dateAttributeType)))
    }

    @MainActor @discardableResult
    func add(_ name: String) throws -> NSManagedObject {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: container.viewContext)
        item.setValue(name, forKey: "name")
        try container.viewContext.save()
        return item
    }

    @MainActor
    func items() throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try container.viewContext.fetch(request)
    }

    @MainActor
    func names() throws -> [String] { try items().compactMap { $0.value(forKey: "name") as? String } }

    @MainActor
    func wait(for names: [String]) async throws {
        try await Polling.suspend(until: "\(names) in the view context") { try self.names() == names }
    }
}
