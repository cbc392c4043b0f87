import Foundation

// Who is told before anything of one object changes: publishers of module CoreDataCombine.
extension NSManagedObject {
    /// The object that is told before anything of this one changes; made when it is first asked for, and kept.
    ///
    /// - Parameters:
    ///   - make: makes it.
    ///   - announce: tells it; on the context's queue, before each change that a setter, the other side of a relationship, undo, a
    ///     refresh or a merge makes.
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

    /// Before a property changes; `nil` where any of them may.
    @inline(never)
    final func announceChange(_ slot: Int?) {
        extras?.announce?()
        extras?.observers?.willChange(slot)
    }

    /// After a property was set, or any of them may have changed.
    @inline(never)
    final func announceChanged(_ slot: Int?) { extras?.observers?.didChange(slot) }
}
