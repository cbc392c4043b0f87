import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Which columns a statement selects so that whole rows can be read from it, and where each entity's lie.
///
/// Rows of one table may be of several entities with different columns. The statement then selects each table
/// column once, and every entity knows where its own stand:
///
///     Person: name; Employee: name, salary
///     // SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZSALARY       Person [3], Employee [3, 4]
package struct RowShape: Sendable {
    struct Entity: Sendable {
        var ordinal: Int
        var number: Int64
        var kinds: [ColumnKind]
        /// The result column of each of the row's columns; -1 where the store has none. `nil` when they stand one
        /// after another behind the fixed ones.
        var positions: [Int]?
        /// The row's columns whose bytes may lie in a file.
        var externalColumns: [Int]
    }

    /// The table's columns behind the fixed ones; `nil` is a NULL.
    let columns: [String?]
    let entities: [Entity]

    /// `Z_PK`, `Z_ENT` and `Z_OPT`.
    static let fixedColumns = 3

    /// The shape of an entity's rows, and of those of its subentities where they are included.
    init(of entity: Int, _ includesSubentities: Bool, _ context: QueryContext) throws {
        _ = try context.table(of: entity)
        let candidates = includesSubentities ? context.model.entities[entity].subtree : [entity]
        self.init(candidates.filter { context.layout.entities[$0] != nil }, context.model, context.layout)
    }

    init(_ ordinals: [Int], _ model: CompiledModel, _ layout: StoreLayout) {
        var columns: [String?] = []
        var positions: [String: Int] = [:]
        let stored = ordinals.compactMap { ordinal in layout.entities[ordinal].map { (ordinal, $0) } }
        let isUniform = stored.allSatisfy { $0.1.columnNames == stored[0].1.columnNames }
        if isUniform { columns = stored.first?.1.columnNames ?? [] }
        entities = stored.map { ordinal, entity in
            let compiled = model.entities[ordinal]
            var places: [Int]?
            if !isUniform {
                places = entity.columnNames.map { name in
                    guard let name else { return -1 }
                    if let place = positions[name] { return place }
                    let place = RowShape.fixedColumns + columns.count
                    columns.append(name)
                    positions[name] = place
                    return place
                }
            }
            return Entity(
                ordinal: ordinal, number: entity.number, kinds: compiled.rowLayout.kinds, positions: places,
                externalColumns: compiled.externalDataColumns)
        }
        self.columns = columns
    }

    /// The expressions to select from the table of that alias.
    func selection(from alias: String?) -> [SQLExpression] {
        ["Z_PK", "Z_ENT", "Z_OPT"].map { .column(alias, $0) }
            + columns.map { $0.map { .column(alias, $0) } ?? .null }
    }
}
