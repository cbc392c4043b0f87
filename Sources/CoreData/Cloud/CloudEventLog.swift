import Foundation
import Synchronization

/// The events of one container, oldest first. It keeps the newest ones.
final class CloudEventLog: Sendable {
    private static let capacity = 1000

    private let contents = Mutex<[NSPersistentCloudKitContainer.Event]>([])

    /// Adds an event, or replaces it when it has ended.
    func record(_ event: NSPersistentCloudKitContainer.Event) {
        contents.withLock { events in
            if let index = events.lastIndex(where: { $0.identifier == event.identifier }) {
                events[index] = event
            } else {
                events.append(event)
                if events.count > Self.capacity { events.removeFirst(events.count - Self.capacity) }
            }
        }
    }

    var events: [NSPersistentCloudKitContainer.Event] { contents.withLock { $0 } }
}

/// The logs of containers by their coordinators, as long as the containers exist.
final class CloudEventLogs: Sendable {
    static let shared = CloudEventLogs()

    private struct Entry {
        weak var coordinator: NSPersistentStoreCoordinator?
        weak var log: CloudEventLog?
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    func add(_ log: CloudEventLog, of coordinator: NSPersistentStoreCoordinator) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.log != nil && $0.value.coordinator != nil }
            entries[ObjectIdentifier(coordinator)] = Entry(coordinator: coordinator, log: log)
        }
    }

    /// The events of the container that has the coordinator; `nil` if no cloud container has.
    func events(of coordinator: NSPersistentStoreCoordinator) -> [NSPersistentCloudKitContainer.Event]? {
        let log = entries.withLock { entries -> CloudEventLog? in
            guard let entry = entries[ObjectIdentifier(coordinator)], entry.coordinator === coordinator else {
                return nil
            }
            return entry.log
        }
        return log?.events
    }
}
