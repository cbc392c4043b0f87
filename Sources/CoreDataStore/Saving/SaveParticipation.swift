import CoreDataPrimitives

/// The rows of one run of the executor.
package struct SavePortion {
    package let changes: ChangeSet
    /// The same rows, by statement.
    let plan: SavePlan
}

/// The part of one participant in one transaction. Hooks are called on the writing thread, in the order of
/// participants.
package protocol SaveParticipation {
    /// Whether it needs the keys of rows that one statement of a batch request changes; they are then read.
    var wantsKeys: Bool { get }

    /// Called before the portion is written.
    func willWrite(_ portion: SavePortion) throws
    /// Called while rows that the portion deletes still exist; removed pairs of many-to-many relationships no longer
    /// do.
    func willDelete(_ portion: SavePortion) throws
    /// Called after all rows and pairs of the portion were written; on a server, results may still be pending.
    func didWrite(_ portion: SavePortion) throws
    /// Called before or after one statement of a batch request changes rows.
    ///
    /// - Parameter columns: the columns that an update sets.
    func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws

    /// Called when a part of a batch request begins that may roll back separately. Such parts can be nested.
    func beginAttempt()
    func endAttempt(rolledBack: Bool)

    /// Called after everything was written; further statements may be added.
    func willEnd() throws
    /// Called after the results of all statements of a save are known, directly before the commit. Not called for batch
    /// requests.
    func finish(_ outcome: inout SaveOutcome) throws
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
