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

    @Test("J4, L: a deletion is undone after others changed the row or who refers to it: both sides lead to each other")
    func undoAfterMerge() throws {
        for (changesBook, changesAuthor) in [(true, false), (false, true), (true, true)] {
            let stack = try LibraryStack()
            try stack.story { context in
                let undo = UndoManager()
                undo.groupsByEvent = false
                context.undoManager = undo
                let author = Author(context: context)
                author.name = "Anne"
                let books = ["A", "B"].map { title in
                    let book = Book(context: context)
                    (book.title, book.author) = (title, author)
                    return book
                }
                books[0].tags = [Tag(context: context)]
                books[1].sequels = [books[0]]
                try context.save()
                #expect(author.books.count == 2 && books[0].prequels == [books[1]])
                undo.removeAllActions()
                undo.beginUndoGrouping()
                context.delete(books[0])
                context.processPendingChanges()
                undo.endUndoGrouping()

                let other = stack.newContext()
                var changed = Set<NSManagedObjectID>()
                try other.performAndWait {
                    if changesBook {
                        let book = try other.existingObject(with: books[0].objectID) as? Book
                        book?.title = "A2"
                        changed.insert(books[0].objectID)
                    }
                    if changesAuthor {
                        let same = try other.existingObject(with: author.objectID) as? Author
                        same?.name = "changed"
                        changed.insert(author.objectID)
                    }
                    try other.save()
                }
                NSManagedObjectContext.mergeChanges(
                    fromRemoteContextSave: [NSUpdatedObjectIDsKey: Array(changed)], into: [context])
                context.undo()
                #expect(books[0].author === author && author.books == Set(books))
                #expect(books[0].tags.first?.books == [books[0]] && books[1].sequels == [books[0]])
                #expect(books[0].title == (changesBook ? "A2" : "A") && books[0].prequels == [books[1]])
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                try context.save()
                let check = stack.newContext()
                try check.performAndWait {
                    let found = try check.all(Author.self, "Author").first
                    #expect(found?.books.count == 2 && found?.books.allSatisfy { $0.author === found } == true)
                    #expect(try check.count(for: NSFetchRequest<Book>(entityName: "Book")) == 2)
                    #expect(try check.all(Book.self, "Book", "title == 'B'").first?.sequels.count == 1)
                }
            }
        }
    }
}
