import CoreDataPrimitives
import CoreDataSQL

// Notifies participants of rows that one statement changes, for any number of rows.
extension BatchWriter {
    /// The number of keys per notification.
    private static let recordedPortion = 4096

    /// Records a change of each row that the query selects, before the statement changes it.
    func record(
        _ kind: HistoryKind, _ select: SelectStatement, of entity: Int, _ columns: IndexMask = IndexMask()
    ) throws {
        guard wantsKeys else { return }
        let statement = try connection.statement(select)
        defer { statement.reset() }
        var keys: [RowKey] = []
        keys.reserveCapacity(Self.recordedPortion)
        while try statement.step() {
            keys.append(engine.key(statement, at: 0, of: entity))
            guard keys.count == Self.recordedPortion else { continue }
            try record(kind, keys, columns)
            keys.removeAll(keepingCapacity: true)
        }
        try record(kind, keys, columns)
    }

    /// Records a change of each of the rows; `columns` are those that an update sets.
    func record(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {
        guard !keys.isEmpty else { return }
        for participation in participations where participation.wantsKeys {
            try participation.note(kind, keys, columns)
        }
    }

    /// Whether a participant needs the keys of rows that one statement changes.
    private var wantsKeys: Bool { participations.contains { $0.wantsKeys } }
}
