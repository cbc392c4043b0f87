import CoreDataSQL

/// The tables besides those of rows: entity numbers, metadata, the cached model, history.
package enum BookkeepingSchema {
    package static let primaryKeyTable = "Z_PRIMARYKEY"
    package static let metadataTable = "Z_METADATA"
    package static let modelCacheTable = "Z_MODELCACHE"

    /// The tables in the order of a new store.
    package static let tables = [
        CreateTable(
            primaryKeyTable,
            columns: [
                .init("Z_ENT", .rowKey), .init("Z_NAME", .text), .init("Z_SUPER", .integer),
                .init("Z_MAX", .integer),
            ], hasInnerSpaces: false),
        CreateTable(
            metadataTable,
            columns: [
                .init("Z_VERSION", .rowKey), .init("Z_UUID", .shortText), .init("Z_PLIST", .bytes),
            ], hasInnerSpaces: false),
        modelCache,
    ]

    package static let modelCache = CreateTable(
        modelCacheTable, columns: [.init("Z_CONTENT", .bytes)], hasInnerSpaces: false)

    /// The table in which transactions record their commits, with a row for each writer; only in databases on a server.
    package static let commitsTable = "Z_COMMITS"
    package static let commits = CreateTable(
        commitsTable, columns: [.init("Z_PK", .rowKey), .init("Z_VERSION", .integer), .init("ZTIMESTAMP", .date)],
        hasInnerSpaces: false)

    // MARK: - History

    package static let changeTable = "ACHANGE"
    package static let transactionTable = "ATRANSACTION"
    package static let transactionStringTable = "ATRANSACTIONSTRING"

    /// Entity numbers from this one on belong to the framework, not the model.
    package static let firstFrameworkNumber: Int64 = 16000

    /// The `Z_ENT` of rows in the history's tables.
    package static let changeNumber: Int64 = 16001
    package static let transactionNumber: Int64 = 16002
    package static let transactionStringNumber: Int64 = 16003

    /// The rows of `Z_PRIMARYKEY` that the history's first transaction adds.
    package static let historyEntities: [(number: Int64, name: String)] = [
        (changeNumber, "CHANGE"), (transactionNumber, "TRANSACTION"), (transactionStringNumber, "TRANSACTIONSTRING"),
    ]

    /// Returns the tables of persistent history; `tombstones` is the largest number of attributes that one entity
    /// preserves after deletion.
    package static func history(tombstones: Int) -> [SchemaStatement] {
        let change = table(
            changeTable, integers: ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"],
            rest: [("ZCOLUMNS", .bytes)] + (0..<max(0, tombstones)).map { ("ZTOMBSTONE\($0)", .bytes) })
        let stringKeys = ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"]
        let transaction = table(
            transactionTable, integers: stringKeys,
            rest: [
                ("ZTIMESTAMP", .real), ("ZAUTHOR", .text), ("ZBUNDLEID", .text),
                ("ZCONTEXTNAME", .text), ("ZPROCESSID", .text), ("ZQUERYGEN", .bytes),
            ])
        let string = table(transactionStringTable, integers: [], rest: [("ZNAME", .text)])
        let indexes =
            [CreateIndex("ACHANGE_ZTRANSACTIONID_INDEX", on: changeTable, [.init("ZTRANSACTIONID")])]
            + stringKeys.map { CreateIndex("ATRANSACTION_\($0)_INDEX", on: transactionTable, [.init($0)]) }
            + [
                CreateIndex(
                    "Z_TRANSACTION_TransactionAuthorIndex", on: transactionTable,
                    [.init("ZAUTHOR", isAscending: true)]),
                CreateIndex(
                    "Z_TRANSACTION_TransactionTimestampIndex", on: transactionTable,
                    [.init("ZTIMESTAMP", isAscending: true)]),
                CreateIndex(
                    "Z_TRANSACTIONSTRING_UNIQUE_NAME", on: transactionStringTable,
                    [.init("ZNAME", isAscending: true)], isUnique: true),
            ]
        return [.table(change), .table(transaction), .table(string)] + indexes.map(SchemaStatement.index)
    }

    private static func table(
        _ name: String, integers: [String], rest: [(String, SQLType)]
    ) -> CreateTable {
        CreateTable(
            name,
            columns: [
                .init("Z_PK", .rowKey), .init("Z_ENT", .integer), .init("Z_OPT", .integer),
            ] + integers.map { .init($0, .integer) } + rest.map { .init($0.0, $0.1) })
    }
}
