import CoreDataPrimitives
import CoreDataSQL

/// Takes part in every transaction that writes rows to a store, such as a history or search indexes: it can write more in the same
/// transaction, or refuse the rows.
///
/// ```
///  begin ─▶ per portion: willWrite ─ (checks, pairs removed) ─ willDelete ─ (rows, pairs written) ─ didWrite
///        ─▶ willEnd ─▶ results are known ─▶ finish (saves only) ─▶ commit
/// ```
/// A save is one portion, a batch request several. Whatever a hook throws rolls the transaction back and fails the save. Further
/// participants of a store are in ``StoreOptions/participants``; see docs/decisions/seams.md. A store without participants pays nothing for them.
package protocol SaveParticipant: Sendable {
    /// Makes what the participant keeps in the store, when the store has been opened for writing; by default nothing.
    ///
    /// - Throws: what opening the store is to fail with.
    func prepare(_ engine: StoreEngine) throws
    /// Begins the participant's part in a transaction; `nil` where it has none in this one.
    func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)?
    /// Forgets what was learned in a transaction that was rolled back, or may have been.
    func rolledBack(_ engine: StoreEngine)
}

/// A transaction in which participants take part.
package struct SaveTransaction {
    package let engine: StoreEngine
    /// The connection that writes; a participant's statements are in the same transaction.
    package let connection: any SQLConnection
    /// The author of a batch request; of a save its change set has it.
    package let origin: ChangeOrigin?
}

/// The rows that one run of the executor writes.
package struct SavePortion {
    package let changes: ChangeSet
    /// The same, by statement.
    let plan: SavePlan
}

/// The part of one participant in one transaction. Hooks are called on the writing thread, in the order of participants.
package protocol SaveParticipation {
    /// Whether it wants the keys of rows that one statement of a batch request changes; they are read for it.
    var wantsKeys: Bool { get }

    /// Nothing of the portion is written yet.
    func willWrite(_ portion: SavePortion) throws
    /// Rows that the portion deletes still exist; pairs of many-to-many relationships that it removes do not.
    func willDelete(_ portion: SavePortion) throws
    /// All rows and pairs of the portion are written; a server may not have said yet what came of that.
    func didWrite(_ portion: SavePortion) throws
    /// One statement of a batch request changes rows; called before or after it runs.
    ///
    /// - Parameter columns: those that an update sets.
    func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws

    /// A part of a batch request begins, which may be rolled back by itself. Such parts nest.
    func beginAttempt()
    func endAttempt(rolledBack: Bool)

    /// Everything is written; statements may still be added.
    func willEnd() throws
    /// The results of all statements of a save are known; what happens next is the commit. Not called for batch requests.
    func finish(_ outcome: inout SaveOutcome) throws
}

extension SaveParticipant {
    package func prepare(_ engine: StoreEngine) throws {}
    package func rolledBack(_ engine: StoreEngine) {}
}

extension SaveParticipation {
    package var wantsKeys: Bool { false }
    package func willWrite(_ portion: SavePortion) throws {}
    package func willDelete(_ portion: SavePortion) throws {}
    package func didWrite(_ portion: SavePortion) throws {}
    package func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {}
    package func beginAttempt() {}
    package func endAttempt(rolledBack: Bool) {}
    package func willEnd() throws {}
    package func finish(_ outcome: inout SaveOutcome) throws {}
}

extension StoreEngine {
    /// The parts that participants have in a transaction; none where the store has no participants.
    func participations(in connection: any SQLConnection, origin: ChangeOrigin? = nil) throws -> [any SaveParticipation]
    {
        guard !participants.isEmpty else { return [] }
        let transaction = SaveTransaction(engine: self, connection: connection, origin: origin)
        return try participants.compactMap { try $0.begin(transaction) }
    }

    /// Tells the participants that a transaction was rolled back, or may have been.
    func tellOfRollback() {
        for participant in participants { participant.rolledBack(self) }
    }
}
