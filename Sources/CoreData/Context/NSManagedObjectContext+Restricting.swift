import CoreDataPrimitives
import CoreDataStore
import Foundation

// Restricted contexts, for modules above this one.
extension NSManagedObjectContext {
    /// Restricts the context before its first use, for good.
    ///
    /// - Throws: an error if the context was used already, has a parent, or has a store that cannot be restricted.
    package final func restrict(by restriction: any ContextRestriction) throws {
        checkOwned("restrict(to:as:)")
        func refused(_ reason: String) -> CocoaError {
            CoreDataErrors.invalidRequest("The context cannot be restricted: \(reason)")
        }
        if parentLink.isChild {
            throw refused("it has a parent. Restrict the context that has the coordinator; its children inherit that.")
        }
        guard let coordinator else { throw refused("set its persistentStoreCoordinator first.") }
        if storeView.restriction != nil { throw refused("it is restricted already. Make another context.") }
        guard registry.objects.isEmpty, !children.mayExist, storeView.generationReader == nil else {
            throw refused(
                "it was used already. Restrict a new context, before it has objects, children or a generation.")
        }
        for store in coordinator.attachedStores { try restriction.check(store.target, named: store.store.shownName) }
        storeView.restriction = restriction
        children.hasBeenPinned.store(true, ordering: .releasing)
        homeCache.forgetHomes()
        homeCache.rowForms = []
        registry.forgetHomes()
    }

    /// Returns the row of a stored object in its store; `nil` for an object that is not in a store.
    package final func storedRow(
        of object: NSManagedObject
    ) -> (store: any RowSource, key: RowKey)? {
        guard object.registry === registry, !object.hasTemporaryKey, object.isStored,
            let store = coordinator?.store(at: object.storeIndex)
        else { return nil }
        return (store.target, RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey))
    }
}
