import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Synchronization

/// The data about each entity's table that saving needs, and the texts of the statements; made on first use.
final class SaveTables: Sendable {
    /// One entity's part of its table.
    final class Table: Sendable {
        let entity: Int
        let name: String
        /// `Z_ENT`.
        let number: Int64
        let kinds: [ColumnKind]
        /// The row's columns that the store has, and the corresponding columns of the table.
        let columns: [Int]
        let columnNames: [String]
        /// The types of the table's columns.
        let columnTypes: [SQLType]
        /// Whether the store has every column of the row.
        let hasEveryColumn: Bool
        let nameOfColumn: [String?]
        let externalColumns: [Int]
        let constraints: [Constraint]
        /// The columns of the single constraint, if existing rows can absorb new ones; see
        /// ``RowSource/absorbs(entity:)``.
        let absorbing: IndexMask?
        /// `INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, ?, …)`
        let insertion: String
        /// `DELETE FROM ZITEM WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?`
        let deletion: String
        /// Selects the highest key in use; bound: the root's entity number.
        let keyQuery: String
        let updateForms = UpdateForms()

        init(
            _ entity: CompiledEntity, _ stored: StoreLayout.Entity, _ constraints: [Constraint], isAlone: Bool,
            _ dialect: SQLDialect
        ) {
            self.entity = entity.ordinal
            name = stored.table
            number = stored.number
            kinds = entity.rowLayout.kinds
            nameOfColumn = stored.columnNames
            columns = stored.columnNames.indices.filter { stored.columnNames[$0] != nil }
            columnNames = stored.columnNames.compactMap { $0 }
            columnTypes = columns.map { Self.type(of: entity.rowLayout.columns[$0].role, in: entity) }
            hasEveryColumn = columns.count == stored.columnNames.count
            externalColumns = entity.externalDataColumns.filter { stored.columnNames[$0] != nil }
            self.constraints = constraints
            absorbing = externalColumns.isEmpty && isAlone ? Self.absorbing(entity, constraints) : nil
            insertion = SaveTables.insertion(into: name, columnNames, rows: 1).text(in: dialect).sql
            deletion = DeleteStatement(from: name, where: SaveTables.isUnchanged).text(in: dialect).sql
            keyQuery = Self.keyQuery(name, locks: dialect.writesTogether).text(in: dialect).sql
        }

        private static func type(of role: RowLayout.Role, in entity: CompiledEntity) -> SQLType {
            guard case .attribute(let slot) = role else { return .integer }
            return entity.properties[slot].attribute?.type.columnType ?? .bytes
        }

        private static func absorbing(_ entity: CompiledEntity, _ constraints: [Constraint]) -> IndexMask? {
            guard constraints.count == 1 else { return nil }
            let columns = constraints[0].columns.reduce(into: IndexMask()) { $0.insert($1) }
            let isPlain = entity.properties.allSatisfy { property in
                guard let attribute = property.attribute else { return true }
                let column = entity.rowLayout.columnOfSlot[property.slot]
                // Different numbers in memory may be equal in the store.
                let isInexact = attribute.type == .decimal || column >= 0 && entity.rowLayout.kinds[column] == .real
                return !property.isComposite && attribute.derivationExpression == nil
                    && !(isInexact && column >= 0 && columns.contains(column))
            }
            return isPlain ? columns : nil
        }
    }

    /// A uniqueness constraint with the columns of an entity's rows.
    struct Constraint: Sendable, Hashable {
        /// The entity that declares it, and its slots.
        var entity: Int
        var slots: [Int]
        /// The row's columns and the table's.
        var columns: [Int]
        var columnNames: [String]
    }

    enum Change: Hashable {
        case insertion
        case arrayInsertion
        case absorption(IndexMask)
        case update(IndexMask)
        case arrayUpdate(IndexMask)
        case deletion
        case rangeDeletion
        case check
        case rangeCheck
        case versions
    }

    private struct TextKey: Hashable {
        var entity: Int
        var change: Change
        var rows: Int
    }

    let model: CompiledModel
    let layout: StoreLayout
    private let tables: [Table?]
    let hasConstraints: Bool
    let dialect: SQLDialect
    /// `UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?`
    let keyUpdate: String
    /// `UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?`
    let keyAdvance: String
    /// Guards the texts: one update per set of columns that change together, the others once per written entity.
    private let texts = Mutex<[TextKey: String]>([:])

