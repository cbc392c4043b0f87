/// Text for a PostgreSQL server that is not rendered from statement values: parts of the dialect, of migration scripts,
/// and of comments in the schema.
///
/// The driver adds text that only it sends, in an extension.
package enum ServerText {
    // MARK: Transactions

    /// Begins a transaction in a session that has set the options of all its transactions, so that the server parses
    /// less.
    package static let begin = "BEGIN"
    package static let commit = "COMMIT"

    /// Channels belong to a whole database, and their names have at most 63 bytes.
    package static func channel(_ schema: String) -> String { SQLNames.readable.shortened("OpenCoreData \(schema)") }

    // MARK: Schema version

    /// Reads the number that each change of the schema changes.
    package static let schemaVersion = "SELECT \(quoted("Z_VERSION")) FROM \(quoted("Z_METADATA"))"
    package static let changeSchemaVersion =
        "UPDATE \(quoted("Z_METADATA")) SET \(quoted("Z_VERSION")) = \(quoted("Z_VERSION")) + 1"

    /// The number as a function that returns a constant. A planned query contains the constant, and is planned again
    /// after the function changes.
    package static let callSchemaNumber = "CAST(\(quoted(schemaNumber))() AS BIGINT)"
    package static let dropSchemaNumber = "DROP FUNCTION \(quoted(schemaNumber))()"
    /// The names of the function, and of the trigger and its function.
    package static let schemaNumber = "Z_SCHEMA_NUMBER"
    package static let schemaNumbered = "Z_SCHEMA_NUMBERED"

    /// Waits for all readers of the tables, and locks readers out until the transaction ends.
    package static func lock(tables: [String]) -> String {
        "LOCK TABLE \(tables.map(quoted).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE"
    }

    // MARK: Derived attributes

    /// The code that distinguishes a trigger's notice from others.
    package static let reportState = "CD001"

    /// Parses a trigger's report of a row whose derived attribute it set: `12 7 1 sum`, which are the entity, the key,
    /// whether the row was being inserted, and the attribute.
    package static func report(_ message: String) -> DerivedAttributeReport? {
        let parts = message.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let entity = Int64(parts[0]), let key = Int64(parts[1]) else { return nil }
        return DerivedAttributeReport(
            table: "", entityNumber: entity, primaryKey: key, attribute: parts[3], value: .null,
            isInsertion: parts[2] == "1")
    }

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
