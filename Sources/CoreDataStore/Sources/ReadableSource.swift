import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// The reading part of a ``RowSource``: rows by fetch and by key, for contexts.
///
///     let row = try source.heldRow(7, root: item.root, staleness: -1)   // from memory, else from the store
///     try source.fetchRows(plan) { rows in … }
///
/// Sources that wrap another one conform only to this protocol. A context whose rows come from a parent context or a
/// query generation reads through its source, and saves to the store's own ``RowSource``.
///
/// A source represents one store and the entities of its configuration, which are identified by their ordinals in the
/// model. It caches the rows that contexts share, each version once: the caller holds the rows that it receives (see
/// ``HeldRow``) and releases them to ``rowCache``. It can be used from any thread.
package protocol ReadableSource: AnyObject, Sendable {
    /// The store's UUID.
    var identifier: String { get }
    /// The cache to which a reader releases its rows.
    var rowCache: RowCache { get }

    /// Returns whether the source has rows of exactly this entity.
    func includes(entity: Int) -> Bool
    /// Returns the root of the entity's hierarchy, whose keys it shares.
    func root(ofEntity entity: Int) -> Int
    /// Returns the entity number that rows contain for a to-one's destination; 0 if the entity is not in the source.
    func number(ofEntity entity: Int) -> Int64
    func entity(numbered number: Int64) -> Int?

    // MARK: Fetching

    /// Fetches the rows that the plan selects, whole and in its order, in portions; rows that remain in a portion are
    /// released.
    ///
    /// - Throws: ``PredicateFailure`` for an unsupported predicate or sort, else the errors of reading.
    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws
    /// Returns the keys of the rows that the plan selects, in its order, each with its row's own entity.
    func keys(_ plan: FetchPlan) throws -> [RowKey]
    /// Returns the number of rows that the plan selects, considering limit and offset.
    func count(_ plan: FetchPlan) throws -> Int
    /// Calls a closure with the columns' values of every row or group that the plan selects; a tuple is valid only
    /// during its call.
    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws

    /// Runs `body`. Reads on this thread fail after `isStopped` returns true, also within a statement if the source
    /// supports it.
    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R

    /// Returns the columns of the word index of the entity's table; `nil` if there is none.
    func wordColumns(ofEntity entity: Int) -> WordColumns?
    /// Returns the plan's rows that contain the words, best first; `nil` without an index on all searched slots.
    func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches?

    // MARK: Rows by key

    /// Returns the row, `nil` if there is none: from memory if it is cached and at most `staleness` seconds old
    /// (negative: any age).
    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow?
    /// Returns a list with a position for each key, with the row that ``heldRow(_:root:staleness:)`` finds.
    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList
    /// Returns the row if it is cached and at most `staleness` seconds old.
    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow?
    /// Returns the rows of a to-many relationship's members for each of the owners, in the owners' order; ordered
    /// members in their order, others by primary key.
    func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])]
    /// Returns the row with the key of a to-one's destination. A source that reads properties on demand may have
    /// omitted it (see ``RowSnapshot/isUnreadable(_:)``).
    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot
    /// Returns the rows like ``row(_:withDestinationOf:)``, for rows of one entity, if that costs no more than for one;
    /// otherwise unchanged.
    func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot]

    // MARK: Values

    /// Returns the bytes of an external value. A tuple contains it in its stored form, and so does a row if the file
    /// could not be read (see ``RowSnapshot/isUnreadable(_:)``).
    ///
    /// - Throws: ``ExternalDataFailure`` if the file cannot be read now.
    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data
    /// Returns a row whose attribute has this stored value, to name it in a message if only the value is known.
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey?
}

extension ReadableSource {
    package func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot { row }
    package func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot] { rows }
    package func wordColumns(ofEntity entity: Int) -> WordColumns? { nil }
    package func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? { nil }

    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try body()
    }

    /// Returns the row as a reference; see ``heldRow(_:root:staleness:)``.
    package func row(_ primaryKey: Int64, root: Int, staleness: Double) throws -> RowSnapshot? {
        try heldRow(primaryKey, root: root, staleness: staleness)?.snapshot()
    }
}

/// A read-only snapshot of a source. Reading a snapshot that no longer exists is an error, and never returns newer
/// data.
package protocol SourceSnapshot: ReadableSource {
    /// Returns whether both are snapshots of the same moment.
    func isSame(as other: any SourceSnapshot) -> Bool
    /// - Throws: if the snapshot no longer exists.
    func checkKept() throws
}
