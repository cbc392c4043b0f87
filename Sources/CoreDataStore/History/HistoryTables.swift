import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

/// The layout of a store's history tables, and the texts of the statements that write them.
///
/// Changes are not bound one by one if possible: one statement copies rows with consecutive keys from their own table
/// to `ACHANGE`, and a deleted row's tombstone never leaves the database.
final class HistoryTables: Sendable {
    let model: CompiledModel
    let layout: StoreLayout
    let dialect: SQLDialect
    /// The number of values in a tombstone.
    let tombstoneCount: Int
    /// Whether names are in a separate table; before 2018 they were in each transaction.
    let hasStrings: Bool
    /// `INSERT INTO ATRANSACTION …`
    let transactionInsertion: String
    private let layouts: [HistoryLayout?]
    /// Guards the texts, a few for each entity that is written.
    private let texts = Mutex<[TextKey: String]>([:])
    /// Guards the keys of the names that are known to be in the file.
    let strings = Mutex<[String: Int64]>([:])

    /// The rows of a statement.
    enum Selection: Hashable {
        /// Bound: the difference between a change's key and its row's, then entity and transaction, the bits of an
        /// update, first and last key.
        case range
        /// Bound: entity and transaction, the bits of an update, then the key of each change and of its row.
        case several(Int)
    }

    private struct TextKey: Hashable {
        var entity: Int
        var kind: HistoryKind
        var selection: Selection
    }

    init(model: CompiledModel, layout: StoreLayout, catalog: StoreCatalog, dialect: SQLDialect) {
        self.model = model
        self.layout = layout
        self.dialect = dialect
        let changes = catalog.table(BookkeepingSchema.changeTable)
        var count = 0
        while changes?.column("ZTOMBSTONE\(count)") != nil { count += 1 }
        tombstoneCount = count
        hasStrings =
            catalog.table(BookkeepingSchema.transactionStringTable) != nil
            && catalog.table(BookkeepingSchema.transactionTable)?.column("ZAUTHORTS") != nil
        transactionInsertion = Self.transactionInsertion(hasStrings: hasStrings).text(in: dialect).sql
        layouts = model.entities.map { entity in
            layout.entities[entity.ordinal].map { stored in
                HistoryLayout(entity, in: model) { stored.columnNames[$0] != nil }
            }
        }
    }

    func layout(of entity: Int) -> HistoryLayout? { layouts.indices.contains(entity) ? layouts[entity] : nil }

