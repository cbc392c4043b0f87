import Foundation

// The end of a turn of the main thread ends the event of a main context: plain code on the main thread needs no `perform`.
//
//     button.onClick { item.name = "Milk" }      // then: delete rules, ObjectsDidChange, the step of the undo manager
//
// A turn is what the run loop, `dispatchMain()` or the main actor runs at once. Its first change enqueues one block behind
// it on the main queue, the others nothing. Where the main queue is never served, as in a script that only ends, changes are
// processed by fetches and saves alone.
extension NSManagedObjectContext {
    /// Takes note that there is something to process.
    @inline(__always)
    final func followTurn() {
        if followsTurns { waitForEndOfTurn() }
    }

    @inline(never)
    private final func waitForEndOfTurn() {
        // Who uses the context elsewhere does so by mistake: the main queue must not come in between.
        guard Confinement.isMain else { return }
        followsTurns = false
        MainQueueWork.shared.async { [weak self] in self?.endTurn() }
    }

    private final func endTurn() {
        followsTurns = true
        // A hook may turn the run loop inside of a save, which processes changes itself.
        guard !isSaving, !isProcessing else { return }
        Confinement.with(self) {
            processPendingChanges()
            keptUndoManager?.endTurn()
            turnDidEnd?()
        }
    }
}
