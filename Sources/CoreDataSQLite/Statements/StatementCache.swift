/// A cache of prepared statements by text, which evicts the least recently used ones.
struct StatementCache {
    private final class Entry {
        let sql: String
        var statement: SQLiteStatement
        var lastUse: Int

        init(_ sql: String, _ statement: SQLiteStatement, lastUse: Int) {
            self.sql = sql
            self.statement = statement
            self.lastUse = lastUse
        }
    }

    private let capacity: Int
    private var entries: [String: Entry] = [:]
    /// The most recent entries: a loop requests the same few statements again with the same string instance, whose
    /// equality is detected without comparing characters. Hashing a text takes as long as reading a row's values.
    private var recent: [Entry] = []
    private static let recentCount = 6
    private var clock = 0

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// Returns the cached statement, if it is not in use.
    mutating func statement(_ sql: String) -> SQLiteStatement? {
        guard let entry = entry(sql) else { return nil }
        // A client with a reference may still bind and step it; it keeps the statement, and the cache prepares another.
        guard isKnownUniquelyReferenced(&entry.statement) else { return nil }
        clock += 1
        entry.lastUse = clock
        entry.statement.reset()
        return entry.statement
    }

    private mutating func entry(_ sql: String) -> Entry? {
        for entry in recent where entry.sql == sql { return entry }
        guard let entry = entries[sql] else { return nil }
        remember(entry)
        return entry
    }

    mutating func insert(_ statement: SQLiteStatement, for sql: String) {
        if entries.count >= capacity, entries[sql] == nil,
            let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            entries.removeValue(forKey: oldest.key)
            recent.removeAll { $0 === oldest.value }
        }
        clock += 1
        let entry = Entry(sql, statement, lastUse: clock)
        if let replaced = entries.updateValue(entry, forKey: sql) { recent.removeAll { $0 === replaced } }
        remember(entry)
    }

    mutating func removeAll() {
        entries.removeAll()
        recent.removeAll()
    }

    private mutating func remember(_ entry: Entry) {
        if recent.count == Self.recentCount { recent.removeLast() }
        recent.insert(entry, at: 0)
    }
}
