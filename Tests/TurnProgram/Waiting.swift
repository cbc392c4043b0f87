import CoreData
import Foundation
import Synchronization

/// What has happened, on whatever thread.
private final class Seen: Sendable {
    private let events = Mutex<[String]>([])

    func add(_ event: String) { events.withLock { $0.append(event) } }
    func has(_ event: String) -> Bool { events.withLock { $0.contains(event) } }
}

/// Turns the run loop until the event has come, as XCTest does that waits for an expectation, and prints which it was.
@MainActor private func wait(for event: String, _ seen: Seen) {
    let end = Date(timeIntervalSinceNow: 10)
    while !seen.has(event), Date() < end {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
    }
    print(seen.has(event) ? event : "no \(event)")
}

@MainActor func showWaiting() throws -> Never {
    try waitForMainContext(isNested: false)
    exit(EXIT_SUCCESS)
}

@MainActor func showWaitingInMainQueue() {
    DispatchQueue.main.async {
        do { try waitForMainContext(isNested: true) } catch { print(error) }
        exit(EXIT_SUCCESS)
    }
    RunLoop.main.run()
}

/// Waits on the main thread for what a main context does: a merge by notification, an asynchronous fetch, the end of a turn.
///
/// `isNested` says that a block of the main queue waits: then that queue runs no other block.
@MainActor private func waitForMainContext(isNested: Bool) throws {
    let coordinator = try makeCoordinator()
    let view = NSManagedObjectContext(.mainQueue)
    view.persistentStoreCoordinator = coordinator
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    let (center, seen) = (NotificationCenter.default, Seen())
    var tokens: [any NSObjectProtocol] = []

    tokens.append(
        center.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: nil) { note in
            nonisolated(unsafe) let note = note
            view.perform {
                view.mergeChanges(fromContextDidSave: note)
                seen.add("merged by perform")
            }
        })
    if !isNested {
        tokens.append(
            center.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: .main) { note in
                view.mergeChanges(fromContextDidSave: note)
                seen.add("merged on the main queue")
            })
    }
    other.perform {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: other).setValue("a", forKey: "text")
        try? other.save()
        seen.add("saved")
    }
    wait(for: "merged by perform", seen)
    if !isNested { wait(for: "merged on the main queue", seen) }
    wait(for: "saved", seen)

    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    try view.execute(
        NSAsynchronousFetchRequest(fetchRequest: request) { seen.add("fetched \($0.finalResult?.count ?? -1)") })
    wait(for: "fetched 1", seen)

    tokens.append(
        center.addObserver(forName: .NSManagedObjectContextObjectsDidChange, object: view, queue: nil) { _ in
            seen.add("changed")
        })
    NSEntityDescription.insertNewObject(forEntityName: "Note", into: view).setValue("b", forKey: "text")
    wait(for: "changed", seen)
    tokens.forEach(center.removeObserver)
}
