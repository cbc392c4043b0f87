import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// The columns that a statement selects to read whole rows, and their positions for each entity.
///
/// Rows of one table may belong to several entities with different columns. The statement then selects each table
/// column once, and each entity has the positions of its own:
///
///     Person: name; Employee: name, salary
///     // SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZSALARY       Person [3], Employee [3, 4]
package struct RowShape: Sendable {
    struct Entity: Sendable {
        var ordinal: Int
        var number: Int64
        var kinds: [ColumnKind]
        /// The result column of each of the row's columns; -1 if the store has none. `nil` if they directly follow the
        /// fixed columns in order.
        var positions: [Int]?
        /// The row's columns whose values may be in a file.
        var externalColumns: [Int]
    }

    /// The table's columns after the fixed ones; `nil` is a NULL.
    let columns: [String?]
    let entities: [Entity]

    /// `Z_PK`, `Z_ENT` and `Z_OPT`.
    static let fixedColumns = 3

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

    /// Returns the expressions to select from the table with the alias.
    func selection(from alias: String?) -> [SQLExpression] {
        ["Z_PK", "Z_ENT", "Z_OPT"].map { .column(alias, $0) }
            + columns.map { $0.map { .column(alias, $0) } ?? .null }
    }
}
