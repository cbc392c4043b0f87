/// A table that finds the rows of another by ranges of several numbers at once, with the triggers that keep it, as a value.
///
///     CreateRTree("Z_RT_Shop_byPlace", on: "ZSHOP", ["ZX", "ZY"], otherwise: index)
///     // CREATE VIRTUAL TABLE Z_RT_Shop_byPlace USING RTREE (Z_PK INTEGER PRIMARY KEY, ZX_MIN FLOAT, ZX_MAX FLOAT, …)
///     // CREATE TRIGGER Z_RT_Shop_byPlace_INSERT AFTER INSERT ON ZSHOP …      and _UPDATE, _DELETE
///
/// Each row has a box whose sides are its values, rounded outwards to 32 bits. NULL counts as 0. So the table finds every row that is
/// in a range, and perhaps others.
package struct CreateRTree: Hashable, Sendable {
    package var name: String
    /// The table of rows.
    package var table: String
    /// The columns of numbers in the table of rows.
    package var columns: [String]
    /// What serves in its place in a database without R-trees.
    package var substitute: CreateIndex
    /// Whether it takes in the rows that the table already has.
    package var takesRows = false

    package static let prefix = "Z_RT_"
    /// SQLite's limit.
    package static let maximumColumns = 5

    package init(_ name: String, on table: String, _ columns: [String], otherwise substitute: CreateIndex) {
        self.name = name
        self.table = table
        self.columns = columns
        self.substitute = substitute
    }

    /// The least and the greatest value of a row's box in a dimension.
    package static func minimum(of column: String) -> String { column + "_MIN" }
    package static func maximum(of column: String) -> String { column + "_MAX" }

    package var triggerNames: [String] { ["INSERT", "UPDATE", "DELETE"].map { "\(name)_\($0)" } }

    /// The table and its triggers, in the order in which they are made.
    package var partNames: [String] { [name] + triggerNames }

    /// All names that it takes, those of the tables that SQLite makes for it among them.
    package var takenNames: [String] { partNames + ["rowid", "node", "parent"].map { "\(name)_\($0)" } }
}
