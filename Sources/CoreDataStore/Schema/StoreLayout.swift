import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// The tables, columns and entity numbers of one store.
///
/// A new store's layout follows from the model; an existing store's numbers and columns are read from it, since
/// migrated and old stores differ. ``RowLayout/Column`` *i* of an entity is stored in the table column
/// `columnNames[i]`, or not at all (`nil`: an old store without that companion column).
package struct StoreLayout: Sendable {
    package struct Entity: Sendable {
        package var table: String
        /// `Z_ENT`.
        package var number: Int64
        /// The table's column for each column of the entity's ``RowLayout``.
        package var columnNames: [String?]

        package init(table: String, number: Int64, columnNames: [String?]) {
            self.table = table
            self.number = number
            self.columnNames = columnNames
        }
    }

    /// A many-to-many relationship's table, seen from one of its sides.
    package struct JoinTable: Hashable, Sendable {
        package var name: String
        /// The column with the primary key of the relationship's owner.
        package var ownerColumn: String
        package var destinationColumn: String
        /// The position of the destination in the owner's ordered relationship.
        package var orderColumn: String?
        /// The position of the owner in the destination's ordered inverse.
        package var inverseOrderColumn: String?

        /// The columns in the order of a new table.
        package var columns: [String] {
            [ownerColumn, destinationColumn] + [inverseOrderColumn, orderColumn].compactMap { $0 }
        }

        package init(
            name: String, ownerColumn: String, destinationColumn: String, orderColumn: String? = nil,
            inverseOrderColumn: String? = nil
        ) {
            self.name = name
            self.ownerColumn = ownerColumn
            self.destinationColumn = destinationColumn
            self.orderColumn = orderColumn
            self.inverseOrderColumn = inverseOrderColumn
        }
    }

    package struct Relationship: Hashable, Sendable {
        package var entity: Int
        package var slot: Int

        package init(entity: Int, slot: Int) {
            self.entity = entity
            self.slot = slot
        }
    }

    /// The entities by ordinal; `nil` for entities outside the store's configuration.
    package var entities: [Entity?]
    package var ordinalByNumber: [Int64: Int]
    /// The join tables by declaring entity and slot, with both sides of each pair.
    package var joinTables: [Relationship: JoinTable]
    /// The search indexes that can be queried.
    package var searchIndexes: [SearchIndex] = []
    /// The R-trees that the file has with all their triggers.
    package var rTrees: [CreateRTree] = []

    package init(
        entities: [Entity?], ordinalByNumber: [Int64: Int], joinTables: [Relationship: JoinTable]
    ) {
        self.entities = entities
        self.ordinalByNumber = ordinalByNumber
        self.joinTables = joinTables
    }
}
