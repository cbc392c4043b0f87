import CoreDataSQLite
import CoreDataStore

extension SpecifiedStore {
    /// An SQLite database in memory.
    static let sqliteMemory = SpecifiedStore(
        name: "SQLite in memory",
        make: { model in
            let engine = try StoreEngine.open(model: model, options: StoreOptions(path: nil)) {
                try SQLiteDatabase(SQLiteOptions($0))
            }
            return OpenedStore(source: engine, remove: { engine.close() }, explain: engine.explanation)
        },
        lacks: sqliteLacks.merging([
            .formerStates: noFormerState, .reopening: "a database in memory ends when it is closed",
        ]) { first, _ in first }, predicateSeeds: 3)
}
