import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Synchronization

/// What saving needs to know of each entity's table, and the texts of the statements: made once, when first needed.
final class SaveTables: Sendable {
    /// One entity's part of its table.
    final class Table: Sendable {
        let entity: Int
        let name: String
        /// `Z_ENT`.
        let number: Int64
        let kinds: [ColumnKind]
        /// The row's columns that the store has, and the table's for them.
        let columns: [Int]
        let columnNames: [String]
        /// Whether the store has every column of the row.
        let hasEveryColumn: Bool
        let nameOfColumn: [String?]
        let externalColumns: [Int]
        let constraints: [Constraint]
        /// `INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, ?, …)`
        let insertion: String
        /// `DELETE FROM ZITEM WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?`
        let deletion: String
        /// Selects the highest key in use; bound: the root's entity number.
        let keyQuery: String

        init(_ entity: CompiledEntity, _ stored: StoreLayout.Entity, _ constraints: [Constraint]) {
            self.entity = entity.ordinal
            name = stored.table
            number = stored.number
            kinds = entity.rowLayout.kinds
            nameOfColumn = stored.columnNames
            columns = stored.columnNames.indices.filter { stored.columnNames[$0] != nil }
            columnNames = stored.columnNames.compactMap { $0 }
            hasEveryColumn = columns.count == stored.columnNames.count
            externalColumns = entity.externalDataColumns.filter { stored.columnNames[$0] != nil }
            self.constraints = constraints
            insertion =
                InsertStatement(
                    into: name, columns: ["Z_PK", "Z_ENT", "Z_OPT"] + columnNames,
                    rows: [Array(repeating: .parameter, count: 3 + columnNames.count)]
                ).text.sql
            keyQuery = Self.keyQuery(name)
            deletion = DeleteStatement(from: name, where: SaveTables.isUnchanged).text.sql
        }
    }

    /// A uniqueness constraint as an entity's rows have it.
    struct Constraint: Sendable, Hashable {
        /// The entity that declares it, and its slots.
        var entity: Int
        var slots: [Int]
        /// The row's columns and the table's.
        var columns: [Int]
        var columnNames: [String]
    }

    private struct UpdateKey: Hashable {
        var entity: Int
        var columns: IndexMask
    }

    let model: CompiledModel
    let layout: StoreLayout
    private let tables: [Table?]
    let hasConstraints: Bool
    /// Guards the texts of the updates, of which there are as many as sets of columns that change together.
    private let updates = Mutex<[UpdateKey: String]>([:])

    init(model: CompiledModel, layout: StoreLayout) {
        self.model = model
        self.layout = layout
        tables = model.entities.map { entity in
            layout.entities[entity.ordinal].map {
                Table(entity, $0, Self.constraints(of: entity, $0, model))
            }
        }
        hasConstraints = tables.contains { $0?.constraints.isEmpty == false }
    }

    /// - Throws: ``StoreFailure`` for an entity that the store does not have.
    func table(of entity: Int) throws -> Table {
        guard tables.indices.contains(entity), let table = tables[entity] else {
            let name = model.entities.indices.contains(entity) ? model.entities[entity].name : "number \(entity)"
            throw StoreFailure(
                .incompleteSchema, "Entity '\(name)' is not in the store's configuration.", entity: name)
        }
        return table
    }

    /// `UPDATE ZITEM SET Z_OPT = ?, ZNAME = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?`
    func update(of table: Table, _ columns: IndexMask) -> String {
        updates.withLock { updates in
            let key = UpdateKey(entity: table.entity, columns: columns)
            if let text = updates[key] { return text }
            let names = columns.compactMap { table.nameOfColumn[$0] }
            let text = UpdateStatement(
                table.name, set: (["Z_OPT"] + names).map { .init($0, .parameter) }, where: Self.isUnchanged
            ).text.sql
            updates[key] = text
            return text
        }
    }

    /// Rows of very old stores have no version; it counts as 0.
    static let isUnchanged = SQLExpression.and([
        .comparison(.equal, .column(nil, "Z_PK"), .parameter),
        .comparison(.equal, version, .parameter),
    ])

    /// `UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?`
    static let keyUpdate = UpdateStatement(
        BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .parameter)],
        where: .comparison(.equal, .column(nil, "Z_ENT"), .parameter)
    ).text.sql

    static let version = SQLExpression.function("IFNULL", [.column(nil, "Z_OPT"), .integer(0)])

    /// Those of the entity and its ancestors; the index of each serves the whole table.
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
