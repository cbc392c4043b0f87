import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What a program does with migrations that it should not: an error tells, and the store is as it was.
@Suite struct MigrationMisuseTests {
    private let folder: URL
    private let old: NSManagedObjectModel
    private let new: NSManagedObjectModel

    init() throws {
        folder = try Fixtures.temporaryFolder()
        old = try NSManagedObjectModel(document: model(entity("Book", attribute("title"))))
        new = try NSManagedObjectModel(document: model(entity("Book", attribute("title"), attribute("note"))))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: source)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for title in ["One", "Two"] {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context).setValue(
                    title, forKey: "title")
            }
            try context.save()
        }
        try coordinator.remove(store)
    }

    private var source: URL { folder.appendingPathComponent("Old.sqlite") }
    private var destination: URL { folder.appendingPathComponent("New.sqlite") }

    /// Resets the manager that calls it.
    final class ResettingPolicy: NSEntityMigrationPolicy {
        override func createDestinationInstances(
            forSource book: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
        ) throws {
            manager.reset()
            try super.createDestinationInstances(forSource: book, in: mapping, manager: manager)
        }
    }

    /// Has the manager that calls it migrate another store.
    final class NestingPolicy: NSEntityMigrationPolicy {
        override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
            let url = URL(fileURLWithPath: "/nowhere")
            try manager.migrateStore(
                from: url, type: .sqlite, mapping: NSMappingModel(), to: url, type: .sqlite)
        }
    }

    private func mapping(_ change: (NSEntityMapping) -> Void) -> NSMappingModel {
        let mapping = NSEntityMapping()
        mapping.name = "Books"
        mapping.sourceEntityName = "Book"
        mapping.destinationEntityName = "Book"
        change(mapping)
        let model = NSMappingModel()
        model.entityMappings = [mapping]
        return model
    }

    private func error(_ change: (NSEntityMapping) -> Void) throws -> CocoaError {
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let error = try #require(throws: CocoaError.self) {
            try manager.migrateStore(
                from: source, type: .sqlite, mapping: mapping(change), to: destination, type: .sqlite)
        }
        #expect(!FileManager.default.fileExists(atPath: destination.path))
        // The same manager can be used again.
        try manager.migrateStore(from: source, type: .sqlite, mapping: mapping { _ in }, to: destination, type: .sqlite)
        return error
    }

    @Test("T: a mapping that an expression names has to be there", arguments: [true, false])
    func aMappingThatIsNotThereIsNotAskedFor(isForAttribute: Bool) throws {
        let error = try error { mapping in
            let property = NSPropertyMapping()
            property.name = isForAttribute ? "note" : "others"
            property.valueExpression = CoreData.NSExpression(
                format:
                    "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'Boks', $source)",
                argumentArray: [])
            if isForAttribute {
                mapping.attributeMappings = [property]
            } else {
                mapping.relationshipMappings = [property]
            }
        }
        #expect(error.errorCode == NSMigrationError)
        for part in ["'Books'", "'Boks'", property(isForAttribute), "it has: Books"] {
            #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
        }
    }

    private func property(_ isForAttribute: Bool) -> String { isForAttribute ? "'note'" : "'others'" }

    @Test func aManagerThatMigratesIsNotReset() throws {
        let error = try error { $0.entityMigrationPolicyClassName = "ResettingPolicy" }
        #expect(error.errorCode == NSMigrationError && error.localizedDescription.contains("reset()"))
    }

    @Test func aManagerMigratesOneStoreAtATime() throws {
        let error = try error { $0.entityMigrationPolicyClassName = "NestingPolicy" }
        #expect(error.errorCode == NSEntityMigrationPolicyError && error.localizedDescription.contains("/nowhere"))
        #expect((error.userInfo[NSUnderlyingErrorKey] as? CocoaError)?.errorCode == NSMigrationError)
    }

    @Test func aPolicyAloneMakesNothing() throws {
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        let mappings = mapping { _ in }
        let book = NSManagedObject(entity: try #require(old.entitiesByName["Book"]), insertInto: nil)
        let error = try #require(throws: CocoaError.self) {
            try NSEntityMigrationPolicy().createDestinationInstances(
                forSource: book, in: try #require(mappings.entityMappings.first), manager: manager)
        }
        #expect(error.errorCode == NSEntityMigrationPolicyError)
    }

    @Test(arguments: ["3", "$source", "FETCH(FUNCTION($manager, 'other:'), FUNCTION($manager, 'sourceContext'), NO)"])
    func otherSourceExpressionsAreRefused(format: String) throws {
        let error = try error { $0.sourceExpression = CoreData.NSExpression(format: format) }
        #expect(error.errorCode == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("source expression of the mapping 'Books'"))
    }

    @Test("T3: a model may become empty")
    func everyEntityMayGo() throws {
        let empty = NSManagedObjectModel()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: empty)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: source,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true as NSNumber,
                NSInferMappingModelAutomaticallyOption: true as NSNumber,
            ])
        try coordinator.remove(store)
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: source, model: empty).findings.isEmpty)
    }

    @Test(arguments: [
        NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
        NSPersistentStoreDeferredLightweightMigrationOptionKey, NSPersistentStoreStagedMigrationManagerOptionKey,
    ])
    func optionsOfAnotherTypeAreTold(key: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: new)
        let error = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: .sqlite, at: source, options: [key: "yes"])
        }
        #expect(error.localizedDescription.contains(key))
    }

    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
    func metadataThatNoFileHasAreTold(type: NSPersistentStore.StoreType) throws {
        let url = folder.appendingPathComponent("store")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.remove(try coordinator.addPersistentStore(type: type, at: url))
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator.setMetadata(["good": 1, "strange": NSObject()], type: type, at: url)
        }
        #expect(error.localizedDescription.contains("under the key 'strange'"))
        try NSPersistentStoreCoordinator.setMetadata(["good": ["a": [1, Date()]]], type: type, at: url)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        #expect(metadata["good"] != nil)
    }

    /// Gives all objects one name.
    final class NamelessStore: NSAtomicStore, @unchecked Sendable {
        override func load() throws {}
        override func save() throws {}
        override func newReferenceObject(for managedObject: NSManagedObject) -> Any { "same" }
    }

    @Test func referencesThatAreNoNamesAreTold() throws {
        let type = NSPersistentStore.StoreType(rawValue: "NamelessStore")
        NSPersistentStoreCoordinator.registerStoreClass(NamelessStore.self, type: type)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.addPersistentStore(type: type, at: folder.appendingPathComponent("nameless"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<2 { _ = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context) }
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.localizedDescription.contains("newReferenceObject(for:)"))
        }
    }
}
