import CoreDataSQL
import CoreDataSQLite
import CoreDataStore

extension SpecifiedStore {
    /// An SQLite database in memory of which it is said that it lacks all that a database may lack: most predicates are left to
    /// memory.
    static let sqliteLackingMuch = sqliteLacking(
        "much", capabilities.filter { !$0.servesDerivedAttributes }.reduce(.sqlite) { $1.removed($0) })

    /// One that lacks one thing, for each that a database may lack.
    static let sqliteLackingOne = capabilities.map { sqliteLacking($0.name, $0.removed(.sqlite)) }

    /// Something that a fetch may ask for, and a dialect without it.
    private struct Capability: Sendable {
        var name: String
        var servesDerivedAttributes = false
        var removed: @Sendable (SQLDialect) -> SQLDialect
    }

    private static let capabilities: [Capability] =
        SQLFunction.allCases.filter { !needed.contains($0) }.map { function in
            Capability(
                name: "\(function)", servesDerivedAttributes: [.canonical, .uppercase, .lowercase].contains(function)
            ) { $0.without(function) }
        }
        + SQLAggregate.allCases.filter { $0 != .maximum }.map { aggregate in
            Capability(
                name: "\(aggregate) of rows",
                servesDerivedAttributes: [.count, .sum, .minimum, .average].contains(aggregate)
            ) { $0.without(aggregate) }
        }
        + SQLCollation.allCases.map { collation in Capability(name: "order \(collation)") { $0.without(collation) } }
        + [Capability(name: "arrays of JSON") { $0.withoutJSONArrays() }]

    /// Saves and drivers ask for these, or no fetch does.
    private static let needed: Set<SQLFunction> = [
        .ifNull, .greatest, .byteLength, .storageClass, .derivedAttributeInserted, .derivedAttributeUpdated,
        .predicateAttributeUpdated, .nextKey, .now, .schemaVersion,
    ]

    private static func sqliteLacking(_ what: String, _ dialect: SQLDialect) -> SpecifiedStore {
        SpecifiedStore(
            name: "SQLite in memory, lacking \(what)",
            make: { model in
                let engine = try StoreEngine.open(model: model, options: StoreOptions(path: nil)) {
                    var options = SQLiteOptions($0)
                    options.dialect = dialect
                    return try SQLiteDatabase(options)
                }
                return OpenedStore(source: engine, remove: { engine.close() }, explain: engine.explanation)
            },
            lacks: sqliteMemory.lacks, predicateSeeds: 1)
    }
}
