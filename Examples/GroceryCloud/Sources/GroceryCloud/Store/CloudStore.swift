import CoreData
import CoreDataPermissions
import Foundation
import LivePages

/// The store of all households, and the rules that each context obeys.
///
/// Nothing reads or writes the store but through a context that is restricted to an account: see ``makeContext(_:for:)``.
final class CloudStore: Sendable {
    let rules: AccessRules
    let url: URL
    let store: NSPersistentStore
    /// Hands out contexts; only this file and the service of programs use it.
    let coordinator: NSPersistentStoreCoordinator

    /// Opens the store, or makes it.
    init(at url: URL) throws {
        guard let file = Bundle.module.url(forResource: "GroceryCloud", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: file)
        else { throw LaunchOptions.Problem(description: "the model is not among the program's resources") }
        rules = try AccessRules(model)
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        self.url = url
        if url.isFileURL {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        var options: [String: Any] = [
            NSPersistentHistoryTrackingKey: NSNumber(value: true),
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
            NSPersistentStore.transactionNotesOption: NSNumber(value: true),
            NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
            NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
        ]
        // Pages wait for a statement: the desk tries again while another process writes. Servers know no pragmas.
        if url.isFileURL { options[NSSQLitePragmasOption] = ["busy_timeout": "250"] }
        store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url, options: options)
    }

    /// Makes a context that reads and writes only what the accessor may.
    func makeContext(
        _ type: NSManagedObjectContext.ConcurrencyType, for accessor: Accessor
    ) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(type)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.transactionAuthor = accessor.account?.uuidString
        try context.restrict(to: rules, as: accessor)
        return context
    }

    /// Deletes the objects of households that no longer exist.
    ///
    /// - Parameter households: groups that the store of accounts has deleted.
    func purge(_ households: some Sequence<UUID>) async throws {
        let all = Array(households)
        for start in stride(from: 0, to: all.count, by: 100) {
            let part = all[start..<min(start + 100, all.count)]
            // A caretaker with the rights of an owner of these households, and of no others.
            let accessor = Accessor(
                account: UUID(), groups: Dictionary(uniqueKeysWithValues: part.map { ($0, "owner") }))
            let context = try makeContext(.privateQueue, for: accessor)
            try await context.perform {
                for entity in ["Item", "List", "Unit", "LocationAtHome", "LocationAtShop", "Deletion"] {
                    _ = try context.execute(
                        NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: entity))
                    )
                }
            }
        }
    }

    func close() {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
}
