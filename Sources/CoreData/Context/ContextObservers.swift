import Foundation

/// The observers of a context's events, and the context's own observation of other contexts.
///
/// Invariants:
/// - ``mergeObserver`` has a value exactly while the context merges the saves of others automatically.
/// - ``followers`` holds no strong reference.
struct ContextObservers {
    /// The observation of the saves of other contexts that this one merges.
    var mergeObserver: (any NSObjectProtocol)?
    /// Lists and other followers of the context. They receive whole events, also if no notification is posted.
    var followers = ChangeFollowers()
    /// Whether nothing observes the context's notifications, although the program has used their names.
    var isUnobserved = false
    /// See ``NSManagedObjectContext/objectWillMerge``.
    var objectWillMerge: ((_ object: NSManagedObject, _ survivor: NSManagedObject) -> Void)?
}

extension NSManagedObjectContext {
    /// Called before a merge policy replaces an object, which leaves the context, by another one because of a
    /// uniqueness constraint. The save may still fail; then it rolls this back.
    package final var objectWillMerge: ((_ object: NSManagedObject, _ survivor: NSManagedObject) -> Void)? {
        get { observers.objectWillMerge }
        set { observers.objectWillMerge = newValue }
    }

    /// Ends the observations of a context that is deallocated.
    final func stopObserving() {
        if let observer = observers.mergeObserver { NotificationCenter.default.removeObserver(observer) }
        if let observer = undoRecording.checkpointObserver { NotificationCenter.default.removeObserver(observer) }
        undoRecording.manager?.removeAllActions(withTarget: self)
    }
}
