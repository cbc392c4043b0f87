/// The changes of one event: everything that happened to a context's objects since changes were last processed.
///
/// Each object is in a list at most once; its flags say in which lists it is. Lists marked "for followers" stay empty
/// while the context has no ``ChangeFollower``.
struct ChangeEvent {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    var refreshed: [NSManagedObject] = []
    var invalidated: [NSManagedObject] = []
    /// Objects that got other values without being changed here. Only observers of their properties are notified.
    var observed: [NSManagedObject] = []
    /// For followers: objects that a child context saved with the values that they had. Lists that hold them need no
    /// notification.
    var unchanged: Set<ObjectReference> = []
    /// Objects that another context inserted, and that a merge registered here.
    var mergedInsertions: [NSManagedObject] = []
    /// For followers: rows that another context changed, with and without objects in this context.
    var mergedUpdates: [NSManagedObjectID] = []
    /// For followers: rows that another context changed, and whose previous values this context does not know.
    var unknownUpdates: [NSManagedObjectID] = []
    /// For followers: rows that another context deleted, and whose previous values this context does not know.
    var unknownDeletions: [NSManagedObjectID] = []
    /// For followers: objects to which rows referred before another context changed the rows.
    var previousDestinations: [NSManagedObject] = []
    /// Objects that were deleted before the event and are not deleted any more.
    var restored: [NSManagedObject] = []
    /// The states of objects that were deleted or left the context, for undo. Empty without an undo manager.
    var deletedStates: [DeletedObjectState] = []

    /// Calls `body` with each inserted, updated and deleted object.
    func forEachObject(_ body: (NSManagedObject) -> Void) {
        inserted.forEachHeld(body)
        updated.forEachHeld(body)
        deleted.forEachHeld(body)
    }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
            && mergedInsertions.isEmpty && mergedUpdates.isEmpty && unknownUpdates.isEmpty
            && unknownDeletions.isEmpty && restored.isEmpty && observed.isEmpty
    }
}
