import CoreDataPrimitives

/// The statements of a save in their order, each with the rows that it runs for: values only.
///
/// See ``SavePlanner`` for the order and ``SaveExecutor`` for what becomes of it.
struct SavePlan: Sendable {
    /// A statement that writes several rows at once; what is left of them is written one by one.
    struct Several: Sendable {
        var sql: String
        var rows: Int
        /// How many are bound for each row.
        var values: Int
    }

    /// Rows that must be there at their versions.
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
            /// Bound behind the keys.
            var orders: [Int64?] = []
        }

        /// Bound: the two keys, then the orders.
        var sql: String
        /// The same for many rows: bound as arrays.
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
        /// Ordered by version and key, so that those with consecutive keys follow one another.
        var rows: [ChangeSet.Deletion]
        var consecutive: Consecutive?
        /// For the rows that are not consecutive. Bound: the keys, the version that all of them have.
        var several: Several?
        /// Whether rows are still there. Bound: first key, last key.
        var rangeCheck: String
    }

    /// Values that make room for those of other rows: set to NULL until the row's own update.
    struct Parking: Sendable {
        /// Bound: key.
        var sql: String
        var keys: [Int64]
    }

    struct Updates: Sendable {
        /// Bound for each row: version, columns, key. The old version is the one before.
        var several: Several?
        /// For many rows, bound as arrays: new version, columns, key, old version.
        var arrays: String?
        var form: UpdateForm
        var rows: [ChangeSet.Update]
    }

    struct Insertions: Sendable {
        /// Bound for each row: as for one.
        var several: Several?
        /// For many rows, bound as arrays: key, version, columns.
        var arrays: String?
        /// Bound: key, entity number, version, columns.
        var single: String
        var table: SaveTables.Table
        var rows: [ChangeSet.Insertion]
    }

    /// New rows of a table that do not come where a row has their unique values.
    struct Absorptions: Sendable {
        /// Statements that change the row in the way, those of the same columns together.
        var absorbing: [Insertions]
        /// All of them, for a table without the unique index that those statements name.
        var plain: Insertions
        /// Which of the save's insertions they are, ascending as their keys.
        var places: [Int]
        /// Selects keys and versions of rows, by key. Bound: first key, last key.
        var arrivals: String
    }

    /// Whether the order of the statements does not matter, since no row makes room for another.
    var runsInAnyOrder: Bool {
        removedLinks.isEmpty && deletions.isEmpty && parkings.isEmpty && absorptions.isEmpty
            && updates.allSatisfy { $0.form.table.constraints.isEmpty }
            && insertions.allSatisfy { $0.table.constraints.isEmpty }
    }

    // In the order in which they are run.
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
