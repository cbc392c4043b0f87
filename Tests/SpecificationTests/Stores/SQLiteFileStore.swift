import CoreDataModel
import CoreDataSQLite
import CoreDataStore
import Foundation
import TestSupport

extension SpecifiedStore {
    /// An SQLite database in a file.
    static let sqliteFile = SpecifiedStore(
        name: "SQLite in a file",
        make: { model in
            let folder = try Fixtures.temporaryFolder()
            return try open(folder, model, isReadOnly: false)
        }, lacks: sqliteLacks, predicateSeeds: 1)

    /// What no SQLite database can keep.
    static let sqliteLacks: [Capability: String] = [
        .exactDecimals:
            "a column of type DECIMAL has a double, whose 15 digits Apple's stores keep as well (store-format §7)",
        .notANumber: "SQLite has no NaN: it is kept as NULL, by Apple's stores too",
    ]

    private static func open(_ folder: URL, _ model: CompiledModel, isReadOnly: Bool) throws -> OpenedStore {
        var options = StoreOptions(path: folder.appendingPathComponent("Store.sqlite").path)
        options.database.isReadOnly = isReadOnly
        let engine = try StoreEngine.open(model: model, options: options) { try SQLiteDatabase(SQLiteOptions($0)) }
        return OpenedStore(
            source: engine,
            reopen: { isReadOnly in
                engine.close()
                return try open(folder, model, isReadOnly: isReadOnly)
            },
            remove: {
                engine.close()
                try? FileManager.default.removeItem(at: folder)
            }, explain: engine.explanation)
    }
}

extension StoreEngine {
    @Sendable func explanation(of plan: FetchPlan) -> String {
        guard let explained = try? explain(plan) else { return "" }
        return "\(explained.sql)\n\(explained.bindings)"
    }
}
