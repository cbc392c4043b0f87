/// A cache of a session's statements by text, with a limit.
struct StatementTable {
    final class Entry {
        var statement: PostgreSQLStatement
        fileprivate var lastUse = 0
        init(_ statement: PostgreSQLStatement) { self.statement = statement }
    }

    /// A recent text, identified by its address: it is retained, so the same address means the same text.
    private struct Recent {
        var sql: String
        var entry: Entry
    }

    private static let limit = 256
    private static let recentCount = 64

    private var entries: [String: Entry] = [:]
    private var recent = [Recent?](repeating: nil, count: recentCount)
    private var clock = 0

    mutating func entry(_ sql: String) -> Entry? {
        clock += 1
        let place = Self.place(sql)
        if let recent = recent[place], Self.identity(recent.sql) == Self.identity(sql) {
            recent.entry.lastUse = clock
            return recent.entry
        }
        guard let entry = entries[sql] else { return nil }
        entry.lastUse = clock
        recent[place] = Recent(sql: sql, entry: entry)
        return entry
    }

    /// - Returns: the least recently used statement, if the limit was exceeded: it was evicted.
    mutating func add(_ statement: PostgreSQLStatement) -> PostgreSQLStatement? {
        var removed: PostgreSQLStatement?
        if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            entries[oldest.key] = nil
            for place in recent.indices where recent[place]?.entry === oldest.value { recent[place] = nil }
            removed = oldest.value.statement
        }
        let entry = Entry(statement)
        entry.lastUse = clock
        entries[statement.sql] = entry
        return removed
    }

    mutating func removeAll() {
        entries.removeAll()
        recent = Array(repeating: nil, count: Self.recentCount)
    }

    /// Returns a value that is equal only for two references to one and the same text.
    private static func identity(_ sql: String) -> SIMD2<UInt64> { unsafeBitCast(sql, to: SIMD2<UInt64>.self) }

    private static func place(_ sql: String) -> Int {
        let bits = identity(sql)
        return Int(truncatingIfNeeded: (bits.x &+ bits.y >> 4) % UInt64(recentCount))
    }
}
