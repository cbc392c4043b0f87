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

    /// Two custom stages that tell what they do; the handler of a name fails once.
    private final class Told {
        var lines: [String] = []
        var failing: String?
    }

    private struct Enough: Error {}

    private func stages(_ versions: [NSManagedObjectModel], _ told: Told) -> NSStagedMigrationManager {
        func tell(_ line: String) throws {
            told.lines.append(line)
            guard told.failing == line else { return }
            told.failing = nil
            throw Enough()
        }
        return NSStagedMigrationManager(
            zip(versions, versions.dropFirst()).enumerated().map { index, pair in
                let stage = NSCustomMigrationStage(migratingFrom: reference(pair.0), to: reference(pair.1))
                stage.willMigrateHandler = { _, _ in try tell("will \(index)") }
                stage.didMigrateHandler = { _, _ in try tell("did \(index)") }
                return stage
            })
    }

    @Test(
        "T8: after a failure the handler runs that has not come to its end, and none that has",
        arguments: ["will 0", "did 0", "will 1", "did 1"])
    func handlersRunOnce(failing: String) throws {
        let versions = [try model("title"), try model("title", "a"), try model("title", "a", "b")]
        let url = try makeStore(versions[0])
        let told = Told()
        told.failing = failing
        #expect(throws: Enough.self) { _ = try open(url, versions[2], stages(versions, told)) }
        #expect(try open(url, versions[2], stages(versions, told)) == ["One"])
        #expect(told.lines.filter { $0 != failing } == ["will 0", "did 0", "will 1", "did 1"].filter { $0 != failing })
        #expect(told.lines.filter { $0 == failing }.count == 2)
        #expect(try open(url, versions[2], stages(versions, told)) == ["One"])
        #expect(told.lines.count == 5)
        // What is noted meanwhile is nobody else's business.
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(metadata.keys.filter { $0.hasPrefix("OpenCoreData") } == [])
    }

    @Test("T8: stores of one file, with models that are in code alone", arguments: ["XML", "Binary"])
    func filesOfOneFile(type: String) throws {
        let versions = [try model("title"), try model("title", "a"), try model("title", "a", "b")]
        let type = NSPersistentStore.StoreType(rawValue: type)
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Library.store")
        func books(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?, adding title: String?) throws -> Int {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
            defer { try? coordinator.remove(store) }
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                if let title {
                    NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                        .setValue(title, forKey: "title")
                    try context.save()
                }
                return try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
            }
        }
        #expect(try books(versions[0], nil, adding: "One") == 1)
        let told = Told()
        told.failing = "did 1"
        func options() -> [AnyHashable: Any] {
            [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreStagedMigrationManagerOptionKey: stages(versions, told),
            ]
        }
        #expect(throws: Enough.self) { _ = try books(versions[2], options(), adding: nil) }
        #expect(try books(versions[2], options(), adding: nil) == 1)
        #expect(told.lines == ["will 0", "did 0", "will 1", "did 1", "did 1"])
        #expect(try books(versions[2], nil, adding: "Two") == 2)
    }

    @Test("T8: stores of one configuration each go through the stages that their entities change in")
    func configurations() throws {
        func version(_ books: [String], _ notes: [String]) throws -> NSManagedObjectModel {
            var document = ModelDocument()
            var (book, note) = (EntityElement(name: "Book"), EntityElement(name: "Note"))
            book.properties = books.map { attribute($0) }
            note.properties = notes.map { attribute($0) }
            document.entities = [book, note]
            document.configurations = [("Cloud", "Book"), ("Local", "Note")].map { name, entity in
                var configuration = ConfigurationElement(name: name)
                configuration.entityNames = [entity]
                return configuration
            }
            return try NSManagedObjectModel(document: document)
        }
        let versions = [
            try version(["title"], ["text"]), try version(["title", "a"], ["text"]),
            try version(["title", "a"], ["text", "b"]),
        ]
        let folder = try Fixtures.temporaryFolder()
        func add(_ model: NSManagedObjectModel, _ told: Told?) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            for name in ["Cloud", "Local"] {
                var options: [AnyHashable: Any] = [:]
                if let told {
                    options = [
                        NSMigratePersistentStoresAutomaticallyOption: true,
                        NSInferMappingModelAutomaticallyOption: true,
                        NSPersistentStoreStagedMigrationManagerOptionKey: stages(versions, told),
                    ]
                }
                try coordinator.addPersistentStore(
                    type: .sqlite, configuration: name, at: folder.appendingPathComponent("\(name).sqlite"),
                    options: options)
            }
            return coordinator
        }
        func close(_ coordinator: NSPersistentStoreCoordinator) throws {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
        let old = try add(versions[0], nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = old
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue("One", forKey: "title")
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue("n", forKey: "text")
            try context.save()
        }
        try close(old)
        let told = Told()
        let new = try add(versions[2], told)
        // The one changes in the first stage, the other in the second.
        #expect(told.lines == ["will 0", "did 0", "will 1", "did 1"])
        let fresh = NSManagedObjectContext(.privateQueue)
        fresh.persistentStoreCoordinator = new
        try fresh.performAndWait { () throws in
            for name in ["Book", "Note"] {
                #expect(try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: name)) == 1)
            }
        }
        try close(new)
        try close(try add(versions[2], told))
        #expect(told.lines.count == 4)
    }
}
