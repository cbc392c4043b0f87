/// A table with its triggers, as a value, that finds the rows of another table by ranges of several numbers at once.
///
///     CreateRTree("Z_RT_Shop_byPlace", on: "ZSHOP", ["ZX", "ZY"], otherwise: index)
///     // CREATE VIRTUAL TABLE Z_RT_Shop_byPlace USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN FLOAT, ZX_MAX FLOAT, …)
///     // CREATE TRIGGER Z_RT_Shop_byPlace_INSERT AFTER INSERT ON ZSHOP …      and _UPDATE, _DELETE
///
/// Each row has a box whose sides are its values, rounded outwards to 32 bits. NULL counts as 0. So the table finds
/// every row in a range, and possibly others.
package struct CreateRTree: Hashable, Sendable {
    package var name: String
    /// The table that contains the rows.
    package var table: String
    /// The columns of numbers in that table.
    package var columns: [String]
    /// The index to use in a database without R-trees.
    package var substitute: CreateIndex
    /// Whether to insert the rows that the table already has.
    package var takesRows = false

    package static let prefix = "Z_RT_"
    /// SQLite's limit of columns.
    package static let maximumColumns = 5

    package init(_ name: String, on table: String, _ columns: [String], otherwise substitute: CreateIndex) {
        self.name = name
        self.table = table
        self.columns = columns
        self.substitute = substitute
    }

    /// The columns of the least and the greatest value of a row's box in a dimension.
    package static func minimum(of column: String) -> String { column + "_MIN" }
    package static func maximum(of column: String) -> String { column + "_MAX" }

    package var triggerNames: [String] { ["INSERT", "UPDATE", "DELETE"].map { "\(name)_\($0)" } }

    /// The table and its triggers, in the order of creation.
    package var partNames: [String] { [name] + triggerNames }

    /// All names that it uses, including those of the tables that SQLite makes for it.
    package var takenNames: [String] { partNames + ["rowid", "node", "parent"].map { "\(name)_\($0)" } }
}
