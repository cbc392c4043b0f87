/// The stored names of tables and columns for which the engine uses Apple's names, and shortened versions of long
/// names.
///
///     SQLNames.readable.stored("Z_PK")    // _id
///     SQLNames.readable.stored("title")   // title
///
/// These names begin with an underscore, or belong to a table whose name does. They cannot conflict with a model's
/// names, because code that names tables and columns avoids ``reserved``.
package final class SQLNames: Sendable {
    private let names: [String: String]
    private let originals: [String: String]
    /// The column names of tables that do not belong to the model.
    private let bookkeeping: [String: String]
    private let maximumLength: Int

    init(_ names: [String: String], maximumLength: Int) {
        self.names = names
        self.maximumLength = maximumLength
        bookkeeping = Dictionary(names.map { ($0.value, $0.key) }, uniquingKeysWith: max)
        originals = Dictionary(
            names.filter { $0.value.hasPrefix("_") }.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first }
        )
    }

    /// Returns the stored name of an engine's name.
    package func stored(_ name: String) -> String {
        if let known = names[name] { return known }
        return shortened(name)
    }

    /// Returns the engine's name of a stored name.
    package func original(_ stored: String) -> String { originals[stored] ?? stored }

    /// Returns the engine's name of a stored column of a table.
    package func originalColumn(_ stored: String, of storedTable: String) -> String {
        storedTable.hasPrefix("_") && originals[storedTable] != nil ? bookkeeping[stored] ?? stored : original(stored)
    }

    /// The names that no table or column of a model may have.
    package var reserved: Set<String> { Set(names.keys).union(originals.keys) }

    /// The names that no table may have, because they have another meaning in a trigger.
    package static let wordsOfTriggers: Set<String> = ["new", "old", "_reported"]

    /// The names that no column may have, because every table of the server has a system column with that name.
    package static let systemColumns: Set<String> = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"]

    /// Returns the table name to use for a name: a server would find its own catalogs first if the names were equal.
    ///
    ///     pg_user      // pg_user1
    package static func tableName(_ name: String) -> String { name.hasPrefix("pg_") ? name + "1" : name }

    /// Returns the name, or for a long name its start and a number derived from the rest.
    package func shortened(_ name: String) -> String {
        guard name.utf8.count > maximumLength else { return name }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let number = "_" + String(hash, radix: 36)
        var start = ""
        for character in name {
            guard start.utf8.count + String(character).utf8.count + number.utf8.count <= maximumLength else { break }
            start.append(character)
        }
        return start + number
    }
}

extension SQLNames {
    /// Readable names; PostgreSQL truncates names after 63 bytes.
    package static let readable = SQLNames(
        [
            "Z_PK": "_id", "Z_ENT": "_entity", "Z_OPT": "_version",
            "Z_PRIMARYKEY": "_entities", "Z_NAME": "name", "Z_SUPER": "parent", "Z_MAX": "last_id",
            "Z_METADATA": "_metadata", "Z_VERSION": "number", "Z_UUID": "uuid", "Z_PLIST": "property_list",
            "Z_MODELCACHE": "_model", "Z_CONTENT": "content", "Z_COMMITS": "_commits",
            "Z_SCHEMA_NUMBER": "_schema_number", "Z_SCHEMA_NUMBERED": "_schema_numbered",
            "Z_HISTORY": "_history", "ACHANGE": "_history_changes", "ZCHANGETYPE": "kind", "ZENTITY": "entity",
            "ZENTITYPK": "row_id",
            "ZTRANSACTIONID": "transaction_id", "ZCOLUMNS": "columns",
            "ATRANSACTION": "_history_transactions", "ZAUTHORTS": "author_id", "ZBUNDLEIDTS": "bundle_id",
            "ZCONTEXTNAMETS": "context_id", "ZPROCESSIDTS": "process_id", "ZTIMESTAMP": "timestamp",
            "ZAUTHOR": "author", "ZBUNDLEID": "bundle", "ZCONTEXTNAME": "context", "ZPROCESSID": "process",
            "ZQUERYGEN": "query_generation",
            "ATRANSACTIONSTRING": "_history_strings", "ZNAME": "name",
        ], maximumLength: 63)
}

extension SQLNames: Hashable {
    package static func == (a: SQLNames, b: SQLNames) -> Bool { a === b }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
