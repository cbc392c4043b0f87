import Foundation

// Publishers of module CoreDataCombine, which are notified before an object changes.
extension NSManagedObject {
    /// Returns the publisher that is notified before this object changes. It is created at the first call, and kept.
    ///
    /// - Parameters:
    ///   - make: creates it.
    ///   - announce: notifies it; called on the context's queue before each change by a setter, the other side of a
    ///     relationship, undo, a refresh or a merge.
    package final func announcer<Announcer: AnyObject>(
        _ make: () -> Announcer, announce: @escaping (Announcer) -> Void
    ) -> Announcer {
        let extras = madeExtras()
        if let known = extras.announcer as? Announcer { return known }
        let made = make()
        extras.announcer = made
        extras.announce = { announce(made) }
        flags.insert(.announces)
        return made
    }

    /// Called before a property changes; `nil` if any property may change.
    @inline(never)
    final func announceChange(_ slot: Int?) {
        extras?.announce?()
        extras?.observers?.willChange(slot)
    }

    /// Called after a property was set, or after any property may have changed.
    @inline(never)
    final func announceChanged(_ slot: Int?) { extras?.observers?.didChange(slot) }
}
