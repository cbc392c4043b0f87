/// Text for a PostgreSQL server that no statement value renders: parts of the dialect, of migration scripts, and of comments in the schema.
///
/// Text that only the driver sends is in an extension there.
package enum ServerText {
    // MARK: Transactions

    /// In a session that says of all its transactions what they are: the server has less to read.
    package static let begin = "BEGIN"
    package static let commit = "COMMIT"

    /// Channels are a whole database's, and their names have 63 bytes.
    package static func channel(_ schema: String) -> String { SQLNames.readable.shortened("OpenCoreData \(schema)") }

    // MARK: The schema's number

    /// A number that whoever changes the schema makes another one.
    package static let schemaVersion = "SELECT \(quoted("Z_VERSION")) FROM \(quoted("Z_METADATA"))"
    package static let changeSchemaVersion =
        "UPDATE \(quoted("Z_METADATA")) SET \(quoted("Z_VERSION")) = \(quoted("Z_VERSION")) + 1"

    /// The number as the constant of a function: a query that is planned has it, and is planned anew once the function is another.
    package static let callSchemaNumber = "CAST(\(quoted(schemaNumber))() AS BIGINT)"
    package static let dropSchemaNumber = "DROP FUNCTION \(quoted(schemaNumber))()"
    /// The function, and the trigger with the one that it runs.
    package static let schemaNumber = "Z_SCHEMA_NUMBER"
    package static let schemaNumbered = "Z_SCHEMA_NUMBERED"

    /// Waits for all who read from the tables, and keeps them out until the transaction ends.
    package static func lock(tables: [String]) -> String {
        "LOCK TABLE \(tables.map(quoted).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE"
    }

    // MARK: Derived attributes

    /// What tells a trigger's notice from others.
    package static let reportState = "CD001"

    /// What a trigger says of a row whose derived attribute it has set: `12 7 1 sum`, by entity, key, whether the row was being
    /// inserted, and attribute.
    package static func report(_ message: String) -> DerivedAttributeReport? {
        let parts = message.split(separator: " ", maxSplits: 3).map(String.init)
        guard parts.count == 4, let entity = Int64(parts[0]), let key = Int64(parts[1]) else { return nil }
        return DerivedAttributeReport(
            table: "", entityNumber: entity, primaryKey: key, attribute: parts[3], value: .null,
            isInsertion: parts[2] == "1")
    }

    private static func quoted(_ name: String) -> String { SQLIdentifier.quoted(SQLNames.readable.stored(name)) }
}
