import CoreDataSQL

/// A table, index or trigger of a file.
package struct CatalogPart: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case table, index, trigger
    }

    package var kind: Kind
    package var name: String
    package var table: String
    /// The statement that created it, if the database stores it.
    package var text: String?

    /// Returns the tables, indexes and triggers of a file.
    static func all(in connection: any SQLConnection) throws -> [CatalogPart] {
        let names = connection.dialect.names
        return try connection.rows(CatalogQuery.texts).compactMap { row -> CatalogPart? in
            guard case .text(let type) = row[0], let kind = Kind(rawValue: type), case .text(let stored) = row[1],
                case .text(let storedTable) = row[2]
            else { return nil }
            let name = names?.original(stored) ?? stored
            let table = names?.original(storedTable) ?? storedTable
            if case .text(let text) = row[3] { return CatalogPart(kind: kind, name: name, table: table, text: text) }
            return CatalogPart(kind: kind, name: name, table: table)
        }
    }
}
