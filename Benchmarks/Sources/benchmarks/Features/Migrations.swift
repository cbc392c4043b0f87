import CoreData
import Foundation
import Measuring
import RawSQLite
import Sides

/// A store of items that get a note and stars, beside what plain C does, each on a file of its own.
struct Migrations {
    let rows: Int
    let stores: Stores

    private let old = GroceryModel.make()
    private let new = GroceryModel.make(isNewer: true)

    init(rows: Int, stores: Stores) {
        self.rows = rows
        self.stores = stores
    }

    // MARK: In the database

    func lightweight(isRaw: Bool) throws -> (seconds: Double, digest: Digest) {
        try stores.prepare(.full, rows: rows)
        let store = try stores.copy(.full, rows: rows, for: "migrations")
        defer { try? stores.remove(store) }
        let seconds = try isRaw ? statements(store) : automatic(store)
        return (seconds, try digest(store))
    }

    private func automatic(_ store: URL) throws -> Double {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let (seconds, _) = try Stopwatch.time {
            try coordinator.addPersistentStore(
                type: .sqlite, at: store,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return seconds
    }

    /// What the framework does, but for the model that it keeps.
    private func statements(_ store: URL) throws -> Double {
        let empty = stores.folder.appendingPathComponent("newer.sqlite")
        defer { try? stores.remove(empty) }
        try makeEmpty(empty)
        let table = try RawSession(empty).text("SELECT sql FROM sqlite_master WHERE name = 'ZITEM'")
        let session = try RawSession(store)
        let indexes = ["LOCATIONATHOME", "LOCATIONATSHOP", "UNIT"].map {
            "CREATE INDEX ZITEM_Z\($0)_INDEX ON ZITEM (Z\($0));"
        }
        let columns = "Z_PK, Z_ENT, Z_OPT, \(Self.columns)"
        return try Stopwatch.time {
            try session.execute(
                """
                BEGIN IMMEDIATE;
                ALTER TABLE ZITEM RENAME TO Z_OLD;
                \(table);
                INSERT INTO ZITEM (\(columns), ZSTARS) SELECT \(columns), 3 FROM Z_OLD;
                DROP TABLE Z_OLD;
                \(indexes.joined())
                UPDATE Z_METADATA SET Z_PLIST = Z_PLIST; UPDATE Z_MODELCACHE SET Z_CONTENT = Z_CONTENT;
                COMMIT
                """)
        }.seconds
    }

    private static let columns =
        "ZCOLLECTED, ZLISTED, ZLOCATIONATHOME, ZLOCATIONATSHOP, ZUNIT, ZQUANTITY, ZNAME, ZPHOTO"

    private func makeEmpty(_ url: URL) throws {
        try stores.remove(url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
    }

    // MARK: By a mapping model

    func mapped(isRaw: Bool, policy: NSEntityMigrationPolicy.Type? = nil) throws -> (seconds: Double, digest: Digest) {
        try stores.prepare(.full, rows: rows)
        let store = try stores.copy(.full, rows: rows, for: "migrations")
        let made = stores.folder.appendingPathComponent("migrated.sqlite")
        try stores.remove(made)
        defer { for url in [store, made] { try? stores.remove(url) } }
        let seconds = try isRaw ? rowByRow(store, made) : migrate(store, made, policy)
        return (seconds, try digest(made))
    }

    private func migrate(_ store: URL, _ made: URL, _ policy: NSEntityMigrationPolicy.Type?) throws -> Double {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        for entity in mapping.entityMappings where entity.destinationEntityName == "Item" {
            entity.entityMigrationPolicyClassName = policy.map { NSStringFromClass($0) }
        }
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = false
        return try Stopwatch.time {
            try manager.migrateStore(from: store, type: .sqlite, mapping: mapping, to: made, type: .sqlite)
        }.seconds
    }

    private func rowByRow(_ store: URL, _ made: URL) throws -> Double {
        try makeEmpty(made)
        let source = try RawSession(store)
        let target = try RawSession(made)
        func copy(_ table: String, _ columns: String, _ values: String) throws {
            let marks = values.split(separator: ",").map { _ in "?" }.joined(separator: ",")
            try target.check(
                raw_copy_rows(
                    source.session, target.session, "SELECT \(values) FROM \(table)",
                    "INSERT INTO \(table) (\(columns)) VALUES (\(marks))"))
        }
        return try Stopwatch.time {
            try target.execute("BEGIN IMMEDIATE")
            for (table, column) in [
                ("ZLOCATIONATHOME", "ZSTOREDIN"), ("ZLOCATIONATSHOP", "ZAISLE"), ("ZUNIT", "ZNAME"),
            ] {
                try copy(table, "Z_PK, Z_ENT, Z_OPT, \(column)", "Z_PK, Z_ENT, 1, \(column)")
            }
            try copy("ZITEM", "Z_PK, Z_ENT, Z_OPT, \(Self.columns), ZSTARS", "Z_PK, Z_ENT, 1, \(Self.columns), 3")
            try target.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows); COMMIT")
        }.seconds
    }

    /// Versions apart: what is saved twice has another.
    private func digest(_ store: URL) throws -> Digest {
        var digest = Digest()
        digest.table = try RawSession(store).text(
            """
            SELECT COUNT(*), TOTAL(Z_PK), TOTAL(Z_ENT), TOTAL(ZCOLLECTED), TOTAL(ZLISTED), TOTAL(ZLOCATIONATHOME),
                   TOTAL(ZLOCATIONATSHOP), TOTAL(ZUNIT), TOTAL(ZQUANTITY), TOTAL(LENGTH(ZNAME)), COUNT(ZPHOTO),
                   TOTAL(ZSTARS), COUNT(ZNOTE), (SELECT GROUP_CONCAT(sql, ';') FROM (SELECT sql FROM sqlite_master
                   WHERE tbl_name = 'ZITEM' ORDER BY sql)) FROM ZITEM
            """)
        return digest
    }
}

/// Makes each item as its mapping says, and looks at it.
final class StarringPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        for item in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
            item.setValue(3, forKey: "stars")
        }
    }
}
