import CoreDataPrimitives
import CoreDataSQL

// What participants learn of rows that one statement changes, however many they are.
extension BatchWriter {
    /// So many keys are told at a time.
    private static let recordedPortion = 4096

    /// Tells of a change of each row that the query selects, and that is still as it was.
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

    /// Tells of a change of each of the rows; `columns` are those that an update sets.
    func record(_ kind: HistoryKind, _ keys: [RowKey], _ columns: IndexMask) throws {
        guard !keys.isEmpty else { return }
        for participation in participations where participation.wantsKeys {
            try participation.note(kind, keys, columns)
        }
    }

    /// Whether a participant is told the keys of rows that one statement changes.
    private var wantsKeys: Bool { participations.contains { $0.wantsKeys } }
}
