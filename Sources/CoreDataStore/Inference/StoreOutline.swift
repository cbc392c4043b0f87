import CoreDataModel

/// What the tables of a store tell of the model that they were made for, without any row of it: the input of
/// ``ModelInference``.
package struct StoreOutline: Sendable {
    /// What the values of a column have in common.
    package enum Content: Hashable, Sendable {
        /// Nothing to go by: there are no values, or they are of several kinds.
        case unknown
        /// Whole numbers, all of them 0 or 1.
        case truth
        /// Sixteen bytes each, as UUIDs have.
        case sixteenBytes
        /// Marked as values that may have files of their own.
        case markedBytes
    }

    package struct Column: Hashable, Sendable {
        package var name: String
        /// As declared: `INTEGER`, `VARCHAR`.
        package var type: String
        /// Numbers of the entities whose rows have a value here.
        package var holders: Set<Int64> = []
        package var content = Content.unknown
        /// What the values are as keys of other tables' rows, where that was looked at.
        package var targets: [Target] = []

        package init(name: String, type: String) {
            self.name = name
            self.type = type
        }
    }

    /// Another table whose rows the values of a column may be keys of.
    package struct Target: Hashable, Sendable {
        package var table: String
        /// How many values are keys there, and how many are not.
        package var hits: Int
        package var misses: Int
        /// How many rows there are.
        package var rowCount: Int
        /// Numbers of the entities of those rows.
        package var entities: Set<Int64>
        /// Columns there that lead back, row by row, as one-to-one relationships do.
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
        /// Numbers of the entities that have rows.
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
    /// Names of indexes and triggers, some of which spell properties as the model does.
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
    /// A column's name in parts that have a meaning.
    enum ColumnName: Equatable {
        /// `Z_PK`, `Z_ENT`, `Z_OPT`.
        case fixed
        /// `Z_FOK_…`: the order in a to-many.
        case order
        /// `Z2_UNIT`: the entity of what `ZUNIT` leads to, which is entity 2 or one below it.
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

    /// The parts of `Z_8FOLLOWEDTAGS`: a number and a name; `nil` for what is no such name.
    static func numbered(_ name: String) -> (number: Int64, stem: String)? {
        guard name.hasPrefix("Z_") else { return nil }
        let rest = name.dropFirst(2)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        let stem = rest.dropFirst(digits.count)
        guard let number = Int64(digits), !stem.isEmpty else { return nil }
        return (number, String(stem))
    }
}
