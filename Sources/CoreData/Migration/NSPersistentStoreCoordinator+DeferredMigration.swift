import CoreDataStore
import Foundation

extension NSPersistentStoreCoordinator {
    /// Finishes what lightweight migrations of the coordinator's stores have put off.
    ///
    /// The stores can be in use meanwhile. Each table is a transaction: what fails, or kills the program, leaves the
    /// rest to be done.
    ///
    /// - Throws: what saving may throw. Stores that are read only are left out.
    public final func finishDeferredLightweightMigration() throws {
        while try finishDeferredTask() {}
    }

    /// Does the next part, one table, of the work that lightweight migrations have deferred; does nothing if there is
    /// none.
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
