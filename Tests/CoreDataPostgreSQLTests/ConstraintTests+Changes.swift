import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

// Constraints of stores that are migrated, copied and made anew.
extension ConstraintTests {
    // MARK: Stores that change

    @Test func migrationsInPlaceKeepThem() throws {
        let schema = Notes.newSchema("c")
        let url = try Self.url(Self.both, schema: schema)
        let plain = try Self.url("", schema: schema)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let before = try Self.constraints(url)
        #expect(before.contains { $0.hasPrefix("Book_tags._fk_tags") })
        // Who migrates it says nothing of constraints.
        for version in [2, 3] {
            try library.open(plain, .postgreSQL, version, Library.automatic) { _ in }
        }
        let after = try Self.constraints(url)
        #expect(after.contains { $0.hasPrefix("Book_labels._fk_labels") })
        #expect(!after.contains { $0.contains("NOT VALID") || $0.contains("Book_tags") })
        try library.open(url, .postgreSQL, 3) { _ in }
        #expect(try Self.constraints(url) == after)
    }

    @Test func whatMakesAStoreAnewGivesThemBackWhenItIsOpened() throws {
        let schema = Notes.newSchema("c")
        let url = try Self.url(Self.both, schema: schema)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let before = try Self.constraints(url)
        let migration = ProgressiveMigration(
            to: library.models[1], configuration: nil, type: NSPostgreSQLStoreType,
            mappings: [("1to2", try library.mapping())])
        #expect(try migration.run(at: url, options: nil))
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v2 upper")
        #expect(try Self.constraints(url).count == before.count)

        // To a file and back, over what is there.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".sqlite")
        defer { try? FileManager.default.removeItem(at: file) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[1])
        let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        _ = try coordinator.migratePersistentStore(store, to: file, type: .sqlite)
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: file, type: .postgreSQL)
        _ = try Self.context(url, library.models[1])
        #expect(try Self.constraints(url).count == before.count)
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v2 upper")

        try NSPersistentStoreCoordinator(managedObjectModel: library.models[1])
            .destroyPersistentStore(at: url, type: .postgreSQL)
        #expect(try Self.constraints(url).isEmpty)
    }
}
