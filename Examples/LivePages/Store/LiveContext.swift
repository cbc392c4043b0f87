import CoreData
import Foundation

/// A context that pages show, and the steps that browsers can undo in it.
///
/// A change by a page is a step of the browser that sent the form, and saved at once, see ``perform(_:_:)``. An app with accounts makes
/// one for each account, restricted to what the account may see; ``LiveStore`` is the one of an app that shows everything to everybody.
@MainActor package class LiveContext {
    package let view: NSManagedObjectContext
    /// The number of the newest step; a message about a step carries its number.
    package internal(set) var lastStep = 0
    /// The steps of each browser, the one that was used last at the end.
    var histories: [StepHistory] = []

    /// - Parameter view: a context of the main queue.
    package init(_ view: NSManagedObjectContext) {
        self.view = view
        view.undoManager = StepUndoManager()
    }

    /// Saves the context; changes that cannot be saved are rolled back.
    func save() throws {
        do { try view.save() } catch {
            view.rollback()
            throw error
        }
    }
}
