import CoreDataPrimitives
import CoreDataSQL

/// Participates in every transaction that writes rows to a store, such as a history or search indexes: it can write
/// more in the same transaction, or refuse the rows.
///
/// ```
///  begin ─▶ per portion: willWrite ─ (checks, pairs removed) ─ willDelete ─ (rows, pairs written) ─ didWrite
///        ─▶ willEnd ─▶ results are known ─▶ finish (saves only) ─▶ commit
/// ```
/// A save is one portion, a batch request several. If a hook throws, the transaction rolls back and the save fails.
/// ``StoreOptions/participants`` contains further participants of a store; see docs/decisions/seams.md. A store without
/// participants has no overhead.
package protocol SaveParticipant: Sendable {
    /// Creates the participant's data in the store after the store was opened for writing; by default does nothing.
    ///
    /// - Throws: an error with which opening the store fails.
    func prepare(_ engine: StoreEngine) throws
    /// Begins the participant's part in a transaction; `nil` if it does not participate in this one.
    func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)?
    /// Discards cached data of a transaction that rolled back, or may have.
    func rolledBack(_ engine: StoreEngine)
}

/// A transaction in which participants take part.
package struct SaveTransaction {
    package let engine: StoreEngine
    /// The writing connection; a participant's statements run in the same transaction.
    package let connection: any SQLConnection
    /// The author of a batch request; for a save, its change set contains it.
    package let origin: ChangeOrigin?
}

extension SaveParticipant {
    package func prepare(_ engine: StoreEngine) throws {}
    package func rolledBack(_ engine: StoreEngine) {}
}

extension StoreEngine {
    /// Returns the participants' parts in a transaction; empty if the store has no participants.
    ///
    /// - Parameter check: makes the caller's own check of this transaction, which comes first.
    func participations(
        in connection: any SQLConnection, origin: ChangeOrigin? = nil,
        checkedBy check: ((any TransactionReading) -> any SaveParticipation)?
    ) throws -> [any SaveParticipation] {
        let own = check.map { [$0(TransactionReader(engine: self, connection: connection))] } ?? []
        guard !participants.isEmpty else { return own }
        let transaction = SaveTransaction(engine: self, connection: connection, origin: origin)
        return own + (try participants.compactMap { try $0.begin(transaction) })
    }

    /// Notifies the participants that a transaction rolled back, or may have.
    func notifyOfRollback() {
        for participant in participants { participant.rolledBack(self) }
    }
}
