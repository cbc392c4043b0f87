import CoreData
import Foundation
import Testing

/// Semantics O2: what writes nothing leaves no transaction.
@Suite struct EmptyTransactionTests {
    private func book(_ id: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> Book {
        try #require(try context.existingObject(with: id) as? Book)
    }

    @Test("O2: a save whose changes cancel out is no transaction", arguments: 0..<7)
    func savesOfNothing(_ way: Int) throws {
        let stack = try HistoryStack()
        let id = try stack.add("A")[0]
        let context = stack.newContext()
        try context.performAndWait {
            let book = try book(id, context)
            let count = try stack.transactions().count
            let token = stack.token
            switch way {
            case 0: break
            case 1: book.title = "A"
            case 2:
                book.title = "B"
                context.processPendingChanges()
                book.title = "A"
            case 3: context.delete(Book(context: context))
            case 4: book.note = "transient"
            case 5:
                let author = Author(context: context)
                (author.name, book.author) = ("Ann", author)
                context.processPendingChanges()
                context.delete(author)
            default:
                let chapter = Chapter(context: context)
                chapter.book = book
                context.processPendingChanges()
                context.delete(chapter)
            }
            try context.save()
            #expect(!context.hasChanges)
            #expect(try stack.transactions().count == count)
            #expect(stack.token == token)
        }
    }

    @Test("O2: to delete what another writer has deleted is no transaction", arguments: [1, 5], [false, true])
    func deletionsOfWhatIsGone(_ count: Int, _ isMixed: Bool) throws {
        let stack = try HistoryStack()
        let titles = (0..<count).map { "\($0)" }
        let ids = try titles.map { try stack.add($0)[0] }
        let kept = try stack.add("kept")[0]
        let second = try HistoryStack(opening: stack.url)
        let context = stack.newContext()
        let saves = NotificationSaves(context)
        try context.performAndWait {
            let books = try (ids + [kept]).map { try book($0, context) }
            let other = second.newContext()
            try other.performAndWait {
                for id in ids { other.delete(other.object(with: id)) }
                try other.save()
            }
            let before = try stack.transactions()
            for book in books.dropLast() { context.delete(book) }
            if isMixed { books.last?.pages = 9 }
            try context.save()
            let transactions = try stack.transactions()
            #expect(transactions.allSatisfy { $0.changes?.isEmpty == false })
            #expect(transactions.count == before.count + (isMixed ? 1 : 0))
            if isMixed {
                #expect(transactions.last?.changes?.map(\.changeType) == [.update])
            } else {
                #expect(saves.last?.userInfo?["newChangeToken"] == nil)
            }
        }
        // The numbers go on.
        _ = try stack.add("next")
        let numbers = try stack.transactions().map(\.transactionNumber)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
    }

    @Test("O2: a batch request that touches no row is no transaction")
    func batches() throws {
        let stack = try HistoryStack()
        _ = try stack.add("A")
        let context = stack.newContext()
        try context.performAndWait {
            let count = try stack.transactions().count
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.predicate = NSPredicate(format: "title == 'none'")
            update.propertiesToUpdate = ["title": "new"]
            try context.execute(update)
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: "title == 'none'")
            try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            try context.execute(NSBatchInsertRequest(entityName: "Book", objects: []))
            try context.execute(NSBatchInsertRequest(entityName: "Book") { (_: NSManagedObject) in true })
            #expect(try stack.transactions().count == count)
            let gone = try stack.add("gone")[0]
            let other = stack.newContext()
            try other.performAndWait {
                other.delete(try other.existingObject(with: gone))
                try other.save()
            }
            let now = try stack.transactions().count
            try context.execute(NSBatchDeleteRequest(objectIDs: [gone]))
            #expect(try stack.transactions().count == now)
        }
    }
}
