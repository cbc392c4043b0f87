import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The source of a store's rows: the only interface through which a context reads and writes.
///
///     let outcome = try source.save(keys: [item.root: 2]) { keys in changes(withKeys: keys) }
///
/// Each optional capability has its own protocol (``BatchSource``, ``ExplainingSource``, ``CopyableSource``,
/// ``CopyTarget``, ``DeferringSource``, ``MovableSource``, ``WholeSource``, ``ObservableSource``). A caller asks for
/// the protocol, never for a concrete type.
package protocol RowSource: ReadableSource {
    /// Whether saves fail.
    var isReadOnly: Bool { get }
    /// The differences from a database in a file; constant while the source is open.
    var traits: SourceTraits { get }
    /// The clock of the times that the source records and compares.
    var clock: StoreClock { get }

    /// Whether saves are recorded in a history: then changes must contain their origin and the changed to-manys.
    var recordsHistory: Bool { get }
    /// The recorded history; `nil` for a source without one.
    var history: (any HistorySource)? { get }
    /// Calls `changed` after each write by any client to the underlying store; `nil` if no other client can write.
    func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)?

    // MARK: Saving

    /// Returns the columns of the single constraint of the entity's rows, if an existing row can absorb a new one with
    /// the same unique values, see ``ChangeSet/absorptions``; otherwise `nil`.
    func absorbs(entity: Int) -> IndexMask?
    /// Allocates primary keys that are never assigned again.
    func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64>
    /// Writes changes completely or not at all. `keys` contains the number of new primary keys for each root entity.
    /// `build` makes the changes with the keys; it is called once, while no other client can write. `beforeCommit` is
    /// called after everything was written, and the save rolls back if it throws; without it, a server needs one round
    /// trip less.
    ///
    /// - Throws: ``SaveFailure`` for rows that another writer has changed, and for unique values that exist already;
    ///   the errors of `build` and `beforeCommit`, else those of writing. The source is then unchanged.
    func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome
    /// Returns the order values of an ordered many-to-many relationship: those of the given pairs, and of all pairs of
    /// the given owners. `nil` for a source that does not provide them: then a change of the order assigns new ones to
    /// all pairs of the owner.
    func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]?
    /// Returns the store's current metadata.
    func metadata() throws -> MetadataRow

    /// Returns a snapshot of the current rows, which is valid while it is retained, regardless of later saves; `nil`
    /// for a source without snapshots.
    ///
    /// - Throws: if the maximum number of snapshots is retained.
    func pinned() throws -> (any SourceSnapshot)?

    /// Releases all resources; the source is unusable afterwards.
    func close()
}

/// The differences of a source from a database in a file that matter to contexts and copies.
package struct SourceTraits: Hashable, Sendable {
    /// Whether all rows are in memory: evaluating every object costs as much as any fetch.
    package var holdsAllRows = false
    /// Whether a save rewrites everything, which cannot roll back afterwards.
    package var writesWhole = false
    /// Whether a fetch returns only keys, and the values of an object are read on first access.
    package var readsRowsLater = false
    /// Whether reading many rows at once takes as long as reading one.
    package var readsManyRowsAtOnce = false
    /// Whether each statement costs a round trip.
    package var isRemote = false

    package init(
        holdsAllRows: Bool = false, writesWhole: Bool = false, readsRowsLater: Bool = false,
        readsManyRowsAtOnce: Bool = false, isRemote: Bool = false
    ) {
        self.isRemote = isRemote
        self.readsManyRowsAtOnce = readsManyRowsAtOnce
        self.holdsAllRows = holdsAllRows
        self.writesWhole = writesWhole
        self.readsRowsLater = readsRowsLater
    }
}

extension RowSource {
    package var traits: SourceTraits { SourceTraits() }
    package var clock: StoreClock { .system }
    package var recordsHistory: Bool { false }
    package func absorbs(entity: Int) -> IndexMask? { nil }
    package func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]? { nil }
    package var history: (any HistorySource)? { nil }
    package func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)? { nil }
    package func pinned() throws -> (any SourceSnapshot)? { nil }

    /// Saves to this source alone; see ``save(keys:build:beforeCommit:)``.
    @discardableResult
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet
    ) throws -> SaveOutcome {
        try save(keys: keys, build: build, beforeCommit: nil)
    }
}
