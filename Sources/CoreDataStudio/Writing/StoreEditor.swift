import CoreData
import CoreDataToolkit
import Foundation
import Synchronization

/// Changes the objects of a store, one step at a time, and undoes the steps.
///
/// ```
///  form ──▶ perform ──▶ body ──▶ save ──▶ a step that can be undone
///                         │        └─ failure: roll back, the form shows why
///                         └─ error: roll back
/// ```
/// Each step has its own undo manager, so that a step that failed leaves nothing to undo. A step is not undone if
/// another process has changed its objects since.
// Safe because the context, the steps and their undo managers are used on the context's queue only.
final class StoreEditor: @unchecked Sendable {
    /// The names of the steps that can be undone and done again.
    struct Names: Sendable {
        var undo: String?
        var redo: String?
    }

    private struct Step {
        let name: String
        let manager: UndoManager
    }

    private let context: NSManagedObjectContext
    private var done: [Step] = []
    private var undone: [Step] = []
    /// Guards the names, which pages show.
    private let state = Mutex(Names())

    private static let levels = 100

    init(_ browser: StoreBrowser) {
        context = browser.opened.makeContext()
        context.stalenessInterval = 0
        context.name = "Studio"
        context.transactionAuthor = "Studio"
    }

    var names: Names { state.withLock { $0 } }

    /// Runs a step and saves it. If the body or the save throws, nothing is changed.
    func perform<T: Sendable>(
        _ name: String, _ body: @escaping @Sendable (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        try await context.perform { [self] in
            let manager = UndoManager()
            manager.groupsByEvent = false
            context.undoManager = manager
            defer { note() }
            let result: T
            do {
                manager.beginUndoGrouping()
                defer { manager.endUndoGrouping() }
                result = try body(context)
                context.processPendingChanges()
                guard context.hasChanges else { return result }
                try context.save()
            } catch {
                context.undoManager = nil
                context.rollback()
                throw error
            }
            done.append(Step(name: name, manager: manager))
            if done.count > Self.levels { done.removeFirst() }
            undone.removeAll()
            return result
        }
    }

    /// Undoes the last step, or does the last undone one again; returns its name, `nil` if there is none.
    ///
    /// - Throws: ``PageFailure`` if the store refuses it, such as for objects that another process has changed since.
    func replay(isRedo: Bool) async throws -> String? {
        try await context.perform { [self] in
            defer { note() }
            guard let step = isRedo ? undone.popLast() : done.popLast() else { return nil }
            context.undoManager = step.manager
            if isRedo { step.manager.redo() } else { step.manager.undo() }
            context.processPendingChanges()
            do { try context.save() } catch {
                context.undoManager = nil
                context.rollback()
                throw PageFailure(
                    409,
                    "“\(step.name)” cannot be \(isRedo ? "done again" : "undone"): \(ErrorMessage.text(of: error))")
            }
            if isRedo { done.append(step) } else { undone.append(step) }
            return step.name
        }
    }

    private func note() {
        let names = Names(undo: done.last?.name, redo: undone.last?.name)
        state.withLock { $0 = names }
    }
}
