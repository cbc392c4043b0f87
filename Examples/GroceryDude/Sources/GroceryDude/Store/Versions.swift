import CoreData
import CoreDataToolkit
import Foundation

/// The versions of the model, and what brings a store from one to the next.
enum Versions {
    static let newest = 8

    /// Each step has a mapping model that is inferred; that to version 8 makes objects of the pictures.
    static let all = MigrationVersions {
        try (1...newest).map(model)
    } mapping: { index, old, new in
        guard index == 6 else { return nil }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let item = mapping.entityMappings.first { $0.destinationEntityName == "Item" }
        item?.mappingType = .customEntityMappingType
        item?.entityMigrationPolicyClassName = String(reflecting: PhotoMigration.self)
        return mapping
    }

    /// That version of the model.
    static func model(_ version: Int) throws -> NSManagedObjectModel {
        let name = version == 1 ? "GroceryDude" : "GroceryDude \(version)"
        guard let folder = Bundle.module.url(forResource: "GroceryDude", withExtension: "momd"),
            let model = NSManagedObjectModel(contentsOf: folder.appendingPathComponent("\(name).mom"))
        else { throw ToolkitError("Version \(version) of the model is not among the program's resources.") }
        return model
    }

    /// Whether there is a store, and it is of an older version.
    static func needMigration(at store: URL) throws -> Bool {
        // A server migrates in one transaction.
        guard store.isFileURL, FileManager.default.fileExists(atPath: store.path) else { return false }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        return !(try model(newest)).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// The version of the store in that file.
    ///
    /// - Throws: a `ToolkitError` where it is none of this program's.
    static func version(ofStoreAt store: URL) throws -> Int {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store)
        let version = try (1...newest).first {
            try model($0).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        guard let version else {
            throw ToolkitError("\(store.path) is a store of no version that this program knows.")
        }
        return version
    }

    /// Keeps a store of an older version among the backups while `open` migrates it; not where that fails.
    @MainActor static func keepingBackup<Result>(
        of store: URL, _ open: @MainActor () async throws -> Result
    ) async throws -> Result {
        guard try needMigration(at: store) else { return try await open() }
        let old = try model(try version(ofStoreAt: store))
        var options = CoreDataStack.Options()
        options.isReadOnly = true
        options.undo = false
        let stack = try await CoreDataStack.setUp(model: old, storeURL: store, options: options)
        let backup = Backup(stack, to: Groceries.backupFolder(of: store))
        let made: BackupInfo
        do { made = try await backup.create(name: Groceries.freshBackupName("before-version-\(newest)")) } catch {
            try? await stack.removeStores()
            throw error
        }
        try await stack.removeStores()
        do { return try await open() } catch {
            try? await backup.delete(made.name)
            throw error
        }
    }
}

/// Makes the objects that pictures have since version 8.
final class PhotoMigration: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let data = sInstance.value(forKey: "photoData") as? Data,
            let item = manager.destinationInstances(
                forEntityMappingName: mapping.name, sourceInstances: [sInstance]
            ).first
        else { return }
        let photo = NSEntityDescription.insertNewObject(
            forEntityName: "Item_Photo", into: manager.destinationContext)
        photo.setValue(data, forKey: "data")
        item.setValue(photo, forKey: "photo")
    }
}
