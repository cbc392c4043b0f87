import CoreData
import Foundation

/// Deletes all models of a container.
enum ContainerErasing {
    static func erase(_ container: ModelContainer) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        let names = container.coordinator.managedObjectModel.entities.filter { $0.superentity == nil }
            .compactMap(\.name).sorted()
        try context.performAndWait {
            for name in names {
                let request = NSBatchDeleteRequest(
                    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: name))
                try context.execute(request)
            }
        }
    }
}
