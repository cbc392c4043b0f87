import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Statement T8.
@Suite struct StagedMigrationTests {
    private func model(_ names: String...) throws -> NSManagedObjectModel {
        var document = ModelDocument()
        var book = EntityElement(name: "Book")
        book.properties = names.map { attribute($0) }
        document.entities = [book]
        return try NSManagedObjectModel(document: document)
    }

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    private func makeStore(_ model: NSManagedObjectModel) throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("One", forKey: "title")
            try context.save()
        }
        try coordinator.remove(store)
        return url
    }

    private func open(
        _ url: URL, _ model: NSManagedObjectModel, _ manager: NSStagedMigrationManager
    ) throws -> [String?] {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        container.persistentStoreDescriptions = [description]
        var problem: (any Error)?
        container.loadPersistentStores { problem = $1 }
        if let problem { throw problem }
        return try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
            $0.value(forKey: "title") as? String
        }
    }

    @Test func stagesAreGoneThroughInOrder() throws {
        let versions = [
            try model("title"), try model("title", "a"), try model("title", "a", "b"), try model("title", "c"),
        ]
        let url = try makeStore(versions[0])
        var told: [String] = []
        let custom = NSCustomMigrationStage(migratingFrom: reference(versions[1]), to: reference(versions[2]))
        func books(_ manager: NSStagedMigrationManager) throws -> [NSManagedObject] {
            let context = try #require(manager.container?.viewContext)
            return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
        custom.willMigrateHandler = { manager, _ in
            let book = try #require(try books(manager).first)
            told.append("will \(book.entity.attributesByName.keys.sorted())")
            book.setValue("Uno", forKey: "title")
            try book.managedObjectContext?.save()
        }
        custom.didMigrateHandler = { manager, stage in
            told.append("did \(try books(manager).first?.entity.attributesByName.keys.sorted() ?? [])")
        }
        let manager = NSStagedMigrationManager([
            NSLightweightMigrationStage([versions[0].versionChecksum, versions[1].versionChecksum]), custom,
            NSLightweightMigrationStage([versions[3].versionChecksum]),
        ])
        #expect(try open(url, versions[3], manager) == ["Uno"])
        #expect(told == [#"will ["a", "title"]"#, #"did ["a", "b", "title"]"#])
        #expect(manager.container == nil)
        // It is there: nothing runs again.
        #expect(try open(url, versions[3], manager) == ["Uno"])
        #expect(told.count == 2)
    }

    @Test func aVersionThatNoStageKnowsIsAnError() throws {
        let versions = [
            try model("title"), try model("title", "a"), try model("title", "a", "b"),
        ]
        let url = try makeStore(versions[0])
        let custom = NSCustomMigrationStage(migratingFrom: reference(versions[1]), to: reference(versions[2]))
        let error = try #require(throws: CocoaError.self) {
            _ = try open(url, versions[2], NSStagedMigrationManager([custom]))
        }
        #expect(error.errorCode == NSManagedObjectModelReferenceNotFoundError)
        // The store is as it was.
        _ = try NSPersistentStoreCoordinator(managedObjectModel: versions[0]).addPersistentStore(type: .sqlite, at: url)
    }

    @Test func stagesDoNotLeadBack() throws {
        let versions = [try model("title"), try model("title", "a")]
        let url = try makeStore(versions[1])
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage(versions.map(\.versionChecksum))])
        let error = try #require(throws: CocoaError.self) { _ = try open(url, versions[0], manager) }
        #expect(error.errorCode == NSStagedMigrationBackwardMigrationError)
    }

    @Test("134506: stages from the newest to the oldest are told as that, wherever the store is", arguments: [0, 1])
    func stagesOutOfOrderAreTold(start: Int) throws {
        let versions = [try model("title"), try model("title", "a"), try model("title", "a", "b")]
        let url = try makeStore(versions[start])
        let first = NSCustomMigrationStage(migratingFrom: reference(versions[0]), to: reference(versions[1]))
        let second = NSCustomMigrationStage(migratingFrom: reference(versions[1]), to: reference(versions[2]))
        second.label = "the second"
        let error = try #require(throws: CocoaError.self) {
            _ = try open(url, versions[2], NSStagedMigrationManager([second, first]))
        }
        #expect(error.errorCode == NSStagedMigrationBackwardMigrationError)
        #expect(error.localizedDescription.contains("out of order: the stage 'the second'"), "\(error)")
        #expect(try open(url, versions[2], NSStagedMigrationManager([first, second])) == ["One"])
    }

    @Test("134505: of a store that does not say which version it is of no stage can begin")
    func storesWithoutVersionAreRefused() throws {
        let versions = [try model("title"), try model("title", "a")]
        let url = try makeStore(versions[0])
        let manager = NSStagedMigrationManager([NSLightweightMigrationStage(versions.map(\.versionChecksum))])
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        for key in metadata.keys where key.hasPrefix("NSStoreModelVersion") { metadata[key] = nil }
        metadata[NSStoreUUIDKey] = nil
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let database = try SQLStore.makeDatabase(.init(path: url.path))
        try database.write { _ = try $0.run("UPDATE Z_METADATA SET Z_PLIST = \(bind: .blob(list))") }
        database.close()
        for version in versions {
            let error = try #require(throws: CocoaError.self) { _ = try open(url, version, manager) }
            #expect(error.errorCode == NSStagedMigrationFrameworkVersionMismatchError)
        }
        // Where there is no store yet there is nothing to say.
        let new = url.deletingLastPathComponent().appendingPathComponent("New.sqlite")
        #expect(try open(new, versions[1], manager) == [])
    }

    @Test func handlersAndReferencesCanFail() throws {
        struct Enough: Error {}
        let versions = [try model("title"), try model("title", "a")]
        let url = try makeStore(versions[0])
        let lost = NSCustomMigrationStage(
            migratingFrom: reference(versions[0]),
            to: NSManagedObjectModelReference(model: versions[0], versionChecksum: versions[1].versionChecksum))
        let error = try #require(throws: CocoaError.self) {
            _ = try open(url, versions[1], NSStagedMigrationManager([lost]))
        }
        #expect(error.errorCode == NSManagedObjectModelReferenceNotFoundError)
        let failing = NSCustomMigrationStage(migratingFrom: reference(versions[0]), to: reference(versions[1]))
        failing.willMigrateHandler = { _, _ in throw Enough() }
        #expect(throws: Enough.self) { _ = try open(url, versions[1], NSStagedMigrationManager([failing])) }
        // The store is at the version before.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(versions[0].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
}
