import CSQLite
import CoreDataSQL
import Synchronization

/// Asks whoever knows the schema whether it is still the one that statements were written for.
///
/// SQLite prepares a statement anew, without a word, when its first step finds another schema; it counts how often. To look at that
/// count after each first step costs a few instructions, to read the schema's number as much as a row.
final class SchemaWatch: Sendable {
    /// Guards the check; `nil` where nobody asks for one.
    private let check = Mutex<(@Sendable (any SQLConnection) throws -> Void)?>(nil)

    func set(_ check: (@Sendable (any SQLConnection) throws -> Void)?) { self.check.withLock { $0 = check } }

    func run(_ connection: any SQLConnection) throws { try check.withLock { $0 }?(connection) }
}

extension SQLiteConnection {
    /// From now on statements that SQLite prepares anew are checked, and the first one where the connection is new.
    func watchSchema(_ watch: SchemaWatch, isNew: Bool) {
        state.schemaWatch = watch
        state.connection = self
        state.watchesSchema = true
        state.mustCheckSchema = isNew
    }
}

extension ConnectionState {
    /// - Throws: what the check throws; then so does the next statement.
    func checkSchema() throws {
        guard let schemaWatch, let connection, !isCheckingSchema else { return }
        isCheckingSchema = true
        defer { isCheckingSchema = false }
        mustCheckSchema = true
        try schemaWatch.run(connection)
        mustCheckSchema = false
    }
}

extension SQLiteDatabase {
    package func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?) { schemaWatch.set(check) }
}