    init(model: CompiledModel, layout: StoreLayout, dialect: SQLDialect) {
        self.model = model
        self.layout = layout
        self.dialect = dialect
        keyUpdate = Self.keyUpdateStatement.text(in: dialect).sql
        keyAdvance = Self.keyAdvanceStatement.text(in: dialect).sql
        var sizes: [Int: Int] = [:]
        for entity in model.entities { sizes[entity.root, default: 0] += 1 }
        tables = model.entities.map { entity in
            layout.entities[entity.ordinal].map {
                Table(
                    entity, $0, Self.constraints(of: entity, $0, model), isAlone: sizes[entity.root] == 1, dialect)
            }
        }
        hasConstraints = tables.contains { $0?.constraints.isEmpty == false }
    }

    /// - Throws: ``StoreFailure`` for an entity that the store lacks.
    func table(of entity: Int) throws -> Table {
        guard tables.indices.contains(entity), let table = tables[entity] else {
            let name = model.entities.indices.contains(entity) ? model.entities[entity].name : "number \(entity)"
            throw StoreFailure(
                .incompleteSchema, "Entity '\(name)' is not in the store's configuration.", entity: name)
        }
        return table
    }

    // MARK: Statements

    /// Returns the data for updating these columns.
    func form(of table: Table, _ columns: IndexMask) -> UpdateForm {
        table.updateForms.form(columns) { UpdateForm(table, columns, sql: update(of: table, columns)) }
    }

    /// Returns the number of rows per statement. The fixed cost of a statement is a quarter of an insert and a third of
    /// an update, and more rows gain no more.
    ///
    /// It is 1 if the database does not support that many values.
    func rowsPerStatement(values: Int) -> Int {
        let rows = 32
        return rows * values <= dialect.maximumBindings ? rows : 1
    }

    /// `INSERT OR FAIL INTO ZITEM (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, ?, …), …`
    func insertion(into table: Table, rows: Int) -> String {
        text(table, .insertion, rows: rows) {
            var insert = Self.insertion(into: table.name, table.columnNames, rows: rows)
            insert.conflict = .stop
            return insert.text(in: dialect)
        }
    }

    /// Inserts like ``insertion(into:rows:)``, into a table with one constraint. An existing row with the same unique
    /// values takes the values of the columns instead:
    func absorption(into table: Table, _ columns: IndexMask, rows: Int) -> String {
        text(table, .absorption(columns), rows: rows) {
            let names = columns.compactMap { table.nameOfColumn[$0] }
            var insert = Self.insertion(into: table.name, table.columnNames, rows: rows)
            let version = SQLExpression.arithmetic(.add, Self.version(in: table.name), .integer(1))
            insert.conflict = .update(
                target: table.constraints[0].columnNames,
                set: [.init("Z_OPT", version)] + names.map { .init($0, .column("excluded", $0)) },
                where: .or(
                    names.map { .comparison(.notIdentical, .column(table.name, $0), .column("excluded", $0)) }))
            return insert.text(in: dialect)
        }
    }

    /// `SELECT Z_PK, IFNULL(Z_OPT, 0) FROM ZITEM WHERE Z_PK BETWEEN ? AND ? ORDER BY Z_PK`
    func versions(in table: Table) -> String {
        text(table, .versions, rows: 1) {
            let key = SQLExpression.column(nil, "Z_PK")
            var select = SelectStatement(
                [.init(key), .init(Self.version())], from: .init(table.name, as: table.name))
            select.condition = .between(key, .parameter, .parameter)
            select.orders = [.init(key)]
            return select.text(in: dialect)
        }
    }

    private static func insertion(into table: String, _ columns: [String], rows: Int) -> InsertStatement {
        let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + columns
        return InsertStatement(into: table, columns: columns, rows: parameters(columns, rows: rows))
    }

    /// `UPDATE ZITEM SET Z_OPT = ?, ZNAME = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?`
    private func update(of table: Table, _ columns: IndexMask) -> String {
        let names = columns.compactMap { table.nameOfColumn[$0] }
        return UpdateStatement(
            table.name, set: (["Z_OPT"] + names).map { .init($0, .parameter) }, where: Self.isUnchanged
        ).text(in: dialect).sql
    }

    /// Updates several rows, each of which increments its version:
    /// `INSERT INTO ZITEM (Z_OPT, ZNAME, Z_PK) VALUES (?, ?, ?), … ON CONFLICT (Z_PK) DO UPDATE
    /// SET Z_OPT = excluded.Z_OPT, … WHERE IFNULL(Z_OPT, 0) = excluded.Z_OPT - 1`
    ///
    /// A missing row would be inserted: see ``SQLStatement/runUpdating()``.
    func update(of table: Table, _ columns: IndexMask, rows: Int) -> String {
        text(table, .update(columns), rows: rows) {
            let names = ["Z_OPT"] + columns.compactMap { table.nameOfColumn[$0] }
            var insert = InsertStatement(
                into: table.name, columns: names + ["Z_PK"], rows: Self.parameters(names + ["Z_PK"], rows: rows))
            let previous = SQLExpression.arithmetic(.subtract, .column("excluded", "Z_OPT"), .integer(1))
            insert.conflict = .update(
                target: ["Z_PK"], set: names.map { .init($0, .column("excluded", $0)) },
                where: .comparison(.equal, Self.version(in: table.name), previous))
            return insert.text(in: dialect)
        }
    }

