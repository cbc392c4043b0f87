import CoreDataSQL

/// Creates the bookkeeping tables of a store, including optional ones.
enum BookkeepingCreation {
    /// Creates the table in which transactions record their commit.
    static func createCommits(in connection: any SQLConnection) throws {
        try make([.table(BookkeepingSchema.commits)], in: connection)
    }

    /// Creates the tables of the history. As in Apple's files, the first transaction adds their rows in `Z_PRIMARYKEY`;
    /// with concurrent writers, these rows are added at once.
    static func createHistory(tombstones: Int, in connection: any SQLConnection) throws {
        try make(BookkeepingSchema.history(tombstones: tombstones), in: connection)
        if connection.dialect.writesTogether { try numberHistory(in: connection) }
    }

    /// Adds the missing rows of `Z_PRIMARYKEY` that count the history's rows.
    static func numberHistory(in connection: any SQLConnection) throws {
        for (number, name) in BookkeepingSchema.historyEntities {
            var insert = insertion(ofEntity: name, number: number, parent: 0)
            insert.conflict = .ignore
            try connection.run(insert)
        }
        try connection.makeHistoryView()
    }

    static func make(_ statements: [SchemaStatement], in connection: any SQLConnection) throws {
        for statement in statements { try connection.make(statement) }
    }

    static func insertion(ofEntity name: String, number: Int64, parent: Int64) -> InsertStatement {
        InsertStatement(
            into: BookkeepingSchema.primaryKeyTable, columns: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"],
            rows: [[.integer(number), .bind(.text(name)), .integer(parent), .integer(0)]])
    }
}
