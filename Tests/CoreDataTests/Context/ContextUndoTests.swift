import CoreData
import Foundation
import Testing

/// What contexts and undo managers have to do with one another, apart from what undoing does to the graph.
@Suite struct ContextUndoTests {
    @Test("J1: a context has no undo manager unless it is given one; undo and redo do nothing, rollback and reset work")
    func withoutAnUndoManager() throws {
        try LibraryStack().story { context in
            #expect(context.undoManager == nil)
            let book = Book(context: context)
            book.title = "A"
            try context.save()
            book.title = "B"
            let new = Book(context: context)
            context.undo()
            context.redo()
            #expect(book.title == "B" && new.isInserted)
            context.rollback()
            #expect(book.title == "A" && new.managedObjectContext == nil && !context.hasChanges)
            book.title = "C"
            context.reset()
            #expect(!context.hasChanges && context.registeredObjects.isEmpty)
            #expect(try context.all(Book.self, "Book").map(\.title) == ["A"])
        }
    }

    @Test("J5: what can be undone keeps its objects, until it is forgotten or the context has no undo manager any more")
    func whatIsKept() throws {
        for isForgotten in [true, false] {
            try LibraryStack().story { context in
                weak var kept: Book?
                let undo = UndoManager()
                undo.groupsByEvent = false
                context.undoManager = undo
                try { () throws in
                    let book = Book(context: context)
                    book.title = "A"
                    undo.beginUndoGrouping()
                    context.processPendingChanges()
                    undo.endUndoGrouping()
                    try context.save()
                    undo.beginUndoGrouping()
                    context.delete(book)
                    context.processPendingChanges()
                    undo.endUndoGrouping()
                    try context.save()
                    kept = book
                }()
                #expect(kept != nil, "it can come back")
                if isForgotten { undo.removeAllActions() } else { context.undoManager = nil }
                #expect(kept == nil)
            }
        }
    }
}
