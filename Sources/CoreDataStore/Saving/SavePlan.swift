import CoreDataPrimitives

/// The statements of a save in their order, each with its rows: only values.
///
/// ``SavePlanner`` determines the order; ``SaveExecutor`` executes the plan.
struct SavePlan: Sendable {
    /// A statement that writes several rows at once; the remaining rows are written one by one.
    struct Several: Sendable {
        var sql: String
        var rows: Int
        /// The number of bound values per row.
        var values: Int
    }

    /// Rows that must exist at their versions.
    struct Checks: Sendable {
        /// Bound: key, version.
        var sql: String
        var rows: [ChangeSet.Check]
    }

    /// Rows of a join table.
    struct Links: Sendable {
        struct Row: Sendable {
            var owner: Int64
            var destination: Int64
            /// The orders, bound after the keys.
            var orders: [Int64?] = []
        }

        /// Bound: the two keys, then the orders.
        var sql: String
        /// The statement for many rows, bound as arrays.
        var arrays: String?
        var rows: [Row]
    }

    /// A statement that deletes rows with consecutive keys and one version.
    struct Consecutive: Sendable {
        /// Bound: first key, last key, version.
        var sql: String
        var ranges: [Range<Int>]
    }

    struct Deletions: Sendable {
        var table: SaveTables.Table
        /// The rows, ordered by version and key, so that consecutive keys are adjacent.
        var rows: [ChangeSet.Deletion]
        var consecutive: Consecutive?
        /// The statement for rows that are not consecutive. Bound: the keys, their common version.
        var several: Several?
        /// Checks whether rows still exist. Bound: first key, last key.
        var rangeCheck: String
    }

    /// Values that other rows will take: set to NULL until their row's own update.
    struct Parking: Sendable {
        /// Bound: key.
        var sql: String
        var keys: [Int64]
    }

    struct Updates: Sendable {
        /// Bound for each row: version, columns, key. The old version is one less.
        var several: Several?
        /// The statement for many rows, bound as arrays: new version, columns, key, old version.
        var arrays: String?
        var form: UpdateForm
        var rows: [ChangeSet.Update]
    }

    struct Insertions: Sendable {
        /// Bound for each row like a single row.
        var several: Several?
        /// The statement for many rows, bound as arrays: key, version, columns.
        var arrays: String?
        /// Bound: key, entity number, version, columns.
        var single: String
        var table: SaveTables.Table
        var rows: [ChangeSet.Insertion]
    }

    /// New rows of a table that are absorbed by existing rows with their unique values.
    struct Absorptions: Sendable {
        /// Statements that change the existing row, grouped by columns.
        var absorbing: [Insertions]
        /// All of the rows, for a table without the unique index that these statements need.
        var plain: Insertions
        /// Their indexes among the save's insertions, ascending like their keys.
        var places: [Int]
        /// Selects keys and versions of rows, by key. Bound: first key, last key.
        var arrivals: String
    }

    /// Whether the order of the statements does not matter, since no row takes a value of another.
    var runsInAnyOrder: Bool {
        removedLinks.isEmpty && deletions.isEmpty && parkings.isEmpty && absorptions.isEmpty
            && updates.allSatisfy { $0.form.table.constraints.isEmpty }
            && insertions.allSatisfy { $0.table.constraints.isEmpty }
    }

    // The following steps are run in this order.
    var checks: [Checks] = []
    var removedLinks: [Links] = []
    var deletions: [Deletions] = []
    var parkings: [Parking] = []
    var updates: [Updates] = []
    var insertions: [Insertions] = []
    var absorptions: [Absorptions] = []
    var insertedLinks: [Links] = []
    var metadata: StoreMetadata?
}
