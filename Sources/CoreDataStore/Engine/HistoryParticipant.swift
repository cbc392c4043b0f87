import CoreDataPrimitives

/// Records the changes of each transaction in the store's history.
struct HistoryParticipant: SaveParticipant {
    func begin(_ transaction: SaveTransaction) throws -> (any SaveParticipation)? {
        HistoryParticipation(transaction)
    }

    func rolledBack(_ engine: StoreEngine) { engine.forgetHistoryKeys() }
}

/// One transaction of the history; it gets its number with the first changed row.
private final class HistoryParticipation: SaveParticipation {
    private let transaction: SaveTransaction
    /// The number of the history's transaction, after it was assigned.
    private var number: Int64?
    /// The numbers at the start of the current savepoints.
    private var numbersBefore: [Int64?] = []
    /// The writer of the portion's changes.
    private var writer: HistoryWriter?
    /// The number of changes that earlier portions wrote.
    private var writtenBefore = 0

    init(_ transaction: SaveTransaction) { self.transaction = transaction }

    var wantsKeys: Bool { true }

    func willWrite(_ portion: SavePortion) throws {
        let changes = portion.changes
        let count = changes.insertions.count + changes.updates.count + changes.deletions.count
        try begin(count, changes.origin, members: changes.changedMembers)
    }

    /// Reserves the numbers of that many changes, and makes their writer; does nothing for 0.
    private func begin(_ count: Int, _ origin: ChangeOrigin? = nil, members: [RowKey: IndexMask] = [:]) throws {
        writtenBefore += writer?.written ?? 0
        writer = nil
        guard count > 0 else { return }
        let made = try transaction.engine.historyWriter(
            number, of: count, origin ?? transaction.origin ?? ChangeOrigin(), transaction.connection,
            members: members)
        number = made.transaction
        writer = made
    }

    func willDelete(_ portion: SavePortion) throws {
        guard let writer else { return }
        try portion.plan.deletions.forEach(writer.note)
    }

    func didWrite(_ portion: SavePortion) throws {
        guard let writer else { return }
        try portion.plan.updates.forEach(writer.note)
        try portion.plan.insertions.forEach(writer.note)
    }

    func note(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {
        try begin(keys.count)
        guard let writer else { return }
        for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
            guard let layout = writer.tables.layout(of: entity) else { continue }
            let bits = kind == .update ? layout.bits(columns: columns, members: IndexMask()) : nil
            let table = try transaction.engine.saveTables.table(of: entity)
            try writer.note(kind, table, keys.count, bits: bits) { keys[$0].primaryKey }
        }
    }

    func beginAttempt() { numbersBefore.append(number) }

    func endAttempt(rolledBack: Bool) {
        guard let before = numbersBefore.popLast(), rolledBack else { return }
        number = before
    }

    func finish(_ outcome: inout SaveOutcome) throws {
        outcome.historyTransaction = try writer?.end(writtenBefore: writtenBefore)
    }
}
