import CoreDataSQL

extension StoreCatalog {
    /// The statements that created the file's tables, as the file keeps them, by the tables' names.
    static func textsOfTables(_ connection: any SQLConnection) throws -> [String: String] {
        var texts: [String: String] = [:]
        for row in try connection.rows(CatalogQuery.tableTexts) {
            if case .text(let name) = row[0], case .text(let text) = row[1] { texts[name] = text }
        }
        return texts
    }
}
