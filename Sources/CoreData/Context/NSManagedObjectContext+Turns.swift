import Foundation

// The end of a turn of the main thread ends the event of a main context: plain code on the main thread needs no
// `perform`.
//
//     button.onClick { item.name = "Milk" }      // then: delete rules, ObjectsDidChange, the step of the undo manager
//
// A turn is the work that the run loop, `dispatchMain()` or the main actor runs in one piece. The first change of a
// turn enqueues one block on the main queue; further changes enqueue nothing. If the main queue is never served, for
// example in a script that just ends, only fetches and saves process changes.
extension NSManagedObjectContext {
    /// Takes note that there is something to process.
    @inline(__always)
    final func followTurn() {
        if turns.watchesNextChange { waitForEndOfTurn() }
    }

    @inline(never)
    private final func waitForEndOfTurn() {
        // Using the context on another thread is a mistake of the program: the main queue must not interfere then.
        guard Confinement.isMain else { return }
        turns.watchesNextChange = false
        MainQueueWork.shared.async { [weak self] in self?.endTurn() }
    }

    private final func endTurn() {
        turns.watchesNextChange = true
        // A hook may turn the run loop inside of a save, which processes changes itself.
        guard !isSaving, !pendingChanges.isProcessing else { return }
        Confinement.with(self) {
            processPendingChanges()
            undoRecording.manager?.endTurn()
            turns.didEnd?()
        }
    }
}
