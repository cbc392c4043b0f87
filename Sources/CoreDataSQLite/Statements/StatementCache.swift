/// Prepared statements by their text, the least recently used of which go first.
struct StatementCache {
    private struct Entry {
        var statement: SQLiteStatement
        var lastUse: Int
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]
    private var clock = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The statement, if there is one that nobody holds.
    mutating func statement(_ sql: String) -> SQLiteStatement? {
        guard let index = entries.index(forKey: sql) else { return nil }
        // Whoever still has a reference may bind and step; it keeps the statement and the cache gets another.
        guard isKnownUniquelyReferenced(&entries.values[index].statement) else { return nil }
        clock += 1
        entries.values[index].lastUse = clock
        let statement = entries.values[index].statement
        statement.reset()
        return statement
    }

    mutating func insert(_ statement: SQLiteStatement, for sql: String) {
        if entries.count >= capacity, entries[sql] == nil,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries.removeValue(forKey: oldest.key)
        }
        clock += 1
        entries[sql] = Entry(statement: statement, lastUse: clock)
    }

    mutating func removeAll() { entries.removeAll() }
}
