/// Recognises statements that do not read or write the database's content.
package enum TransactionText {
    /// Returns whether the statement begins or ends a transaction.
    package static func isOne(_ sql: String) -> Bool {
        sql.hasPrefix("BEGIN") || sql.hasPrefix("COMMIT") || sql.hasPrefix("ROLLBACK")
    }

    /// Returns whether the statement concerns a transaction or the connection itself.
    package static func isHousekeeping(_ sql: String) -> Bool { isOne(sql) || sql.hasPrefix("PRAGMA") }
}
