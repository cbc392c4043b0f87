import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Where the rows of a store come from and go to: the only way in which a context reads and writes.
///
///     let row = try source.heldRow(7, root: item.root, staleness: -1)   // from memory, else from the store
///     try source.fetchRows(plan) { rows in … }
///     let outcome = try source.save(keys: [item.root: 2]) { keys in changes(withKeys: keys) }
///
/// A source answers for one store and the entities of its configuration, which are named by their ordinals in the model. It
/// keeps the rows that contexts share, each at one version once: the caller holds what comes (see ``HeldRow``)
/// and are given up to ``rowCache``. Safe to use from any thread.
///
/// ``StoreEngine`` reads and writes an SQL database.
package protocol RowSource: AnyObject, Sendable {
    /// The store's UUID.
    var identifier: String { get }
    /// Whether a save must fail.
    var isReadOnly: Bool { get }
    /// What whoever held a row gives it up to.
    var rowCache: RowCache { get }

    /// Whether the source has rows of that very entity.
    func includes(entity: Int) -> Bool
    /// The root of the entity's hierarchy, whose keys it shares.
    func root(ofEntity entity: Int) -> Int
    /// How rows name an entity that a to-one relationship leads to; 0 for one that is not here.
    func number(ofEntity entity: Int) -> Int64
    func entity(numbered number: Int64) -> Int?

    /// Whether saves are recorded: then changes tell who makes them, and which to-manys they change.
    var recordsHistory: Bool { get }
    /// What it can tell of changes that were recorded; `nil` for a source that records none.
    var history: (any HistorySource)? { get }
    /// Calls `changed` whenever somebody writes to what the rows stand on, here or elsewhere; `nil` where nobody else can.
    func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)?

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
    /// The order values of pairs of an ordered many-to-many relationship: of those pairs, and of all pairs of those owners. `nil` for a
    /// source that does not tell them: then a change of the order gives new ones to all pairs of the owner.
    func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]?

    // MARK: Values

    /// The bytes of an external value, which a tuple has as it is stored, and a row where they could not be read (see
    /// ``RowSnapshot/isUnreadable(_:)``).
    ///
    /// - Throws: ``ExternalDataFailure`` where they cannot be read now.
    func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data
    /// A row whose attribute is stored like that: to name it where only the value is at hand.
    func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey?

    // MARK: Saving

    /// The columns of the one constraint of the entity's rows, where a row that has the values of a new one can take its other values, as
    /// ``ChangeSet/absorptions`` tells; `nil` where that cannot be.
    func absorbs(entity: Int) -> IndexMask?
    /// Reserves primary keys that are never given out again.
    func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64>
    /// Writes changes: all of them, or nothing. `keys` says how many new primary keys each root entity needs; `build` makes
    /// the changes with them and is called once, while nobody else can write. `beforeCommit` is called when everything is written
    /// and can still be taken back, which it is where that throws; to have none spares a way to a server.
    ///
    /// - Throws: ``SaveFailure`` for rows that another writer has changed and for unique values that are taken, what `build` and
    ///   `beforeCommit` throw, else what writing may throw. The source is then as it was.
    func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome
    /// The store's metadata as they are kept now.
    func metadata() throws -> MetadataRow

    /// The rows as they are now, whatever is saved later, for as long as somebody holds what is returned; `nil` for a source that
    /// cannot keep a former state.
    ///
    /// - Throws: where as many are held as may be.
    func pinned() throws -> (any FormerRows)?

    /// Lets go of everything; the source is unusable afterwards.
    func close()
}

/// What a source had at one moment: it can only be read. To read what is no longer kept is an error, and shows nothing newer.
package protocol FormerRows: RowSource {
    /// Whether both are of one moment.
    func isSame(as other: any FormerRows) -> Bool
    /// - Throws: where the rows are no longer kept.
    func checkKept() throws
}

extension RowSource {
    package var recordsHistory: Bool { false }
    package func absorbs(entity: Int) -> IndexMask? { nil }
    package func row(_ row: RowSnapshot, withDestinationOf slot: Int) throws -> RowSnapshot { row }
    package func rows(_ rows: [RowSnapshot], withDestinationsOf slot: Int) throws -> [RowSnapshot] { rows }
    package func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]? { nil }
    package var history: (any HistorySource)? { nil }
    package func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)? { nil }
    package func pinned() throws -> (any FormerRows)? { nil }
    package func wordColumns(ofEntity entity: Int) -> WordColumns? { nil }
    package func wordMatches(_ plan: FetchPlan, _ search: WordSearch) throws -> WordMatches? { nil }

    /// As ``save(keys:build:beforeCommit:)``, of this source alone.
    @discardableResult
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet
    ) throws -> SaveOutcome {
        try save(keys: keys, build: build, beforeCommit: nil)
    }

    /// As ``heldRow(_:root:staleness:)``, with a reference.
    package func row(_ primaryKey: Int64, root: Int, staleness: Double) throws -> RowSnapshot? {
        try heldRow(primaryKey, root: root, staleness: staleness)?.snapshot()
    }
}

extension RowSource {
    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try body()
    }
}
