import CoreDataModel

/// The facts about a store's tables from which ``ModelInference`` infers the model, without the rows themselves.
package struct StoreOutline: Sendable {
    /// The common form of a column's values.
    package enum Content: Hashable, Sendable {
        /// Unknown: there are no values, or they have several forms.
        case unknown
        /// Integers that are all 0 or 1.
        case truth
        /// Sixteen bytes each, like UUIDs.
        case sixteenBytes
        /// Values marked as possibly external.
        case markedBytes
    }

    package struct Column: Hashable, Sendable {
        package var name: String
        /// The declared type: `INTEGER`, `VARCHAR`.
        package var type: String
        /// The numbers of the entities whose rows have values in the column.
        package var holders: Set<Int64> = []
        package var content = Content.unknown
        /// The tables whose keys the values may be, if that was checked.
        package var targets: [Target] = []

        package init(name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// Another table whose keys the values of a column may be.
    package struct Target: Hashable, Sendable {
        package var table: String
        /// The number of values that are keys there, and of those that are not.
        package var hits: Int
        package var misses: Int
        /// The number of rows.
        package var rowCount: Int
        /// The entity numbers of those rows.
        package var entities: Set<Int64>
        /// The columns there that refer back, row by row, as in one-to-one relationships.
        package var mirrors: Set<String> = []

        package init(table: String, hits: Int, misses: Int, rowCount: Int, entities: Set<Int64>) {
            self.table = table
            self.hits = hits
            self.misses = misses
            self.rowCount = rowCount
            self.entities = entities
        }
    }

    /// The table of an inheritance tree.
    package struct Table: Sendable {
        package var name: String
        /// The number of the tree's root.
        package var root: Int64
        package var columns: [Column]
        /// The numbers of the entities that have rows.
        package var occupants: Set<Int64> = []

        package init(name: String, root: Int64, columns: [Column]) {
            self.name = name
            self.root = root
            self.columns = columns
        }

        func column(_ name: String) -> Column? { columns.first { $0.name == name } }
    }

    package var entities: [EntityNumber]
    package var tables: [Table]
    /// Tables whose names begin with `Z_` and a number: their columns by name.
    package var joinTables: [(name: String, columns: [String])]
    /// The names of indexes and triggers, some of which have the model's spelling of properties.
    package var schemaNames: [String]

    package init(
        entities: [EntityNumber], tables: [Table], joinTables: [(name: String, columns: [String])],
        schemaNames: [String]
    ) {
        self.entities = entities
        self.tables = tables
        self.joinTables = joinTables
        self.schemaNames = schemaNames
    }
}

extension StoreOutline {
    /// The meaning of a column's name.
    enum ColumnName: Equatable {
        /// `Z_PK`, `Z_ENT`, `Z_OPT`.
        case fixed
        /// `Z_FOK_…`: the position in a to-many.
        case order
        /// `Z2_UNIT`: the entity of `ZUNIT`'s destination, which is entity 2 or a subentity.
        case companion(entity: Int64, of: String)
        /// `Z1PAGES`: the owner in the one-way to-many `PAGES` of entity 1.
        case owner(entity: Int64, relationship: String)
        /// `ZNAME`
        case property(String)
        case foreign

        init(_ name: String) {
            let name = name.uppercased()
            if SchemaTable.fixedColumns.contains(name) {
                self = .fixed
            } else if name.hasPrefix("Z_FOK_") {
                self = .order
            } else if name.hasPrefix("Z"), name.count > 1 {
                let rest = name.dropFirst()
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                guard let number = Int64(digits) else {
                    self = .property(String(rest))
                    return
                }
                let stem = rest.dropFirst(digits.count)
                if stem.hasPrefix("_"), stem.count > 1 {
                    self = .companion(entity: number, of: "Z" + stem.dropFirst())
                } else {
                    self = stem.isEmpty ? .foreign : .owner(entity: number, relationship: String(stem))
                }
            } else {
                self = .foreign
            }
        }
    }

    /// Returns the parts of `Z_8FOLLOWEDTAGS`: a number and a name; `nil` for other names.
    static func numbered(_ name: String) -> (number: Int64, stem: String)? {
        guard name.hasPrefix("Z_") else { return nil }
        let rest = name.dropFirst(2)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let stem = rest.dropFirst(digits.count)
        guard let number = Int64(digits), !stem.isEmpty else { return nil }
        return (number, String(stem))
    }
}
