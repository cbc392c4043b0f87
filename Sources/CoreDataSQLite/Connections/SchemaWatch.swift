import CSQLite
import CoreDataSQL
import Synchronization

/// Checks whether the schema is still the one that statements were written for.
///
/// If a statement's first step finds another schema, SQLite silently prepares the statement again, and counts how
/// often. Reading that count after each first step costs a few instructions; reading the schema's version costs as much
/// as a row.
final class SchemaWatch: Sendable {
    /// Guards the check; `nil` if no client set one.
    private let check = Mutex<(@Sendable (any SQLConnection) throws -> Void)?>(nil)

    func set(_ check: (@Sendable (any SQLConnection) throws -> Void)?) { self.check.withLock { $0 = check } }

    func run(_ connection: any SQLConnection) throws { try check.withLock { $0 }?(connection) }
}

extension SQLiteConnection {
    /// Enables the check for statements that SQLite prepares again, and for the first statement of a new connection.
    func watchSchema(_ watch: SchemaWatch, isNew: Bool) {
        state.schemaWatch = watch
        state.connection = self
        state.watchesSchema = true
        state.mustCheckSchema = isNew
    }
}

extension ConnectionState {
    /// - Throws: the error of the check; then the next statement is checked again.
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
