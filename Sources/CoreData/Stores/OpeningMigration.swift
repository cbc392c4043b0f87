import CoreDataStore
import Foundation

/// Migrates stores that are about to be opened. Stores get one as a parameter: they do not know the migrations there
/// are.
protocol OpeningMigration {
    /// Opens a store, and migrates it first if it is of another model and the options request that.
    func opening<R>(
        _ url: URL?, type: String, _ model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any]?, _ open: () throws -> R
    ) throws -> R

    /// Migrates an atomic store of the program's own class, if it is of another model.
    ///
    /// - Parameter row: the store's metadata.
    /// - Returns: whether this was necessary.
    func migrate(
        _ storeClass: NSAtomicStore.Type, type: String, configuration: String?, url: URL,
        options: [AnyHashable: Any], to model: NSManagedObjectModel, from row: MetadataRow
    ) throws -> Bool
}

/// A value of the option ``NSPersistentStoreStagedMigrationManagerOptionKey``; only ``NSStagedMigrationManager``
/// conforms.
protocol StagedMigrating: AnyObject {}
