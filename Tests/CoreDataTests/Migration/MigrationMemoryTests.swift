import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What a migration object by object takes of memory; runs where `COREDATA_MIGRATED_OBJECTS` says of how many.
@Suite struct MigrationMemoryTests {
    private static let count =
        ProcessInfo.processInfo.environment["COREDATA_MIGRATED_OBJECTS"].flatMap { Int($0) } ?? 0

    /// Whether a policy of the program's own has a say, so that objects are made.
    private static let hasPolicy = ProcessInfo.processInfo.environment["COREDATA_MIGRATION_POLICY"] != nil

    private func highWater() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
        return line?.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    @Test(.enabled(if: count > 0)) func memoryIsBounded() throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let old = try NSManagedObjectModel(
            document: model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                entity("Book", attribute("title"), toOne("author", "Author", inverse: "books"))))
        let new = try NSManagedObjectModel(
            document: model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                entity(
                    "Book", attribute("name").with { $0.renamingIdentifier = "title" },
                    toOne("author", "Author", inverse: "books").with { $0.isOptional = false })))
        let source = folder.appendingPathComponent("Old.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: source))
        let database = try SQLStore.makeDatabase(.init(path: source.path))
        try database.write { connection in
            try connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'author ' || i FROM n"
            )
            try connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count)) INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) SELECT i, 2, 1, 'the title of book ' || i, 1 + i % 1000 FROM n"
            )
            try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(Self.count)")
        }
        database.close()
        let before = highWater()
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = false
        let destination = folder.appendingPathComponent("New.sqlite")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        if Self.hasPolicy {
            mapping.entityMappings.first { $0.destinationEntityName == "Book" }?.entityMigrationPolicyClassName =
                NSStringFromClass(NamingPolicy.self)
        }
        let start = ContinuousClock.now
        try manager.migrateStore(from: source, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        print("\(Self.count) objects: \(before) kB before, \(highWater()) kB at most, \(ContinuousClock.now - start)")
        let made = try SQLStore.makeDatabase(.init(path: destination.path))
        defer { made.close() }
        let count = try made.read { try $0.rows("SELECT COUNT(*), COUNT(ZAUTHOR), COUNT(ZNAME) FROM ZBOOK") }
        #expect(count == [Array(repeating: .integer(Int64(Self.count)), count: 3)])
    }
}

/// Sets a value of each object that it makes.
final class NamingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        made?.setValue("\(sInstance.value(forKey: "title") ?? ""), newly", forKey: "name")
    }
}
