import Foundation

/// What a ``Sync`` does at the moment, and how much is left to do.
public struct SyncState: Sendable {
    /// What synchronisation does.
    public enum Activity: Sendable {
        /// Not started, or stopped.
        case stopped
        /// Everything that is known has been exchanged.
        case idle
        /// Reads what was saved since the last time.
        case capturing
        /// Writes files to the place.
        case sending(Int, of: Int)
        /// Reads files of other devices.
        case receiving
        /// Saves what other devices changed.
        case applying
        /// The last attempt failed; the next one is at `retry`.
        case failed(any Error, retry: Date)
    }

    /// Creates the state before a start.
    public init() {}

    /// What synchronisation does.
    public var activity = Activity.stopped
    /// When an exchange last ended without an error; `nil` until one has.
    public var lastExchange: Date?
    /// The number of files that the place does not have yet.
    public var unsent = 0
    /// The number of objects and values that wait for something: for another object, or for a newer model.
    public var waiting = 0
    /// The number of conflicts in the journal.
    public var conflicts = 0
    /// Files of other devices that cannot be used at present, with the reason, in plain words.
    public var troubles: [String] = []
}

/// How far a store's first exchange has come.
public struct SyncProgress: Sendable {
    /// The step that runs.
    public enum Step: Sendable { case reading, sending, receiving, applying }
    /// The step that runs.
    public var step: Step
    /// The number of objects or files that are done.
    public var completed: Int
    /// The number of objects or files in all; `nil` while it is not known.
    public var total: Int?
}

/// What happens to objects that both the store and the place have when a store is attached to a place for the first
/// time.
///
/// Edits that any device makes later are newer than everything that existed before.
public enum Seeding: String, CaseIterable, Codable, Sendable {
    /// Keeps the objects of both. Where one object has two values, all devices keep the same one of them.
    case merge
    /// Keeps the objects of both. Where one object has two values, this store's value wins.
    case preferLocal
    /// Keeps the objects of both. Where one object has two values, the place's value wins.
    case preferRemote
    /// Deletes this store's objects first, without deleting them on other devices.
    case replaceLocal
}

/// Another device that synchronises with the same place.
public struct SyncDevice: Hashable, Sendable, Identifiable {
    /// The ID of the device's replica; a restored or copied one has a new ID.
    public var id: UUID
    /// The name that the device gave itself.
    public var name: String
    /// Whether it is this device.
    public var isThisDevice: Bool
    /// When the device last wrote to the place.
    public var lastSeen: Date
    /// Whether the device was away for so long that its files may be removed; it merges whole states when it returns.
    public var hasExpired: Bool
    /// When its lease ends, unless it writes to the place before.
    public var leaseEnds: Date
    /// The number of files of this device that the other one has not received yet.
    public var behind: Int
}

/// A value that lost against another one which was written without knowledge of it.
public struct SyncConflict: Hashable, Sendable, Identifiable {
    /// Why a value was given up.
    public enum Reason: String, Sendable {
        /// Two devices changed one property.
        case edited
        /// One device changed an object that another one deleted.
        case deleted
        /// Two devices made objects with equal values in a uniqueness constraint; both are one object now.
        case unique
        /// A service did not take the change: its permissions or its store refuse it.
        case refused
    }

    /// The conflict in the journal.
    public var id: UUID
    /// The object, by the ID that it has on all devices: the values of one deleted object have it in common.
    public var identity: UUID
    /// When this device found it.
    public var date: Date
    /// Why the value was given up.
    public var reason: Reason
    /// The name of the entity.
    public var entity: String
    /// The URI of the object's ID in this store; `nil` for an object that does not exist here.
    public var object: URL?
    /// The property; `nil` for a deletion that was refused.
    public var property: String?
    /// The value that lost, as text.
    public var losing: String
    /// The value that the object has instead, as text; `nil` for an object that does not exist.
    public var winning: String?
    /// For a relationship, the URI in this store of the ID of the object that lost; `nil` for an object that does not
    /// exist here.
    public var losingObject: URL?
    /// The device that wrote the losing value.
    public var device: UUID
}

/// What one exchange did.
public struct SyncSummary: Hashable, Sendable {
    /// Creates a summary of an exchange that did nothing.
    public init() {}

    /// The number of objects whose changes were read from the store's history.
    public var captured = 0
    /// The number of files that were written.
    public var sent = 0
    /// The number of files that were read.
    public var received = 0
    /// The number of objects that were inserted, updated or deleted in the store.
    public var applied = 0
    /// The number of conflicts that were found.
    public var conflicts = 0
}
