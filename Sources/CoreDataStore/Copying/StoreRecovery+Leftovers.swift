import CoreDataModel
import CoreDataSQL

extension StoreRecovery {
    /// Describes the columns with values and the tables with rows of a damaged store that its model lacks, one sentence
    /// each.
    ///
    /// The result is empty if the version hashes prove that the model is the store's: other columns are then remains of
    /// migrations.
    static func leftovers(of source: StoreEngine) -> [String] {
        let (model, stored) = (source.model, source.openedMetadata.metadata)
        if let hashes = stored.versionHashes,
            stored.mismatch(with: model, entities: source.entities) == nil
                || model.areFormer(hashes, of: source.entities)
        {
            return []
        }
        guard let catalog = try? source.database.read({ try StoreCatalog.read($0) }) else { return [] }
        var columns: [String: Set<String>] = [:]
        for case let entity? in source.layout.entities {
            columns[entity.table.uppercased(), default: []].formUnion(
                entity.columnNames.compactMap { $0?.uppercased() })
        }
        let joins = Set(source.layout.joinTables.values.map { $0.name.uppercased() })
        return catalog.tables.flatMap { table -> [String] in
            let name = table.name.uppercased()
            if let known = columns[name] {
                return table.columns.filter { mayHoldValues($0) && !known.contains($0.uppercased()) }
                    .compactMap { leftover($0, of: table.name, in: source) }
            }
            let isOfRows = name.hasPrefix("Z") && SchemaTable.fixedColumns.allSatisfy { table.column($0) != nil }
            guard isOfRows || StoreOutline.numbered(name) != nil, !joins.contains(name) else { return [] }
            return [leftover(nil, of: table.name, in: source)].compactMap { $0 }
        }
    }

    /// Returns whether a column may contain independent values: not entity numbers or orders, which describe other
    /// columns.
    private static func mayHoldValues(_ column: String) -> Bool {
        switch StoreOutline.ColumnName(column) {
        case .property, .owner, .foreign: true
        case .fixed, .order, .companion: false
        }
    }

    /// - Parameter column: `nil` for the table as a whole.
    private static func leftover(_ column: String?, of table: String, in source: StoreEngine) -> String? {
        let number =
            column.map { SQLExpression.aggregate(.count, .column(nil, $0), distinct: false) } ?? SQLExpression.countAll
        let rows = try? source.database.read { try $0.rows(SelectStatement([.init(number)], from: .init(table))) }
        var count: Int64?
        if case .integer(let found)? = rows?.first?.first { count = found }
        guard count != 0 else { return nil }
        let what = column == nil ? "row" : "value"
        let place = column.map { "the column \(table).\($0)" } ?? "the table \(table)"
        let lost = count.map { $0 == 1 ? "its \(what) was" : "its \($0) \(what)s were" } ?? "its \(what)s were"
        return "\(place) belongs to nothing in the model: \(lost) left out"
    }
}
