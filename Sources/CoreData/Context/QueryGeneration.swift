import CoreDataStore
import Foundation
import Synchronization

/// The committed state of a coordinator's stores at one moment, held by contexts and tokens.
final class QueryGeneration: Sendable {
    let identifier = UUID()
    /// The stores that were there, by index.
    let stores: Set<Int32>
    /// The rows of the stores that keep former states.
    let sources: [Int32: any SourceSnapshot]

    /// - Throws: an error if a store already keeps its maximum number of states.
    init(of attached: [AttachedStore]) throws {
        stores = Set(attached.map(\.index))
        var sources: [Int32: any SourceSnapshot] = [:]
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

    /// - Throws: an error if one of its states is no longer kept.
    func check() throws {
        for rows in sources.values { try rows.checkKept() }
    }
}

/// The generations of a coordinator's stores that contexts or tokens hold.
final class QueryGenerations: Sendable {
    private struct Held {
        weak var generation: QueryGeneration?
    }

    /// Guards the list.
    private let held = Mutex<[Held]>([])

    /// Returns the newest generation: an existing one if it has the same state.
    func pin(_ stores: [AttachedStore]) throws -> QueryGeneration {
        let made = try QueryGeneration(of: stores)
        // Released outside the lock.
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
