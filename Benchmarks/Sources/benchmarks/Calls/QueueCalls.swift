import CoreData
import Foundation
import Measuring
import Synchronization

/// A context's queue beside a queue of its kind without a context.
struct QueueCalls {
    private let context: NSManagedObjectContext
    private let queue = DispatchQueue(label: "bare", autoreleaseFrequency: .workItem)

    init(_ context: NSManagedObjectContext) { self.context = context }

    func pair(_ kind: CallKind) -> CallPair {
        kind == .performAndWait
            ? CallPair(ours: waitForContext, other: waitForQueue) : CallPair(ours: askContext, other: askQueue)
    }

    private func waitForContext(_ passes: Int) -> Double {
        var count = 0
        for _ in 0..<passes * CallMeasurement.rows { context.performAndWait { count += 1 } }
        return Double(count)
    }

    private func waitForQueue(_ passes: Int) -> Double {
        var count = 0
        for _ in 0..<passes * CallMeasurement.rows { queue.sync { count += 1 } }
        return Double(count)
    }

    private func askContext(_ passes: Int) -> Double {
        let context = context
        return Self.waiting {
            let counter = SharedCount()
            for _ in 0..<passes * CallMeasurement.rows { await context.perform { counter.add(1) } }
            return counter.value
        }
    }

    private func askQueue(_ passes: Int) -> Double {
        let queue = queue
        return Self.waiting {
            let counter = SharedCount()
            for _ in 0..<passes * CallMeasurement.rows {
                await withCheckedContinuation { continuation in
                    queue.async {
                        counter.add(1)
                        continuation.resume()
                    }
                }
            }
            return counter.value
        }
    }

    /// Does asynchronous work and waits for it.
    private static func waiting(_ work: @escaping @Sendable () async -> Int) -> Double {
        let done = DispatchSemaphore(value: 0)
        let count = SharedCount()
        Task.detached {
            count.add(await work())
            done.signal()
        }
        done.wait()
        return Double(count.value)
    }
}

/// A number that several threads count up.
private final class SharedCount: Sendable {
    private let atomic = Atomic(0)

    func add(_ number: Int) { atomic.add(number, ordering: .relaxed) }

    var value: Int { atomic.load(ordering: .relaxed) }
}
