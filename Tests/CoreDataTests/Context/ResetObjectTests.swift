import CoreData
import Foundation
import Testing

/// What objects of a context are after `reset()`.
@Suite struct ResetObjectTests {
    @Test("B8: an object is a fault after reset, whatever it was, and reads as nil")
    func faults() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let saved = Book(context: context)
            saved.title = "saved"
            try context.save()
            saved.pages = 3
            let (deleted, fault) = (Book(context: context), Book(context: context))
            (deleted.title, fault.title) = ("deleted", "fault")
            try context.save()
            let new = Book(context: context)
            new.title = "new"
            context.delete(deleted)
            context.refresh(fault, mergeChanges: false)
            context.reset()
            for book in [saved, new, deleted, fault] {
                #expect(book.isFault && book.managedObjectContext == nil && !book.hasChanges && !book.isDeleted)
                #expect(book.title == nil && book.pages == 0 && book.tags.isEmpty)
                #expect(book.isFault, "reading does not change that")
                #expect(book.faultingState != 0)
            }
            // The same rows are other objects now.
            let again = try #require(context.object(with: saved.objectID) as? Book)
            #expect(again !== saved && again.title == "saved" && !again.isFault)
        }
    }
}
