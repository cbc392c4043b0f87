import CoreDataStore
import Foundation

// Finding a store of the coordinator.
extension NSPersistentStoreCoordinator {
    final func attachedStore(of store: NSPersistentStore) -> AttachedStore? {
        attachedStores.first { $0.store === store }
    }

    final func store(withIdentifier identifier: String) -> AttachedStore? {
        let stores = attachedStores
        // Nearly every one is written as its store writes it.
        return stores.first { $0.identifier == identifier }
            ?? stores.first { $0.identifier.caseInsensitiveCompare(identifier) == .orderedSame }
    }

    /// The stores that have the entity or one below it.
    final func stores(for entity: EntityRuntime, affected: [NSPersistentStore]?) -> [AttachedStore] {
        attachedStores.filter { store in
            if let affected, !affected.isEmpty, !affected.contains(where: { $0 === store.store }) { return false }
            return entity.compiled.subtree.contains { store.source.includes(entity: $0) }
        }
    }

    final var hasUnsavedMetadata: Bool { attachedStores.contains { $0.hasUnsavedMetadata } }
}
