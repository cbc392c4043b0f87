import CoreData
import Foundation

/// Deletes all models of a container.
enum ContainerErasing {
    static func erase(_ container: ModelContainer) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        let dataStores = container.coordinator.persistentStores.compactMap { $0 as? DataStoreBridge }
        for store in dataStores { try store.erase() }
        guard dataStores.count < container.coordinator.persistentStores.count else { return }
        let names = container.coordinator.managedObjectModel.entities.filter { $0.superentity == nil }
            .compactMap(\.name).sorted()
        try context.performAndWait {
            for name in names {
                let request = NSBatchDeleteRequest(
                    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: name))
                request.affectedStores = container.coordinator.persistentStores.filter { !($0 is DataStoreBridge) }
                try context.execute(request)
            }
        }
    }
}
