/// The changes of a context: since its last save, and since its last event.
///
/// ```
///  set, insert, delete ──▶ lists and event ──processPendingChanges()──▶ lists ──save()──▶ empty
///                                            delete rules, undo, notifications
/// ```
/// Invariants:
/// - An object is in each list at most once. Its flags (`listedInserted`, `listedUpdated`, `listedDeleted`, and those
///   of the event) say in which lists it is.
/// - A list may hold objects that have left the state again. The flags of the object decide, not the list.
/// - Only code on the context's queue uses the value, and nothing calls out while one of its variables changes.
///
/// A context stores the value inline and changes it in place. Do not copy it: a copy counts a reference for each of its
/// arrays.
struct PendingChanges {
    /// Objects that the next save inserts.
    var inserted: [NSManagedObject] = []
    /// Objects that the next save updates.
    var updated: [NSManagedObject] = []
    /// Objects that the next save deletes.
    var deleted: [NSManagedObject] = []
    /// Objects whose row versions the next save checks, changed or not: see
    /// ``NSManagedObjectContext/detectConflicts(for:)``.
    var versionChecked: [NSManagedObject] = []
    /// The changes since changes were last processed.
    var event = ChangeEvent()
    /// Deleted objects whose delete rules have not been applied yet.
    var awaitingDeleteRules: [NSManagedObject] = []
    /// Objects whose `prepareForDeletion` runs at the moment.
    var preparingForDeletion: [NSManagedObject] = []
    /// New objects that left the context before a save, and that child contexts may have: the next save tells the
    /// children.
    var discardedInsertions: [NSManagedObjectID] = []
    /// Whether changes are being processed, or must wait: then ``NSManagedObjectContext/processPendingChanges()`` does
    /// nothing.
    var isProcessing = false
}
