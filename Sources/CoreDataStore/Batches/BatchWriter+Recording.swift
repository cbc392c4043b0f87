import CoreDataPrimitives
import CoreDataSQL

// What the history learns of rows that one statement changes, however many they are.
extension BatchWriter {
    /// So many changes are recorded by one look at the history's counters.
    private static let recordedPortion = 4096

    /// Records a change of each row that the query selects, and that is still as it was.
    func record(
        _ kind: HistoryKind, _ select: SelectStatement, of entity: Int, _ columns: IndexMask = IndexMask()
    ) throws {
        guard engine.tracksHistory else { return }
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
        guard let history = try history(of: keys.count) else { return }
        for (entity, keys) in Dictionary(grouping: keys, by: \.entity) {
            guard let layout = history.tables.layout(of: entity) else { continue }
            let bits = kind == .update ? layout.bits(columns: columns, members: IndexMask()) : nil
            try history.note(kind, engine.saveTables.table(of: entity), keys.count, bits: bits) { keys[$0].primaryKey }
        }
    }
}
