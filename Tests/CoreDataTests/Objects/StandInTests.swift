import CoreData
import Foundation
import Testing

/// Classes of which Apple's framework makes empty instances by `init()`, as tests and placeholders do.
@Suite struct StandInTests {
    @Test func everyClassThatInheritsInitHasIt() {
        #expect(NSPredicate().evaluate(with: 1))
        #expect(NSConstraintConflict().constraint.isEmpty && NSConstraintConflict().databaseObject == nil)
        #expect(NSMergeConflict().newVersionNumber == 0)
        #expect(NSMergePolicy().mergeType == .errorMergePolicyType)
        #expect(NSMigrationManager().sourceModel.entities.isEmpty)
        #expect(NSStagedMigrationManager().stages.isEmpty)
        #expect(NSLightweightMigrationStage().versionChecksums.isEmpty)
        #expect(NSCustomMigrationStage().currentModel.resolvedModel.entities.isEmpty)
        #expect(NSMigrationStage().label == nil)
        #expect(NSEntityMigrationPolicy() !== NSEntityMigrationPolicy())
        #expect(NSPersistentHistoryChange().changeID == 0)
        #expect(NSPersistentHistoryTransaction().changes == nil)
        #expect(NSPersistentHistoryToken() == NSPersistentHistoryToken())
        #expect(NSPersistentHistoryChangeRequest().token == nil)
        #expect(NSPersistentHistoryResult().result == nil)
        #expect(NSPersistentStoreResult() !== NSPersistentStoreResult())
        #expect(NSBatchInsertRequest().entityName == "" && NSBatchInsertResult().result == nil)
        #expect(NSBatchUpdateRequest().entityName == "" && NSBatchUpdateResult().result == nil)
        #expect(NSBatchDeleteRequest().resultType == .resultTypeStatusOnly && NSBatchDeleteResult().result == nil)
        #expect(NSSaveChangesRequest().insertedObjects == nil)
        #expect(NSAsynchronousFetchRequest<NSManagedObject>().estimatedResultCount == 0)
        #expect(NSPersistentStoreAsynchronousResult().operationError == nil)
        #expect(NSFetchedResultsController<NSManagedObject>().fetchedObjects == nil)
        #expect(NSQueryGenerationToken() != NSQueryGenerationToken.current)
        #expect(NSAtomicStoreCacheNode().propertyCache == nil && NSIncrementalStoreNode().version == 0)
        #expect(NSPersistentStoreCoordinator().persistentStores.isEmpty && NSManagedObjectModel().entities.isEmpty)
    }

    @Test func aStandInThatIsUsedIsAnErrorAndStopsNothing() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            #expect(throws: CocoaError.self) { try context.execute(NSBatchInsertRequest()) }
            #expect(throws: CocoaError.self) { try context.execute(NSBatchUpdateRequest()) }
            #expect(throws: CocoaError.self) { try NSFetchedResultsController<NSManagedObject>().performFetch() }
            #expect(throws: (any Error).self) { try context.setQueryGenerationFrom(NSQueryGenerationToken()) }
            let result = try context.execute(NSBatchDeleteRequest()) as? NSBatchDeleteResult
            #expect(result?.result as? Bool == true)
        }
    }

    /// A coordinator of the program's own, made by its type.
    private class OwnCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
        var opened = 0
    }

    @Test func aCoordinatorIsMadeByItsType() {
        let type: NSPersistentStoreCoordinator.Type = OwnCoordinator.self
        #expect(type.init(managedObjectModel: Library.model()) is OwnCoordinator)
    }

    private final class OwnContainer: NSPersistentContainer, @unchecked Sendable {
        // Safe because it is made once.
        lazy var own = newBackgroundContext()
        override var viewContext: NSManagedObjectContext { own }
        override var name: String { "own " + super.name }
    }

    @Test("viewContext and name of a container can be overridden")
    func overriddenViewContext() throws {
        let container = OwnContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        #expect(container.viewContext === container.own && container.name == "own Library")
        let context = container.viewContext
        try context.performAndWait {
            Tag(context: context).name = "a"
            try context.save()
        }
    }

    @Test("A9: entity() of a class that no entity claims, or several, answers and logs")
    func entityOfNoClass() throws {
        #expect(NSManagedObject.entity().properties.isEmpty || !NSManagedObject.entity().name!.isEmpty)
        final class Unclaimed: NSManagedObject {}
        #expect(Unclaimed.entity().properties.isEmpty)
        let stack = try LibraryStack()
        stack.story { context in
            _ = #expect(throws: CocoaError.self) { try context.fetch(Unclaimed.fetchRequest()) }
        }
    }
}
