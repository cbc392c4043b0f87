import CoreData
import Foundation
import Testing

// semantics L, I8: what others save to lead to an object that is deleted here and not saved yet.
@Suite struct DeletedDestinationTests {
    enum Way: CaseIterable { case update, insert, batch }

    @Test(
        "L, F2: a delete rule is applied to what a merge brings, too: nothing leads to a row that is gone",
        arguments: Way.allCases)
    func mergedReferences(_ way: Way) throws {
        let stack = try LibraryStack()
        let other = stack.newContext()
        try stack.story { context throws in
            let (author, book) = (Author(context: context), Book(context: context))
            (author.name, book.title) = ("Jane", "Emma")
            try context.save()
            // The author's row may have changed, too.
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.delete(author)
            context.processPendingChanges()
            #expect(book.author == nil && !book.hasChanges)

            let (authorID, bookID) = (author.objectID, book.objectID)
            let saved = try other.performAndWait { () throws -> [AnyHashable: Any] in
                let author = try other.existingObject(with: authorID)
                switch way {
                case .update: try other.existingObject(with: bookID).setValue(author, forKey: "author")
                case .insert:
                    let book = Book(context: other)
                    (book.title, book.author) = ("Sanditon", author as? Author)
                case .batch:
                    let request = NSBatchUpdateRequest(entityName: "Book")
                    request.propertiesToUpdate = ["author": author.objectID]
                    try other.execute(request)
                }
                try other.save()
                let ids = try other.all(Book.self, "Book", "author != nil").map(\.objectID)
                return [way == .insert ? NSInsertedObjectsKey : NSUpdatedObjectsKey: ids]
            }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [context])
            #expect(try context.all(Book.self, "Book").allSatisfy { $0.author == nil })
            try context.save()
        }
        let reading = stack.newContext()
        let left = try reading.performAndWait {
            (
                try reading.count(for: NSFetchRequest<Author>(entityName: "Author")),
                try reading.all(Book.self, "Book", "author != nil").count
            )
        }
        #expect(left == (0, 0))
    }
}
