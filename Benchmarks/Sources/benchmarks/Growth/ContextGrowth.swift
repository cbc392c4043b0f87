import CoreData
import Foundation
import Measuring
import Sides
import Synchronization

/// Many contexts that are alive on one container, and the threads that they cost.
struct ContextGrowth {
    let kind: GrowthKind
    let count: Int
    let stores: Stores

    private static let rows = 1000

    func work() throws -> () throws -> Lap {
        let side = CoreDataSide()
        try stores.prepare(.full, rows: Self.rows)
        let store = try stores.copy(.full, rows: Self.rows, for: "contexts")
        let container = try side.open(store)
        let threadsBefore = Machine.threads
        var mostThreads = 0
        return {
            let (seconds, contexts) = try Stopwatch.time {
                let contexts = (0..<count).map { _ in container.newBackgroundContext() }
                if kind == .contexts {
                    for context in contexts { try context.performAndWait { try Self.fetch(context) } }
                } else {
                    try ask(contexts)
                }
                return contexts
            }
            // Threads that have nothing to do stay for some seconds: all that the round needed are still there.
            mostThreads = max(mostThreads, Machine.threads - threadsBefore)
            withExtendedLifetime(contexts) {}
            return Lap(seconds: seconds, pieces: count, threads: mostThreads)
        }
    }

    private static func fetch(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.fetchLimit = 1
        guard try context.fetch(request).count == 1 else { throw MeasuringFailure("A context found nothing.") }
    }

    /// Asks all contexts at once and waits until each has fetched.
    private func ask(_ contexts: [NSManagedObjectContext]) throws {
        let group = DispatchGroup()
        let failure = LastFailure()
        for context in contexts {
            group.enter()
            context.perform {
                do { try Self.fetch(context) } catch { failure.note(error) }
                group.leave()
            }
        }
        group.wait()
        if let failure = failure.error { throw failure }
    }
}

/// What went wrong on some queue.
private final class LastFailure: Sendable {
    private let state = Mutex<(any Error)?>(nil)

    var error: (any Error)? { state.withLock { $0 } }

    func note(_ failure: any Error) { state.withLock { $0 = failure } }
}
