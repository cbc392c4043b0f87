import Foundation

extension UndoManager {
    /// Calls the actions of the last group, newest first; actions that they register are recorded as one group.
    func perform(_ operation: Operation) {
        self.operation = operation
        suspendedGroups = openGroups
        openGroups = []
        post(operation == .undo ? .NSUndoManagerWillUndoChange : .NSUndoManagerWillRedoChange)
        // Observers may have removed it.
        let group = (operation == .undo ? takeLastUndo() : redoSteps.popLast()) ?? UndoGroup()
        let isDiscardable = group.isDiscardable
        performsDiscardable = isDiscardable
        openImplicitGroup()
        openGroups.first?.name = group.name
        openGroups.first?.userInfo = group.userInfo
        performed = group
        while let action = group.popLastAction() { action.perform() }
        performed = nil
        // A group that a handler left open ends here.
        while let open = openGroups.last {
            closeGroup()
            if openGroups.last === open { openGroups.removeLast() }
        }
        performsDiscardable = false
        openGroups = suspendedGroups
        suspendedGroups = []
        self.operation = nil
        closeEventGroupLater()
        post(
            operation == .undo ? .NSUndoManagerDidUndoChange : .NSUndoManagerDidRedoChange,
            isDiscardable: isDiscardable)
    }

    private func takeLastUndo() -> UndoGroup? {
        guard let outer = suspendedGroups.last(where: { !$0.isEmpty }) else { return undoSteps.popLast() }
        return outer.popLastGroup()
    }

    /// Stops the program in a handler.
    func refuseInHandlers(_ name: String) {
        guard let operation else { return }
        let gerund = operation == .undo ? "undoing" : "redoing"
        Self.stop("\(name) was called while \(gerund): do not invoke this method while undoing or redoing")
    }

    /// The open groups that undo would undo.
    var openUndoGroups: [UndoGroup] {
        operation == nil || operation == .redo && suspendedGroups.isEmpty ? openGroups : suspendedGroups
    }

    /// The open groups that redo would do again.
    var openRedoGroups: [UndoGroup] { operation == .undo ? openGroups : [] }

    /// The step that undo would undo.
    var nextUndo: UndoGroup? { next(openUndoGroups, undoSteps) }

    /// The step that redo would do again.
    var nextRedo: UndoGroup? { next(openRedoGroups, redoSteps) }

    private func next(_ open: [UndoGroup], _ steps: [UndoGroup]) -> UndoGroup? {
        open.contains { !$0.isEmpty } ? open.first : steps.last
    }
}
