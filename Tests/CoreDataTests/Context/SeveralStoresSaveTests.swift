import CoreDataSQL
import CoreDataStore
import Foundation
import Testing

@testable import CoreData

/// Of several stores all are written, or none is (H6, I1, I9).
@Suite struct SeveralStoresSaveTests {
    /// Two stores with a book each, "0" and "1".
    private func story(
        _ body: (LibraryStack, NSManagedObjectContext, [Book], [NSPersistentStore]) throws -> Void
    ) throws {
        let stack = try LibraryStack()
        try stack.coordinator.addPersistentStore(
            type: .sqlite, at: stack.folder.appendingPathComponent("Second.sqlite"))
        let stores = stack.coordinator.persistentStores
        try stack.story { context in
            let books = stores.enumerated().map { index, store in
                let book = Book(context: context)
                book.title = "\(index)"
                context.assign(book, to: store)
                return book
            }
            try context.save()
            try body(stack, context, books, stores)
        }
    }

    /// Changes the books as somebody else.
    private func change(_ books: [Book], _ stack: LibraryStack) throws {
        let other = stack.newContext()
        let ids = books.map(\.objectID)
        try other.performAndWait {
            for id in ids { (other.object(with: id) as? Book)?.pages += 1 }
            try other.save()
        }
    }

    private func titles(_ stack: LibraryStack) throws -> [String] {
        let context = stack.newContext()
        return try context.performAndWait { try context.all(Book.self, "Book").compactMap(\.title).sorted() }
    }

    @Test("I1: a conflict in one of two stores leaves both as they were", arguments: [0, 1])
    func conflictsInOne(conflicting: Int) throws {
        try story { stack, context, books, stores in
            try change([books[conflicting]], stack)
            books[0].title = "mine 0"
            books[1].title = "mine 1"
            let new = Book(context: context)
            new.title = "new"
            context.assign(new, to: stores[1 - conflicting])
            let id = new.objectID
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [books[conflicting]])
            #expect(try titles(stack) == ["0", "1"])
            #expect(books.allSatisfy(\.isUpdated) && new.isInserted && new.objectID === id && id.isTemporaryID)
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(try titles(stack) == ["mine 0", "mine 1", "new"])
            #expect(!context.hasChanges && books[conflicting].pages == 1)
        }
    }

    @Test("I1: conflicts of all stores are shown at once, to whoever decides")
    func conflictsInBoth() throws {
        try story { stack, context, books, _ in
            try change(books, stack)
            for book in books { book.title = "mine" }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect(Set(error?.persistentStoreSaveConflicts?.map(\.sourceObject) ?? []) == Set(books))
            var rounds: [Int] = []
            context.mergePolicy = ClosurePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) { list, resolve in
                rounds.append(list.count)
                try resolve()
            }
            try context.save()
            #expect(rounds == [2])
            #expect(try titles(stack) == ["mine", "mine"])
        }
    }

    @Test("I9: unique values that are taken in one store, and a row that vanished in the other")
    func conflictsOfBothKinds() throws {
        try story { stack, context, books, stores in
            books[0].isbn = "1"
            try context.save()
            let other = stack.newContext()
            let id = books[1].objectID
            try other.performAndWait {
                other.delete(other.object(with: id))
                try other.save()
            }
            books[1].title = "mine"
            let new = Book(context: context)
            (new.title, new.isbn) = ("new", "1")
            context.assign(new, to: stores[0])
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(try titles(stack) == ["0"])
            #expect(new.isInserted && books[1].isUpdated)
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(try titles(stack) == ["mine", "new"])
        }
    }

    @Test("H6: whichever statement fails in whichever store, nothing is written, but where one had committed")
    func failures() throws {
        var number = 0
        var windows = 0
        while true {
            number += 1
            var didFail = false
            try story { stack, context, books, stores in
                books[0].title = "mine 0"
                context.delete(books[1])
                for store in stores {
                    let new = Book(context: context)
                    new.title = "new"
                    context.assign(new, to: store)
                }
                context.processPendingChanges()
                let injector = NthStatementFailure(number)
                let databases = stack.coordinator.attachedStores.compactMap { ($0.source as? StoreEngine)?.database }
                try #require(databases.count == 2)
                databases.forEach { $0.setObserver(injector) }
                let result = Result { try context.save() }
                databases.forEach { $0.setObserver(nil) }
                didFail = injector.didFail
                guard didFail else {
                    try result.get()
                    #expect(try titles(stack) == ["mine 0", "new", "new"])
                    return
                }
                let error = #expect(throws: CocoaError.self) { try result.get() }
                if error?.code == .persistentStoreIncompleteSave {
                    // The last commit: what the other store took is clean, what this one did not take is not.
                    windows += 1
                    #expect(context.hasChanges)
                } else {
                    #expect(try titles(stack) == ["0", "1"], "statement \(number)")
                    #expect(context.insertedObjects.count == 2 && books[0].isUpdated && books[1].isDeleted)
                }
                try context.save()
                #expect(try titles(stack) == ["mine 0", "new", "new"], "statement \(number)")
                #expect(!context.hasChanges)
            }
            if !didFail { break }
        }
        #expect(number > 10)
        #expect(windows == 1)
    }

    @Test("H6: two savers of the same two stores never wait for one another in a circle")
    func twoSavers() throws {
        let stack = try LibraryStack()
        let url = stack.folder.appendingPathComponent("Second.sqlite")
        try stack.coordinator.addPersistentStore(type: .sqlite, at: url)
        // The other one has them the other way round.
        let second = try LibraryStack(opening: url)
        try second.coordinator.addPersistentStore(type: .sqlite, at: stack.url)
        let rounds = 40
        let coordinators = [stack.coordinator, second.coordinator]
        DispatchQueue.concurrentPerform(iterations: 2) { saver in
            let coordinator = coordinators[saver]
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            context.performAndWait {
                for round in 0..<rounds {
                    for store in coordinator.persistentStores {
                        let tag = Tag(context: context)
                        tag.name = "\(saver) \(round)"
                        context.assign(tag, to: store)
                    }
                    do { try context.save() } catch { Issue.record("\(saver), \(round): \(error)") }
                }
            }
        }
        let context = stack.newContext()
        let count = try context.performAndWait { try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) }
        #expect(count == 4 * rounds)
    }

    @Test("A new object with a permanent ID can be assigned to the store that it is of")
    func assignedToItsOwnStore() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let tag = Tag(context: context)
            try context.obtainPermanentIDs(for: [tag])
            let id = tag.objectID
            context.assign(tag, to: stack.coordinator.persistentStores[0])
            try context.save()
            #expect(tag.objectID == id && !id.isTemporaryID)
        }
    }
}
