import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Where the rows of a store come from and go to: the only way in which a context reads and writes.
///
///     let outcome = try source.save(keys: [item.root: 2]) { keys in changes(withKeys: keys) }
///
/// What only some sources can do is a protocol of its own beside this one (``BatchSource``, ``ExplainingSource``, ``CopyableSource``,
/// ``CopyTarget``, ``DeferringSource``, ``MovableSource``, ``WholeSource``, ``ObservableSource``); a caller asks for that
/// protocol, never for the type that conforms to it.
package protocol RowSource: ReadableSource {
    /// Whether a save must fail.
    var isReadOnly: Bool { get }
    /// How the source differs from a database in a file; the same for as long as it is open.
    var traits: SourceTraits { get }
    /// Where the times come from that the source records and compares.
    var clock: StoreClock { get }

    /// Whether saves are recorded: then changes tell who makes them, and which to-manys they change.
    var recordsHistory: Bool { get }
    /// What it can tell of changes that were recorded; `nil` for a source that records none.
    var history: (any HistorySource)? { get }
    /// Calls `changed` whenever somebody writes to what the rows stand on, here or elsewhere; `nil` where nobody else can.
    func watch(_ changed: @escaping @Sendable () -> Void) throws -> (any SourceWatch)?

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
    /// The order values of pairs of an ordered many-to-many relationship: of those pairs, and of all pairs of those owners. `nil` for a
    /// source that does not tell them: then a change of the order gives new ones to all pairs of the owner.
    func pairOrders(
        entity: Int, slot: Int, pairs: [MemberPair], owners: [Int64]
    ) throws -> [MemberPair: Int64]?
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

/// How a source differs from a database in a file, as far as contexts and copies go by it.
package struct SourceTraits: Hashable, Sendable {
    /// All rows are in memory: to look at an object for each costs what any fetch does.
    package var holdsAllRows = false
    /// A save writes everything anew, which cannot be rolled back once it is written.
    package var writesWhole = false
    /// A fetch finds keys only, and the values of an object are asked for when something of it is read.
    package var readsRowsLater = false
    /// Each statement costs a round trip.
    package var isRemote = false

    package init(
        holdsAllRows: Bool = false, writesWhole: Bool = false, readsRowsLater: Bool = false, isRemote: Bool = false
    ) {
        self.isRemote = isRemote
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
    package func pinned() throws -> (any FormerRows)? { nil }

    /// As ``save(keys:build:beforeCommit:)``, of this source alone.
    @discardableResult
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet
    ) throws -> SaveOutcome {
        try save(keys: keys, build: build, beforeCommit: nil)
    }
}
