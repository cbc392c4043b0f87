import CoreDataStore
import Foundation
import Synchronization

/// What the stores of a coordinator had committed at one moment, for contexts and tokens to hold.
final class QueryGeneration: Sendable {
    let identifier = UUID()
    /// The stores that were there, by index.
    let stores: Set<Int32>
    /// The rows of those that keep a former state.
    let sources: [Int32: any FormerRows]

    /// - Throws: where a store keeps as many states as it may.
    init(of attached: [AttachedStore]) throws {
        stores = Set(attached.map(\.index))
        var sources: [Int32: any FormerRows] = [:]
        for store in attached {
            do { sources[store.index] = try store.target.pinned() } catch {
                throw CoreDataErrors.converted(error, store: store, context: nil)
            }
        }
        self.sources = sources
    }

    /// Whether both show the same.
    func isSame(as other: QueryGeneration) -> Bool {
        guard stores == other.stores, sources.count == other.sources.count, sources.count == stores.count else {
            return false
        }
        return sources.allSatisfy { index, rows in other.sources[index]?.isSame(as: rows) ?? false }
    }

    /// - Throws: where a state that it has is no longer kept.
    func check() throws {
        for rows in sources.values { try rows.checkKept() }
    }
}

/// The generations of a coordinator's stores that somebody holds.
final class QueryGenerations: Sendable {
    private struct Held {
        weak var generation: QueryGeneration?
    }

    /// Guards the list.
    private let held = Mutex<[Held]>([])

    /// The newest one: the one that is held already where it shows the same.
    func pin(_ stores: [AttachedStore]) throws -> QueryGeneration {
        let made = try QueryGeneration(of: stores)
        // Let go of outside the lock.
        var present: [QueryGeneration] = []
        return held.withLock { held in
            present = held.compactMap(\.generation)
            held.removeAll { $0.generation == nil }
            if let same = present.last(where: { $0.isSame(as: made) }) { return same }
            held.append(Held(generation: made))
            return made
        }
    }

    func generation(_ identifier: UUID) -> QueryGeneration? {
        let present = held.withLock { $0.compactMap(\.generation) }
        return present.first { $0.identifier == identifier }
    }
}
