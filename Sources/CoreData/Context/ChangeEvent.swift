/// The objects that one event touched; each at most once a list, flags tell which lists it is in.
struct ChangeEvent {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    var refreshed: [NSManagedObject] = []
    var invalidated: [NSManagedObject] = []
    /// With other values than before, which only those who observe them are told.
    var observed: [NSManagedObject] = []
    /// Merged, of a child context, with the values that they had: lists that have them need not tell of them; noted for followers only.
    var unchanged: Set<ObjectReference> = []
    /// Inserted by another context, and made known to this one.
    var mergedInsertions: [NSManagedObject] = []
    /// Rows that another context changed, also of objects that this one does not know; noted for followers only.
    var mergedUpdates: [NSManagedObjectID] = []
    /// Rows that another context changed, or deleted, and of whose former values this one knows nothing; noted for followers only.
    var strangers: [NSManagedObjectID] = []
    var deletedStrangers: [NSManagedObjectID] = []
    /// What rows led to before another context changed them; noted for followers only.
    var formerDestinations: [NSManagedObject] = []
    /// Deleted before, and not any more.
    var restored: [NSManagedObject] = []
    /// What undo needs of the objects that leave; recorded while there is an undo manager.
    var leaving: [LeavingObject] = []

    /// Calls `body` with what was inserted, updated and deleted.
    func forEachObject(_ body: (NSManagedObject) -> Void) {
        inserted.forEachHeld(body)
        updated.forEachHeld(body)
        deleted.forEachHeld(body)
    }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
            && mergedInsertions.isEmpty && mergedUpdates.isEmpty && strangers.isEmpty
            && deletedStrangers.isEmpty && restored.isEmpty && observed.isEmpty
    }
}