    /// Key, then author, bundle, context, process, then the time.
    private static func transactionInsertion(hasStrings: Bool) -> InsertStatement {
        let names = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]
        let columns = ["Z_PK", "Z_ENT"] + names.map { hasStrings ? $0 + "TS" : $0 } + ["ZTIMESTAMP"]
        var row = [SQLExpression](repeating: .parameter, count: columns.count)
        row[1] = .integer(BookkeepingSchema.transactionNumber)
        return InsertStatement(into: BookkeepingSchema.transactionTable, columns: columns, rows: [row])
    }

    // MARK: Changes

    /// Returns the statement that writes changes of rows of the entity.
    func insertion(_ kind: HistoryKind, of table: SaveTables.Table, _ selection: Selection) -> String {
        texts.withLock { texts in
            let key = TextKey(entity: table.entity, kind: kind, selection: selection)
            if let text = texts[key] { return text }
            let text = makeInsertion(kind, of: table, selection).text(in: dialect).sql
            texts[key] = text
            return text
        }
    }

    private func makeInsertion(
        _ kind: HistoryKind, of table: SaveTables.Table, _ selection: Selection
    ) -> InsertStatement {
        if selection == .several(1), kind != .deletion { return makeSingleInsertion(kind) }
        let tombstones = kind == .deletion ? tombstoneColumns(of: table) : []
        var columns = ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"]
        if kind == .update { columns.append("ZCOLUMNS") }
        columns += tombstones.indices.map { "ZTOMBSTONE\($0)" }
        func values(change: SQLExpression, row: SQLExpression) -> [SelectStatement.ResultColumn] {
            var values: [SQLExpression] = [
                change, .integer(BookkeepingSchema.changeNumber), .integer(kind.rawValue), .parameter, row, .parameter,
            ]
            if kind == .update { values.append(.parameter) }
            return (values + tombstones).map { .init($0) }
        }
        let own = SelectStatement.Source(table.name, as: table.name)
        let key = SQLExpression.column(table.name, "Z_PK")
        var select: SelectStatement
        switch selection {
        case .range:
            select = SelectStatement(values(change: .arithmetic(.add, key, .parameter), row: key), from: own)
            select.condition = .between(key, .parameter, .parameter)
        case .several(let count):
            // A server would treat an untyped value as a text.
            let number = SQLExpression.function(.wideNumber, [.parameter])
            let pairs = SelectStatement.Source(rows: Array(repeating: [number, number], count: count), as: "c")
            let row = SQLExpression.column("c", "column2")
            select = SelectStatement(values(change: .column("c", "column1"), row: row), from: pairs)
            // A row that another client has already deleted is not deleted again.
            if kind == .deletion { select.joins = [.init(.cross, own, on: .comparison(.equal, key, row))] }
        }
        return InsertStatement(into: BookkeepingSchema.changeTable, columns: columns, from: select)
    }

    /// The insertion of a single change has all its values bound, in the order of ``Selection/several(_:)``.
    private func makeSingleInsertion(_ kind: HistoryKind) -> InsertStatement {
        let bound = ["ZENTITY", "ZTRANSACTIONID"] + (kind == .update ? ["ZCOLUMNS"] : []) + ["Z_PK", "ZENTITYPK"]
        return InsertStatement(
            into: BookkeepingSchema.changeTable, columns: bound + ["Z_ENT", "ZCHANGETYPE"],
            rows: [
                Array(repeating: .parameter, count: bound.count)
                    + [.integer(BookkeepingSchema.changeNumber), .integer(kind.rawValue)]
            ])
    }

    /// Returns the values that a tombstone preserves of a row, in their storage class; external data files are deleted
    /// with their row.
    private func tombstoneColumns(of table: SaveTables.Table) -> [SQLExpression] {
        guard let layout = layout(of: table.entity) else { return [] }
        let entity = model.entities[table.entity]
        return layout.tombstones.prefix(tombstoneCount).map { slot in
            let index = entity.rowLayout.columnOfSlot[slot]
            guard index >= 0, let name = table.nameOfColumn[index] else { return .null }
            let column = SQLExpression.column(table.name, name)
            guard table.externalColumns.contains(index) else {
                return kept(column, entity.properties[slot].attribute?.type.columnType ?? .bytes)
            }
            let namesFile = SQLExpression.comparison(.equal, .function(.byteLength, [column]), .integer(38))
            return .caseWhen([.init(namesFile, .null)], otherwise: column)
        }
    }

    /// Returns the value for a column of bytes: its text, if the database has typed columns.
    private func kept(_ column: SQLExpression, _ type: SQLType) -> SQLExpression {
        guard dialect.typesValues, type != .bytes else { return column }
        return type == .date
            ? .function(.bytesOfDate, [column]) : .function(.bytesOfText, [.cast(column, to: .text)])
    }

    /// Decodes a tombstone's bytes; the inverse of ``kept(_:_:)``.
    func value(ofKept bytes: Data, slot: Int, of entity: CompiledEntity) -> SQLValue {
        let type = entity.properties[slot].attribute?.type.columnType ?? .bytes
        guard dialect.typesValues, type != .bytes else { return .blob(bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        switch type {
        case .rowKey, .integer, .smallInteger, .mediumInteger: return Int64(text).map { .integer($0) } ?? .null
        case .boolean: return .integer(text == "true" ? 1 : 0)
        case .real: return Double(text).map { .real($0) } ?? .null
        case .date: return Int64(text).map { .real(Microseconds(since1970: $0).seconds) } ?? .null
        case .identifier:
            return UUID(uuidString: text).map { .blob(withUnsafeBytes(of: $0.uuid) { Data($0) }) } ?? .null
        case .decimal, .text, .shortText: return .text(text)
        case .bytes: return .blob(bytes)
        }
    }
}
