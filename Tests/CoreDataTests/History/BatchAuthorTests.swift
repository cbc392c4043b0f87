import CoreData
import Foundation
import Testing

/// Who a batch request's transaction is by.
@Suite struct BatchAuthorTests {
    @Test(
        "O2: batch requests are transactions of the context's author and name",
        arguments: ["insert", "update", "delete"])
    func authors(kind: String) throws {
        let stack = try HistoryStack()
        try stack.add("One", author: "before")
        let context = stack.newContext(author: "importer", name: "batch")
        try context.performAndWait {
            let request: NSPersistentStoreRequest
            switch kind {
            case "insert": request = NSBatchInsertRequest(entityName: "Book", objects: [["title": "Two"]])
            case "update":
                let update = NSBatchUpdateRequest(entityName: "Book")
                update.propertiesToUpdate = ["pages": 3]
                request = update
            default: request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book"))
            }
            try context.execute(request)
            let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(all) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            #expect(transactions.map(\.author) == ["before", "importer"])
            #expect(transactions.last?.contextName == "batch")
            // As an app asks for what somebody else did.
            let wanted = try #require(NSPersistentHistoryTransaction.fetchRequest)
            wanted.predicate = NSPredicate(format: "author == %@", "importer")
            let own = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: wanted)
            let found = (try context.execute(own) as? NSPersistentHistoryResult)?.result
            #expect((found as? [NSPersistentHistoryTransaction])?.count == 1)
        }
    }

    @Test("O2: the author that is set between two requests is that of the second")
    func changedAuthor() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        try context.performAndWait {
            for author in ["a", nil, "b"] {
                context.transactionAuthor = author
                try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "Two"]]))
            }
            let all = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(all) as? NSPersistentHistoryResult
            #expect((result?.result as? [NSPersistentHistoryTransaction])?.map(\.author) == ["a", nil, "b"])
        }
    }
}
