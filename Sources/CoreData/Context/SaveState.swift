/// The state of the saves of a context that run at the moment, and what the last one recorded.
///
/// Invariants:
/// - ``phase`` is ``SavePhase/none`` exactly if ``depth`` is 0.
/// - ``depth`` counts saves that observers of a save have begun: each runs inside the notifications of the one before.
/// - ``touched`` has a value only while a save calls `willSave` and validates.
/// - ``absorbedInsertions`` is empty outside the part of a save in which the merge policy resolves conflicts.
///
/// ``NSManagedObjectContext/beginSave()`` and ``NSManagedObjectContext/endSave()`` keep the first two.
struct SaveState {
    /// The step of the running save. It decides which methods the save's callbacks may use.
    var phase = SavePhase.none
    /// The number of saves that run, one inside the other.
    var depth = 0
    /// The objects of the events that ended since the last round of hooks and validation; `nil` outside those rounds.
    var touched: [NSManagedObject]?
    /// Whether ``NSManagedObjectContext/reset()`` was called while the save wrote rows. The end of the save resets the
    /// context.
    var resetsAtEnd = false
    /// New objects that the merge policy replaced by existing ones in this save, by their temporary keys.
    var absorbedInsertions: [(temporaryKey: Int64, survivor: NSManagedObject)] = []
    /// Whether the event that ends holds the changes of the merge policy. Undo does not bring back stored objects that
    /// the policy deleted.
    var isEndingPolicyEvent = false
    /// The numbers of the transactions that the last save recorded, by the stores' UUIDs. They stay after the save.
    var recordedTransactions: [String: Int64] = [:]
}

extension NSManagedObjectContext {
    /// The numbers of the transactions that the last save recorded, by the stores' UUIDs.
    package final var recordedTransactions: [String: Int64] { saveState.recordedTransactions }
}
