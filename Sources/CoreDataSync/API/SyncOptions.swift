import CoreData
import Foundation

/// How a store synchronises.
public struct SyncOptions: Sendable {
    /// Creates the default options.
    public init() {}

    /// The time between two looks at the place if it does not report changes, in seconds.
    public var interval: TimeInterval = 30
    /// The time that a device may be silent before its lease expires, in seconds: 60 days.
    public var lease: TimeInterval = 60 * 86_400
    /// The greatest number of conflicts in the journal. The oldest ones leave it first.
    public var journalLimit = 10_000
    /// The time that a conflict stays in the journal, in seconds: 90 days.
    public var journalAge: TimeInterval = 90 * 86_400
    /// Where the sidecar file is; `nil` for the store's path with `-sync` at its end.
    public var sidecar: URL?
    /// Changes an object that the store refused to save, so that it can be saved; returns whether it did.
    ///
    ///     options.repair = { object, error in
    ///         guard let item = object as? Item, item.name == nil else { return false }
    ///         item.name = "Unnamed"
    ///         return true
    ///     }
    ///
    /// It runs on the queue of a private context. What it changes is an edit of this device, which the other devices
    /// get.
    public var repair: (@Sendable (NSManagedObject, any Error) -> Bool)?
    /// Decides between two values of an attribute with `sync.merge` = `app`, which devices wrote without knowledge of
    /// each other.
    ///
    ///     options.merge = { versions in
    ///         guard let a = versions.earlier as? String, let b = versions.later as? String else { return versions.later }
    ///         return a.count > b.count ? a : b
    ///     }
    ///
    /// Every device calls it with the same values in the same order, and shows what it returns. So it must be pure: it
    /// must use nothing but its argument, and return the same on all devices. If devices disagree, for example two
    /// versions of the app, each shows its own result, until one of them changes the value: then all show that one. It
    /// may be called often, on any thread.
    ///
    /// A value that equals the result so far needs no decision: the closure is not called for it.
    ///
    /// A result that the attribute cannot hold is ignored: the later value stays.
    public var merge: (@Sendable (SyncVersions) -> (any Sendable)?)?
    /// The time that stamps and leases go by.
    package var now: @Sendable () -> Date = { Date() }
    /// The pause after the first failure, in seconds; each later one is twice as long.
    package var retryPause: TimeInterval = 2
    /// Called when an import or an export begins, and when it has ended.
    package var didChangeStage: (@Sendable (SyncStageChange) -> Void)?
    /// Called after each save of changes of other devices, on the queue of a private context.
    package var didApply: (@Sendable (AppliedChanges) -> Void)?
    /// Random bits, of which new identifiers are made.
    package var random: @Sendable () -> UInt64 = { UInt64.random(in: 0 ... .max) }
    /// Called before each step that could be the last one of a process, with the step's name; a test throws there.
    package var checkpoint: (@Sendable (String) throws -> Void)?
}
