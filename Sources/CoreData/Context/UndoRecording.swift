import Foundation

/// The undo manager of a context, and what the context must remember to undo deletions.
///
/// ```
///  event ends ──▶ UndoRecord ──▶ manager, which alone keeps it alive
///                    ▲ deletionRecords (weak)
///  merge applies delete rules again ──▶ reappliedDeletions ──event ends──▶ the same record grows
/// ```
/// Invariants:
/// - Without ``manager`` the context records nothing, and the other variables are empty.
/// - ``deletionRecords`` keeps no record alive, and only has deletions that no save has written: a save empties it.
/// - ``reappliedDeletions`` loses its objects when the event ends that has them deleted.
struct UndoRecording {
    /// The manager with which the context registers what each event did.
    var manager: UndoManager?
    /// The observation of the manager's checkpoints: an event ends before a group is closed or undone.
    var checkpointObserver: (any NSObjectProtocol)?
    /// The records that undo the deletions of objects, by object.
    var deletionRecords: [ObjectIdentifier: WeakUndoRecord] = [:]
    /// Deleted objects whose delete rules a merge had applied again, in the event that has not ended.
    var reappliedDeletions: Set<ObjectIdentifier> = []
}
