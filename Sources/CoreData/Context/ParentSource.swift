import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Reads a store through the parent context: each row in the parent's state, with unsaved changes.
///
/// ```
///  child ──▶ ParentSource ──▶ parent's queue ──▶ the parent's object, if it has one that changed
///                                            └─▶ else the parent's own source: a store, or its own parent
/// ```
/// Rows without unsaved changes are those that the topmost context reads: the newest, or those of its query generation.
/// A child's fetch goes through its parent's fetch (see ``NSManagedObjectContext/foundInParent(_:)``), and its save
/// through ``ParentSave``, which transfers more than rows. Therefore plans are passed on to the store.
final class ParentSource: ReadableSource {
    private unowned let parent: NSManagedObjectContext
    private let store: AttachedStore

    /// The child holds the parent; `store` is the coordinator's.
    init(parent: NSManagedObjectContext, store: AttachedStore) {
        self.parent = parent
        self.store = store
    }

    private var base: any ReadableSource { store.source }

    var identifier: String { base.identifier }
    var rowCache: RowCache { base.rowCache }

    func includes(entity: Int) -> Bool { base.includes(entity: entity) }
    func root(ofEntity entity: Int) -> Int { base.root(ofEntity: entity) }
    func number(ofEntity entity: Int) -> Int64 { base.number(ofEntity: entity) }
    func entity(numbered number: Int64) -> Int? { base.entity(numbered: number) }

    // MARK: Fetching, as the store or the parent's generation has it

    /// Read on the caller's thread: only to find out which rows they are takes the parent's queue.
    private func rows() throws -> any ReadableSource { try parent.committedRows(of: store) }

    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws { try rows().fetchRows(plan, take) }
    func keys(_ plan: FetchPlan) throws -> [RowKey] { try rows().keys(plan) }
    func count(_ plan: FetchPlan) throws -> Int { try rows().count(plan) }

    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try rows().stopping(when: isStopped, body)
    }

    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        try rows().forEachTuple(
            plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having, body)
    }

    func wordColumns(ofEntity entity: Int) -> WordColumns? { base.wordColumns(ofEntity: entity) }

    // MARK: By key

    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow? {
        try heldRows([primaryKey], root: root, staleness: staleness).take(0)
    }

    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList {
        try parent.runAndWait {
            try parent.heldRows(primaryKeys, root: root, in: store.index) { source, keys in
                try source.heldRows(keys, root: root, staleness: staleness)
            }
        }
    }

    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow? {
        let rows = try? parent.runAndWait {
            try parent.heldRows([primaryKey], root: root, in: store.index) { source, keys in
                let found = RowList()
                for key in keys { found.append(source.cachedRow(key, root: root, staleness: staleness)) }
                return found
            }
        }
        return rows?.take(0)
    }

    func destinationRows(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, rows: [RowSnapshot])] {
        try parent.runAndWait { try parent.memberRows(entity: entity, slot: slot, owners: owners, in: store.index) }
    }

    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot {
        try base.row(row, withDestinationOf: slot)
    }

    func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot] {
        try base.rows(rows, withDestinationsOf: slot)
    }

    // MARK: Values

    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { try base.bytes(ofStored: stored) }
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? {
        base.key(ofRowStoring: stored, slot: slot, entity: entity)
    }
}
