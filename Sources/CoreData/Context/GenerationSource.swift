import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Which generation a context reads.
///
/// ```
///              setQueryGenerationFrom(.current)              first read
///    newest ─────────────────────────────────▶ at next read ───────────▶ pinned
///      ▲                                          ▲                        │ save, merge, reset
///      │ setQueryGenerationFrom(nil)              └────────────────────────┘
/// ```
final class GenerationReader {
    enum State {
        case newest
        case atNextRead
        case pinned(QueryGeneration)
    }

    // They belong to the context's queue.
    var state = State.newest
    private weak var context: NSManagedObjectContext?

    init(_ context: NSManagedObjectContext) { self.context = context }

    var isPinned: Bool {
        if case .newest = state { return false }
        return true
    }

    /// Returns the generation to read, and pins it if it is not pinned yet; `nil` if the newest rows are read.
    func generation() throws -> QueryGeneration? {
        switch state {
        case .newest: return nil
        case .pinned(let generation): return generation
        case .atNextRead:
            guard let coordinator = context?.coordinator else { return nil }
            let generation = try coordinator.generations.pin(coordinator.attachedStores)
            state = .pinned(generation)
            return generation
        }
    }

    /// Moves to the newest generation at the next read.
    func advance() { if case .pinned = state { state = .atNextRead } }
}

/// Reads a store in the generation to which a context is pinned; saves go to the store itself.
///
/// A store that keeps no former states is read in its current state.
final class GenerationSource: ReadableSource {
    private let reader: Transfer<GenerationReader>
    private let base: any ReadableSource
    private let index: Int32

    init(_ reader: GenerationReader, _ store: AttachedStore) {
        self.reader = Transfer(reader)
        base = store.source
        index = store.index
    }

    private func source() throws -> any ReadableSource {
        try reader.value.generation()?.sources[index] ?? base
    }

    var identifier: String { base.identifier }
    var rowCache: RowCache { base.rowCache }

    func includes(entity: Int) -> Bool { base.includes(entity: entity) }
    func root(ofEntity entity: Int) -> Int { base.root(ofEntity: entity) }
    func number(ofEntity entity: Int) -> Int64 { base.number(ofEntity: entity) }
    func entity(numbered number: Int64) -> Int? { base.entity(numbered: number) }

    // MARK: Reading, from the generation

    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws { try source().fetchRows(plan, take) }
    func keys(_ plan: FetchPlan) throws -> [RowKey] { try source().keys(plan) }
    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot {
        try source().row(row, withDestinationOf: slot)
    }

    func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot] {
        try source().rows(rows, withDestinationsOf: slot)
    }

    func count(_ plan: FetchPlan) throws -> Int { try source().count(plan) }

    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try source().stopping(when: isStopped, body)
    }

    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        try source().forEachTuple(
            plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having, body)
    }

    func wordColumns(ofEntity entity: Int) -> WordColumns? { base.wordColumns(ofEntity: entity) }
    func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? {
        try source().wordMatches(plan, search)
    }

    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        try source().heldRow(primaryKey, root: root, staleness: staleness)
    }

    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        try source().heldRows(primaryKeys, root: root, staleness: staleness)
    }

    /// What contexts share may be newer.
    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        reader.value.isPinned ? nil : base.cachedRow(primaryKey, root: root, staleness: staleness)
    }

    func destinationRows(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        try source().destinationRows(entity: entity, slot: slot, owners: owners)
    }

    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { try base.bytes(ofStored: stored) }
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? {
        base.key(ofRowStoring: stored, slot: slot, entity: entity)
    }
}
