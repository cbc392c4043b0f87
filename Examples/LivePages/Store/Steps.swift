import CoreData
import Foundation

/// The result of an undo or redo.
package enum UndoOutcome: Equatable {
    /// The step of that name was undone, or done again.
    case done(String)
    /// Another browser, process or import has changed objects of the step of that name since: nothing was done.
    case changedSince(String)
    /// The same browser has changed them since, by the later step of that name: nothing was done.
    case superseded(by: String)
    case nothing
}

extension LiveContext {
    /// Does something as one step and saves it; where another process is writing to the store, ``LiveStore/settle()`` does. In the answer
    /// to a form, the browser that sent it can undo the step.
    ///
    /// - Returns: the number of the step, with what the body returned; `nil` where nothing changed, and outside of a form.
    @discardableResult
    package func perform<Result>(_ name: String, _ body: () throws -> Result) throws -> (result: Result, step: Int?) {
        let browser = Browser.current
        let manager = StepUndoManager()
        let result: Result
        do {
            result = try browser == nil ? body() : recording(manager, body)
            view.processPendingChanges()
            // A step names its objects by their IDs.
            if browser != nil { try view.obtainPermanentIDs() }
        } catch {
            view.rollback()
            throw error
        }
        guard view.hasChanges else { return (result, nil) }
        let changes = StepState.Changes(view)
        try save()
        guard let browser else { return (result, nil) }
        lastStep += 1
        makeHistory(of: browser).add(Step(number: lastStep, name: name, manager: manager, state: changes.state))
        return (result, lastStep)
    }

    private func recording<Result>(_ manager: StepUndoManager, _ body: () throws -> Result) rethrows -> Result {
        view.processPendingChanges()
        view.undoManager = manager
        manager.enableUndoRegistration()
        defer { manager.disableUndoRegistration() }
        manager.beginUndoGrouping()
        defer { manager.endUndoGrouping() }
        let result = try body()
        view.processPendingChanges()
        return result
    }

    // MARK: Undo

    /// The steps of the browser; `nil` where it has none.
    package func history(of browser: String) -> StepHistory? { histories.last { $0.browser == browser } }

    /// The history of the browser, made where there is none, as the one that was used last.
    private func makeHistory(of browser: String) -> StepHistory {
        let history = history(of: browser) ?? StepHistory(browser: browser)
        histories.removeAll { $0 === history }
        histories.append(history)
        if histories.count > StepHistory.most { histories.removeFirst() }
        return history
    }

    /// Undoes a step of the browser, unless its objects have changed since.
    ///
    /// - Parameter step: the number of the step; `nil` for the last one.
    package func undo(step number: Int? = nil, of browser: String) throws -> UndoOutcome {
        guard let history = history(of: browser), let last = history.done.last,
            let step = number == nil ? last : history.done.last(where: { $0.number == number })
        else { return .nothing }
        view.processPendingChanges()
        guard step.state.isIntact(in: view) else {
            if step !== last { return .superseded(by: last.name) }
            // The steps before it can be undone still.
            history.drop(step)
            return .changedSince(step.name)
        }
        history.drop(step)
        try replay(step) { view.undo() }
        history.keepForRedo(step)
        return .done(step.name)
    }

    /// Does again the step that the browser has undone last, unless its objects have changed since.
    package func redo(of browser: String) throws -> UndoOutcome {
        guard let history = history(of: browser), let step = history.undone.last else { return .nothing }
        view.processPendingChanges()
        history.drop(step)
        guard step.state.isIntact(in: view) else { return .changedSince(step.name) }
        try replay(step) { view.redo() }
        lastStep += 1
        step.number = lastStep
        history.keep(step)
        return .done(step.name)
    }

    private func replay(_ step: Step, _ body: () -> Void) throws {
        view.undoManager = step.manager
        step.manager.enableUndoRegistration()
        defer { step.manager.disableUndoRegistration() }
        body()
        view.processPendingChanges()
        guard view.hasChanges else { return }
        let changes = StepState.Changes(view)
        try save()
        step.state = changes.state
    }
}
