import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// The reading half of a ``RowSource``: rows by fetch and by key, as a context sees them.
///
///     let row = try source.heldRow(7, root: item.root, staleness: -1)   // from memory, else from the store
///     try source.fetchRows(plan) { rows in … }
///
/// Sources that decorate another one conform to this protocol only: a context whose rows are those of a parent context or of a query
/// generation reads through its source and saves to the store's own ``RowSource``.
///
/// A source answers for one store and the entities of its configuration, which are named by their ordinals in the model. It
/// keeps the rows that contexts share, each at one version once: the caller holds what comes (see ``HeldRow``)
/// and gives it up to ``rowCache``. Safe to use from any thread.
package protocol ReadableSource: AnyObject, Sendable {
    /// The store's UUID.
    var identifier: String { get }
    /// The cache to which a reader gives up the rows that it held.
    var rowCache: RowCache { get }

    /// Whether the source has rows of that very entity.
    func includes(entity: Int) -> Bool
    /// The root of the entity's hierarchy, whose keys it shares.
    func root(ofEntity entity: Int) -> Int
    /// How rows name an entity that a to-one relationship leads to; 0 for one that is not here.
    func number(ofEntity entity: Int) -> Int64
    func entity(numbered number: Int64) -> Int?

    // MARK: Fetching

    /// The rows that the plan selects, whole and in its order, in portions; what is left in a portion is given up.
    ///
    /// - Throws: ``PredicateFailure`` for a predicate or a sort that cannot be answered, else what reading may throw.
    func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws
    /// The keys of the rows that the plan selects, in its order, each with its row's own entity.
    func keys(_ plan: FetchPlan) throws -> [RowKey]
    /// How many rows the plan selects; limit and offset count.
    func count(_ plan: FetchPlan) throws -> Int
    /// The columns' values of every row or group that the plan selects; a tuple is valid during its call only.
    func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws

    /// Runs `body`, whose reading on this thread fails once `isStopped` says so, in the middle of a statement too where the source can.
    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R

    /// The columns of the index that finds rows of the entity's table by words; `nil` where there is none.
    func wordColumns(ofEntity entity: Int) -> WordColumns?
    /// The rows that the plan selects and in which the words are found, the best first; `nil` without an index of all searched slots.
    func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches?

    // MARK: By key

    /// The row, `nil` where there is none: from memory if it is there and not older than `staleness` seconds (negative: any age).
    func heldRow(_ primaryKey: Int64, root: Int, staleness: Double) throws -> HeldRow?
    /// A place for each key, with the row that ``heldRow(_:root:staleness:)`` finds.
    func heldRows(_ primaryKeys: [Int64], root: Int, staleness: Double) throws -> RowList
    /// The row if it is in memory and not older than `staleness` seconds.
    func cachedRow(_ primaryKey: Int64, root: Int, staleness: Double) -> HeldRow?
    /// The rows of a to-many relationship's members for each of the owners, in the owners' order; ordered members in their
    /// order, others by primary key.
    func destinationRows(
        entity: Int, slot: Int, owners: [Int64]
    ) throws -> [(owner: Int64, rows: [RowSnapshot])]
    /// The row with the key of a to-one's destination, which a source that is asked for one thing after another may have left out (see
    /// ``RowSnapshot/isUnreadable(_:)``).
    func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot
    /// As ``row(_:withDestinationOf:)``, for rows of one entity where that costs no more than for one; else the rows are as they were.
    func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot]

    // MARK: Values

    /// The bytes of an external value, which a tuple has as it is stored, and a row where they could not be read (see
    /// ``RowSnapshot/isUnreadable(_:)``).
    ///
    /// - Throws: ``ExternalDataFailure`` where they cannot be read now.
    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data
    /// A row whose attribute is stored like that: to name it where only the value is at hand.
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

    /// As ``heldRow(_:root:staleness:)``, with a reference.
    package func row(_ primaryKey: Int64, root: Int, staleness: Double) throws -> RowSnapshot? {
        try heldRow(primaryKey, root: root, staleness: staleness)?.snapshot()
    }
}

/// What a source had at one moment: it can only be read. To read what is no longer kept is an error, and shows nothing newer.
package protocol FormerRows: ReadableSource {
    /// Whether both are of one moment.
    func isSame(as other: any FormerRows) -> Bool
    /// - Throws: where the rows are no longer kept.
    func checkKept() throws
}
