import CoreDataModel
import CoreDataSQL

extension StoreVerifier {
    /// Checks that search indexes agree with their columns: searches would not find texts that are neither indexed nor
    /// recorded as changed.
    mutating func checkSearchIndexes() throws {
        let dialect = connection.dialect
        let wanted = SearchIndex.wanted(model: model, layout: schema.layout)
        guard !wanted.isEmpty, dialect.hasSearchTables else { return }
        let searchCatalog = try SearchCatalog.read(connection)
        for index in wanted {
            guard try searchCatalog.isWhole(index, in: dialect) else {
                report(
                    .note, nil, nil,
                    "\(index.table).\(index.columns.joined(separator: ", ")) has no search index \(index.name), or part of it",
                    hint: "it is made when the store is next opened for writing")
                continue
            }
            let entity = schema.tables.first { schema.layout.entities[$0.root]?.table == index.table }?.root
            try reportRows(
                index.strays(), .error, entity, nil, hint: "drop the table \(index.name); it is made anew"
            ) { _ in "is not found by the search index \(index.name)" }
        }
    }
}

extension SearchIndex {
    /// Returns the keys of the rows whose indexed text differs, and that are not recorded as changed.
    fileprivate func strays() -> SelectStatement {
        var rows = SelectStatement([.init(.column("t", "Z_PK"))], from: .init(table, as: "t"))
        rows.joins = [
            .init(
                .leftOuter, .init(name, as: "f"), on: .comparison(.equal, .column("f", "rowid"), .column("t", "Z_PK"))),
            .init(
                .leftOuter, .init(log, as: "l"),
                on: .comparison(.equal, .column("l", Self.keyColumn), .column("t", "Z_PK"))),
        ]
        rows.condition = .and([
            hasText, .isNull(.column("l", Self.keyColumn)),
            .any(zip(textColumns, texts).map { .comparison(.notIdentical, .column("f", $0), $1) }),
        ])
        return rows
    }
}
