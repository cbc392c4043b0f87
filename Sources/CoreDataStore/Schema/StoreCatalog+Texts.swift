import CoreDataSQL

extension StoreCatalog {
    /// The statements that created the file's tables, as the file keeps them, by the tables' names; empty where the
    /// database keeps none.
    static func textsOfTables(_ connection: any SQLConnection) throws -> [String: String] {
        var texts: [String: String] = [:]
        let names = connection.dialect.names
        for row in try connection.rows(CatalogQuery.tableTexts) {
            guard case .text(let name) = row[0] else { continue }
            // Where the database does not keep it, it is like no other.
            if case .text(let text) = row[1] { texts[name] = text } else { texts[names?.original(name) ?? name] = "" }
        }
        return texts
    }
}
