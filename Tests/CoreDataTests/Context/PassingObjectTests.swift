import CoreData
import Foundation
import Synchronization
import Testing

/// Semantics D1, J2: objects that come and go within one event.
@Suite struct PassingObjectTests {
    @Test(
        "D1, J2: what is inserted and deleted within an event leaves no trace", arguments: [false, true], [false, true])
    func inOneEvent(_ hasPermanentID: Bool, _ isChild: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { parent in
            let author = Author(context: parent)
            author.name = "Ann"
            let tag = Tag(context: parent)
            tag.name = "t"
            try parent.save()
            let context = isChild ? NSManagedObjectContext(.privateQueue) : parent
            if isChild { context.parent = parent }
            try context.performAndWait {
                let author = try #require(context.object(with: author.objectID) as? Author)
                let tag = try #require(context.object(with: tag.objectID) as? Tag)
                let undo = UndoManager()
                undo.groupsByEvent = false
                context.undoManager = undo
                let notes = Mutex<[String]>([])
                let token = NotificationCenter.default.addObserver(
                    forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
                ) { note in
                    notes.withLock { notes in
                        notes += (note.userInfo ?? [:]).compactMap { key, value in
                            (value as? Set<NSManagedObject>).map {
                                "\(key) \($0.compactMap { $0.entity.name }.sorted().joined(separator: ","))"
                            }
                        }
                    }
                }
                defer { NotificationCenter.default.removeObserver(token) }
                for isRelated in [false, true] {
                    let what: Comment = "related \(isRelated)"
                    undo.beginUndoGrouping()
                    let book = Book(context: context)
                    book.title = "One"
                    if hasPermanentID { try context.obtainPermanentIDs(for: [book]) }
                    if isRelated {
                        (book.author, book.tags) = (author, [tag])
                        let chapter = Chapter(context: context)
                        chapter.book = book
                    }
                    context.delete(book)
                    #expect(!context.insertedObjects.contains(book) && !context.deletedObjects.contains(book), what)
                    context.processPendingChanges()
                    #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty, what)
                    #expect(!context.updatedObjects.contains(book) && book.managedObjectContext == nil, what)
                    #expect(context.registeredObject(for: book.objectID) == nil, what)
                    #expect(notes.withLock { $0.allSatisfy { !$0.contains("Book") && !$0.contains("Chapter") } }, what)
                    if !isRelated { #expect(notes.withLock { $0.isEmpty } && !context.hasChanges, what) }
                    undo.endUndoGrouping()
                    #expect(author.books.isEmpty && tag.books.isEmpty, what)
                    while undo.canUndo { undo.undo() }
                    #expect(context.insertedObjects.isEmpty && author.books.isEmpty && tag.books.isEmpty, what)
                    while undo.canRedo { undo.redo() }
                    #expect(context.insertedObjects.isEmpty && author.books.isEmpty && tag.books.isEmpty, what)
                    try context.save()
                    #expect(!context.hasChanges)
                    notes.withLock { $0 = [] }
                }
                #expect(try context.all(Book.self, "Book").isEmpty)
                context.undoManager = nil
            }
        }
    }

    @Test("J2: an event in which an object only passed through is no step of undo")
    func noStep() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            try context.save()
            let undo = UndoManager()
            undo.groupsByEvent = false
            context.undoManager = undo
            let book = Book(context: context)
            (book.title, book.author) = ("One", author)
            context.delete(book)
            context.processPendingChanges()
            #expect(!undo.canUndo)
            context.undoManager = nil
        }
    }
}