    /// `DELETE FROM ZITEM WHERE Z_PK IN (?, …) AND IFNULL(Z_OPT, 0) = ?`
    func deletion(from table: Table, rows: Int) -> String {
        text(table, .deletion, rows: rows) {
            let hasKey = SQLExpression.inList(.column(nil, "Z_PK"), Array(repeating: .parameter, count: rows))
            return DeleteStatement(from: table.name, where: .and([hasKey, Self.hasVersion])).text(in: dialect)
        }
    }

    /// `DELETE FROM ZITEM WHERE Z_PK BETWEEN ? AND ? AND IFNULL(Z_OPT, 0) = ?`
    func rangeDeletion(from table: Table) -> String {
        text(table, .rangeDeletion, rows: 1) {
            let isInRange = SQLExpression.between(.column(nil, "Z_PK"), .parameter, .parameter)
            return DeleteStatement(from: table.name, where: .and([isInRange, Self.hasVersion])).text(in: dialect)
        }
    }

    /// `SELECT 1 FROM ZITEM WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?`
    func check(of table: Table) -> String {
        text(table, .check, rows: 1) { presence(in: table, where: Self.isUnchanged, locks: true) }
    }

    /// `SELECT 1 FROM ZITEM WHERE Z_PK BETWEEN ? AND ?`
    func rangeCheck(of table: Table) -> String {
        text(table, .rangeCheck, rows: 1) {
            presence(in: table, where: .between(.column(nil, "Z_PK"), .parameter, .parameter))
        }
    }

    private func presence(in table: Table, where condition: SQLExpression, locks: Bool = false) -> SQLText {
        var select = SelectStatement([.init(.integer(1))], from: .init(table.name, as: table.name))
        select.condition = condition
        if locks, dialect.writesTogether { select.lock = .share }
        return select.text(in: dialect)
    }

    func text(_ table: Table, _ change: Change, rows: Int, _ make: () -> SQLText) -> String {
        texts.withLock { texts in
            let key = TextKey(entity: table.entity, change: change, rows: rows)
            if let text = texts[key] { return text }
            let text = make().sql
            texts[key] = text
            return text
        }
    }

    private static func parameters(_ columns: [String], rows: Int) -> [[SQLExpression]] {
        Array(repeating: Array(repeating: .parameter, count: columns.count), count: rows)
    }

    /// Rows of very old stores have no version; it counts as 0.
    static func version(in table: String? = nil) -> SQLExpression {
        .function(.ifNull, [.column(table, "Z_OPT"), .integer(0)])
    }

    private static let hasVersion = SQLExpression.comparison(.equal, version(), .parameter)

    private static let isUnchanged = SQLExpression.and([
        .comparison(.equal, .column(nil, "Z_PK"), .parameter), hasVersion,
    ])

    private static let keyUpdateStatement = UpdateStatement(
        BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .parameter)],
        where: .comparison(.equal, .column(nil, "Z_ENT"), .parameter))

    private static let keyAdvanceStatement = UpdateStatement(
        BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .parameter)],
        where: .and([
            .comparison(.equal, .column(nil, "Z_ENT"), .parameter),
            .comparison(.equal, .column(nil, "Z_MAX"), .parameter),
        ]))

    /// Returns the constraints of the entity and its ancestors; the index of each covers the whole table.
    private static func constraints(
        of entity: CompiledEntity, _ stored: StoreLayout.Entity, _ model: CompiledModel
    ) -> [Constraint] {
        var constraints: [Constraint] = []
        var next: Int? = entity.ordinal
        while let ordinal = next {
            let declaring = model.entities[ordinal]
            for slots in declaring.uniquenessConstraints {
                let columns = slots.map { entity.rowLayout.columnOfSlot[$0] }
                let names = columns.compactMap { $0 < 0 ? nil : stored.columnNames[$0] }
                guard names.count == slots.count, !constraints.contains(where: { $0.columnNames == names }) else {
                    continue
                }
                constraints.append(
                    Constraint(entity: ordinal, slots: slots, columns: columns, columnNames: names))
            }
            next = declaring.parent
        }
        return constraints
    }
}
