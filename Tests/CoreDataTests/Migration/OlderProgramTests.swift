import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// A program with an older model, and a store of a newer one: what the newer one added is not dropped without anybody's wish.
@Suite struct OlderProgramTests {
    private let shop: ShopVersions

    init() throws { shop = try ShopVersions() }

    /// Adds the store as an app with the model does by default.
    private func load(_ model: NSManagedObjectModel, _ change: (NSPersistentStoreDescription) -> Void = { _ in }) throws
    {
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: shop.url)
        change(description)
        container.persistentStoreDescriptions = [description]
        var problem: (any Error)?
        container.loadPersistentStores { problem = $1 }
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        if let problem { throw problem }
    }

    private func refusal(
        _ model: NSManagedObjectModel, _ change: (NSPersistentStoreDescription) -> Void = { _ in }
    ) throws -> CocoaError {
        try #require(throws: CocoaError.self) { try load(model, change) }
    }

    private func expectNothingLost(_ error: CocoaError) throws {
        #expect(error.errorCode == NSMigrationMissingSourceModelError)
        #expect(error.userInfo[NSMigrationLossesErrorKey] as? [String] == ShopVersions.losses)
        for part in ShopVersions.losses + [NSMigratePersistentStoresAllowingLossOption, shop.url.path] {
            #expect(error.localizedDescription.contains(part), "\(part): \(error.localizedDescription)")
        }
        #expect(try shop.contents() == ["Tea 3 box"])
    }

    // MARK: Models with versions

    @Test func aStoreThatTheNewerProgramMadeIsRefused() throws {
        let new = try shop.program(ShopVersions.old, ShopVersions.new, named: "new")
        try shop.fill(new)
        let error = try refusal(shop.program(ShopVersions.old, named: "old"))
        try expectNothingLost(error)
        // Which version it has.
        #expect(error.localizedDescription.contains("'2.0'"))
        #expect(error.localizedDescription.contains(new.versionChecksum))
        #expect((error.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] != nil)
    }

    @Test func aStoreThatTheNewerProgramMigratedIsRefused() throws {
        try shop.fill(shop.program(ShopVersions.old, named: "old"))
        try load(shop.program(ShopVersions.old, ShopVersions.new, named: "new"))
        try shop.open(ShopVersions.code(ShopVersions.new)) { context in
            for item in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")) { context.delete(item) }
            try context.save()
        }
        try shop.fill(shop.program(ShopVersions.old, ShopVersions.new, named: "new"))
        try expectNothingLost(refusal(shop.program(ShopVersions.old, named: "old")))
    }

    @Test func anOptionAllowsTheLoss() throws {
        try shop.fill(shop.program(ShopVersions.old, ShopVersions.new, named: "new"))
        let old = try shop.program(ShopVersions.old, named: "old")
        _ = try refusal(old) { $0.shouldMigrateStoreAllowingLoss = false }
        try load(old) { $0.shouldMigrateStoreAllowingLoss = true }
        #expect(try shop.open(old, [:]) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) } == 1)
        let error = #expect(throws: CocoaError.self) {
            try shop.open(old, [NSMigratePersistentStoresAllowingLossOption: "yes"])
        }
        #expect(error?.localizedDescription.contains(NSMigratePersistentStoresAllowingLossOption) == true)
    }

    @Test func versionsOfTheModelDropWhatTheirDeveloperRemoved() throws {
        let later = model(entity("Item", attribute("price")))
        try shop.fill(shop.program(ShopVersions.old, ShopVersions.new, named: "2"))
        try load(shop.program(ShopVersions.old, ShopVersions.new, later, named: "3"))
        // Also to an older one that the program has made its current one.
        try load(shop.program(later, ShopVersions.old, named: "4"))
    }

    @Test func whatLosesNothingIsMigrated() throws {
        let removed = model(entity("Item"))
        try shop.open(shop.program(ShopVersions.old, removed, named: "new"))
        try load(shop.program(ShopVersions.old, named: "old"))
    }

    @Test func aMergedModelHasTheVersionsOfItsParts() throws {
        let other = model(entity("Note", attribute("text")))
        func program(_ documents: [ModelDocument], _ name: String) throws -> NSManagedObjectModel {
            let models = [
                try NSManagedObjectModel.load(contentsOf: shop.file(documents, named: name)),
                try shop.program(other, named: name + "-notes"),
            ]
            return try #require(NSManagedObjectModel(byMerging: models))
        }
        try shop.fill(program([ShopVersions.old, ShopVersions.new], "new"))
        let error = try refusal(program([ShopVersions.old], "old"))
        #expect(error.userInfo[NSMigrationLossesErrorKey] as? [String] == ShopVersions.losses)
        let later = model(entity("Item", attribute("name")), entity("Shelf"))
        try load(program([ShopVersions.new, later], "later"))
    }

    @Test func oneVersionOfAFolderHasTheOthersBesideIt() throws {
        let file = try shop.file([ShopVersions.old, ShopVersions.new], named: "new")
        try shop.fill(NSManagedObjectModel.load(contentsOf: file))
        let alone = try shop.file([ShopVersions.old], named: "old").appendingPathComponent("Shop.mom")
        _ = try refusal(NSManagedObjectModel.load(contentsOf: alone))
        try load(NSManagedObjectModel.load(contentsOf: file.appendingPathComponent("Shop.mom")))
    }

    @Test func aCopyOfAModelHasItsVersions() throws {
        try shop.fill(shop.program(ShopVersions.new, named: "new"))
        let copy = try #require(shop.program(ShopVersions.old, named: "old").copy() as? NSManagedObjectModel)
        try expectNothingLost(refusal(copy))
    }

    @Test func stagesAreTheVersionsOfAProgram() throws {
        try shop.fill(ShopVersions.code(ShopVersions.new))
        let old = try ShopVersions.code(ShopVersions.old)
        func staged(_ versions: [ModelDocument]) throws -> NSStagedMigrationManager {
            NSStagedMigrationManager([
                NSLightweightMigrationStage(try versions.map { try ShopVersions.code($0).versionChecksum })
            ])
        }
        let stages = try staged([ShopVersions.old])
        try expectNothingLost(
            refusal(old) { $0.setOption(stages, forKey: NSPersistentStoreStagedMigrationManagerOptionKey) })
        // One that a stage names.
        let later = model(entity("Item", attribute("name")), entity("Shelf"))
        let longer = try staged([ShopVersions.old, ShopVersions.new, later])
        try load(ShopVersions.code(later)) {
            $0.setOption(longer, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        }
    }

    @Test func aProgressiveMigrationIsRefusedToo() throws {
        try shop.fill(shop.program(ShopVersions.old, ShopVersions.new, named: "new"))
        let other = model(entity("Item", attribute("name"), attribute("note")))
        let error = try refusal(shop.program(ShopVersions.old, other, named: "old")) {
            $0.shouldMigrateStoreProgressively = true
        }
        try expectNothingLost(error)
    }

    // MARK: Models in code

    @Test func whoRemovesAnAttributeInCodeRemovesIt() throws {
        try shop.fill(ShopVersions.code(ShopVersions.new))
        try load(ShopVersions.code(ShopVersions.old))
    }

    @Test func aVersionThatAStoreHasLeftBehindIsRefused() throws {
        try shop.open(ShopVersions.code(ShopVersions.old))
        try shop.fill(ShopVersions.code(ShopVersions.new))
        let old = try ShopVersions.code(ShopVersions.old)
        let error = try refusal(old)
        try expectNothingLost(error)
        #expect(error.localizedDescription.contains("a newer program has migrated it"))
        // A third one is none that the store has left.
        try load(ShopVersions.code(model(entity("Item", attribute("name"), attribute("note")))))
        try load(old) { $0.shouldMigrateStoreAllowingLoss = true }
    }

    @Test func whoGoesBackWithoutLossGoesForwardAgain() throws {
        let (more, less) = (
            try ShopVersions.code(ShopVersions.new), try ShopVersions.code(model(entity("Item", attribute("name"))))
        )
        try shop.fill(more)
        for _ in 0..<2 {
            try load(less)
            try load(more)
        }
    }

    @Test func anOptionMakesEveryUnknownVersionRefused() throws {
        try shop.fill(ShopVersions.code(ShopVersions.new))
        let old = try ShopVersions.code(ShopVersions.old)
        try expectNothingLost(refusal(old) { $0.shouldMigrateStoreAllowingLoss = false })
        try load(old)
    }

    @Test func usersNeitherSeeNorLoseWhatAStoreRemembers() throws {
        try shop.open(ShopVersions.code(ShopVersions.old))
        try shop.fill(ShopVersions.code(ShopVersions.new))
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: shop.url)
        #expect(!metadata.keys.contains { $0.contains("Former") })
        try NSPersistentStoreCoordinator.setMetadata(["mine": 1], type: .sqlite, at: shop.url)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try ShopVersions.code(ShopVersions.new))
        let store = try coordinator.addPersistentStore(type: .sqlite, at: shop.url)
        coordinator.setMetadata(["mine": 2], for: store)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try context.save() }
        try coordinator.remove(store)
        try expectNothingLost(refusal(ShopVersions.code(ShopVersions.old)))
    }

    // MARK: Other ways

    @Test func aMappingModelIsAWish() throws {
        try shop.open(ShopVersions.code(ShopVersions.old))
        try shop.fill(ShopVersions.code(ShopVersions.new))
        let (old, new) = (try ShopVersions.code(ShopVersions.old), try ShopVersions.code(ShopVersions.new))
        let back = try NSMappingModel.inferredMappingModel(forSourceModel: new, destinationModel: old)
        let made = shop.folder.appendingPathComponent("Old.sqlite")
        try NSMigrationManager(sourceModel: new, destinationModel: old)
            .migrateStore(from: shop.url, type: .sqlite, mapping: back, to: made, type: .sqlite)
        #expect(
            try shop.open(old, [:], at: made) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }
                == 1)
        // One of a bundle.
        try MappedMigration(back, from: new, to: old, type: NSSQLiteStoreType).run(at: shop.url, options: nil)
        try shop.open(old, [:])
    }

    @Test(arguments: [true, false]) func whatAManagerMakesRemembersWhereItComesFrom(fast: Bool) throws {
        let (old, new) = (try ShopVersions.code(ShopVersions.old), try ShopVersions.code(ShopVersions.new))
        try shop.open(old)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        for type in [NSPersistentStore.StoreType.sqlite, .xml, .binary] {
            let made = shop.folder.appendingPathComponent("New.\(type.rawValue)")
            let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
            manager.usesStoreSpecificMigrationManager = fast
            try manager.migrateStore(from: shop.url, type: .sqlite, mapping: mapping, to: made, type: type)
            let row = try AttachedStore.metadataRow(of: made, type: type.rawValue, nil)
            #expect(row.metadata.formerVersions == [old.versionChecksum], "\(type)")
        }
        try MappedMigration(mapping, from: old, to: new, type: NSSQLiteStoreType).run(at: shop.url, options: nil)
        try shop.fill(new)
        try expectNothingLost(refusal(old))
    }

    @Test func aCopyRemembersWhatTheStoreDoes() throws {
        let new = try ShopVersions.code(ShopVersions.new)
        try shop.open(ShopVersions.code(ShopVersions.old))
        try shop.fill(new)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: shop.url)
        let copy = shop.folder.appendingPathComponent("Copy.sqlite")
        let moved = try coordinator.migratePersistentStore(store, to: copy, type: .sqlite)
        try coordinator.remove(moved)
        #expect(throws: CocoaError.self) { try shop.open(ShopVersions.code(ShopVersions.old), at: copy) }
        #expect(try shop.contents(at: copy) == ["Tea 3 box"])
    }
}
