import CoreDataStore
import Foundation

/// The option with a store's ``NSStagedMigrationManager``.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"
/// The option that asks to put off what of a lightweight migration can wait: a boolean.
///
///     description.setOption(NSNumber(value: true), forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
///     …
///     if store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil {
///         try coordinator.finishDeferredLightweightMigration()      // later, when there is time
///     }
///
/// Tables that need not be copied stay as they are: columns of new properties are added (`ALTER TABLE … ADD COLUMN`), those of
/// properties that are gone stay, as tables of entities do that are gone. The store can be used at once, and be migrated further.
/// The same key is in the store's metadata as long as something is put off.
///
/// Stores of one file are written anew by every migration: there nothing can wait.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey =
    "NSPersistentStoreDeferredLightweightMigrationOptionKey"

extension NSPersistentStoreCoordinator {
    /// Finishes what lightweight migrations of the coordinator's stores have put off.
    ///
    /// The stores can be in use meanwhile. Each table is a transaction: what fails, or kills the program, leaves the rest to be done.
    ///
    /// - Throws: what saving may throw. Stores that are read only are left out.
    public final func finishDeferredLightweightMigration() throws {
        while try finishDeferredTask() {}
    }

    /// Does the next part of what lightweight migrations have put off, one table; nothing where nothing is.
    ///
    ///     while store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil {
    ///         try coordinator.finishDeferredLightweightMigrationTask()
    ///     }
    public final func finishDeferredLightweightMigrationTask() throws { _ = try finishDeferredTask() }

    /// Whether there was something to do.
    private func finishDeferredTask() throws -> Bool {
        for attached in attachedStores {
            guard let source = attached.target as? any DeferringSource, !source.isReadOnly else { continue }
            let isDone = try CoreDataErrors.converting {
                try source.finishDeferredTask(managedObjectModel.makeDocument())
            }
            guard isDone else { continue }
            let row = try CoreDataErrors.converting { try source.metadata() }
            attached.store.state.withLock { if !$0.hasUnsavedMetadata { $0.metadata = .stored(row) } }
            return true
        }
        return false
    }
}
