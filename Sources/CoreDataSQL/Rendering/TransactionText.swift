/// Statements that are not about what a database holds.
package enum TransactionText {
    /// Whether the statement begins or ends a transaction.
    package static func isOne(_ sql: String) -> Bool {
        sql.hasPrefix("BEGIN") || sql.hasPrefix("COMMIT") || sql.hasPrefix("ROLLBACK")
    }

    /// Whether the statement is about a transaction or about the connection itself.
    package static func isHousekeeping(_ sql: String) -> Bool { isOne(sql) || sql.hasPrefix("PRAGMA") }
}
