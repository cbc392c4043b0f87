import CoreData
import Foundation

extension UndoManager.UserInfoKey {
    /// The number of the step.
    fileprivate static let step = UndoManager.UserInfoKey("step")
}

/// What became of an undo.
package enum UndoOutcome: Equatable {
    /// The step of that name was taken back, or done again.
    case done(String)
    /// Something else came after it.
    case superseded(by: String)
    case nothing
}

extension LiveStore {
    /// Does something as one step that can be undone, and saves it.
    ///
    /// - Returns: the number of the step, with what the body returned; `nil` where nothing changed.
    @discardableResult
    package func perform<Result>(_ name: String, _ body: () throws -> Result) throws -> (result: Result, step: Int?) {
        view.processPendingChanges()
        undoManager.enableUndoRegistration()
        defer { undoManager.disableUndoRegistration() }
        undoManager.beginUndoGrouping()
        let result: Result
        do {
            result = try body()
            view.processPendingChanges()
        } catch {
            undoManager.endUndoGrouping()
            view.rollback()
            throw error
        }
        let hasChanges = view.hasChanges
        if hasChanges {
            lastStep += 1
            undoManager.setActionName(name)
            undoManager.setActionUserInfoValue(lastStep, forKey: .step)
        }
        undoManager.endUndoGrouping()
        guard hasChanges else { return (result, nil) }
        try save()
        return (result, lastStep)
    }

    /// Saves the view context and its parent; what cannot be saved is taken back.
    private func save() throws {
        do { try stack.saveAndWait() } catch {
            view.rollback()
            let parent = stack.parentContext
            if parent.performAndWait({ parent.hasChanges }) {
                // The view has handed its changes on: it is to read what the store has.
                parent.performAndWait { parent.rollback() }
                undoManager.removeAllActions()
                view.refreshAllObjects()
            }
            throw error
        }
    }

    /// Takes the last step back.
    ///
    /// - Parameter step: only where it is the step of that number.
    package func undo(step: Int? = nil) throws -> UndoOutcome {
        guard undoManager.canUndo else { return .nothing }
        let name = undoManager.undoActionName
        if let step, undoManager.undoActionUserInfoValue(forKey: .step) as? Int != step {
            return .superseded(by: name)
        }
        try recording { view.undo() }
        return .done(name)
    }

    /// Does again what was undone last.
    package func redo() throws -> UndoOutcome {
        guard undoManager.canRedo else { return .nothing }
        let name = undoManager.redoActionName
        try recording {
            view.redo()
            lastStep += 1
            undoManager.setActionUserInfoValue(lastStep, forKey: .step)
        }
        return .done(name)
    }

    private func recording(_ body: () -> Void) throws {
        view.processPendingChanges()
        undoManager.enableUndoRegistration()
        defer { undoManager.disableUndoRegistration() }
        body()
        view.processPendingChanges()
        if view.hasChanges { try save() }
    }
}
