import CoreData
import Foundation
import Testing

/// P3 and P4, and what generations cost: stores that keep none, tokens that lead nowhere, bounds.
@Suite struct GenerationLimitTests {
    // MARK: P3

    @Test(
        "P3: a store that keeps no former state is read as it is",
        arguments: [NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType, "DELETE", "EXCLUSIVE"])
    func aStoreThatKeepsNoFormerStateIsReadAsItIs(_ kind: String) throws {
        var options: [AnyHashable: Any] = [:]
        if kind == "DELETE" { options[NSSQLitePragmasOption] = ["journal_mode": "DELETE"] }
        if kind == "EXCLUSIVE" { options[NSSQLitePragmasOption] = ["locking_mode": "EXCLUSIVE"] }
        let model = GenerationStack.model()
        // Only SQL stores have uniqueness constraints.
        for entity in model.entities { entity.uniquenessConstraints = [] }
        let stack = try GenerationStack(
            type: options.isEmpty ? kind : NSSQLiteStoreType, options: options, model: model)
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.storedTitles() == ["A"])
            try stack.add("B")
            #expect(try context.storedTitles() == ["A", "B"])
            Book(context: context).title = "C"
            try context.save()
            #expect(try context.titles() == ["A", "B", "C"])
        }
    }

    @Test func ofSeveralStoresThoseAreKeptThatCanBe() throws {
        let stack = try GenerationStack()
        let memory = try stack.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.storedTitles() == ["A"])
            try stack.add("B")
            try stack.save { other in
                let book = Book(context: other)
                book.title = "M"
                other.assign(book, to: memory)
            }
            #expect(try context.storedTitles() == ["A", "M"])
            // K5: the contexts below read what the parent does.
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            let shown = try child.performAndWait { try child.titles() }
            #expect(shown == ["A", "M"])
            child.performAndWait {
                #expect(child.queryGenerationToken == nil)
                #expect(QueryGenerationTests.code { try child.setQueryGenerationFrom(.current) } != nil)
            }
        }
    }

    @Test("P3: a child follows its parent") func aChildSavesIntoAPinnedParent() throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.countOfBooks()
            try stack.rename(id, "B")
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                let book = try #require(child.object(with: id) as? Book)
                #expect(book.title == "A")
                book.pages = 5
                Book(context: child).title = "New"
                try child.save()
            }
            #expect(try context.titles() == ["A", "New"])
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(try context.titles() == ["B", "New"])
        }
    }

    @Test("P3: a child reads dictionaries of its generation") func aChildReadsDictionariesOfTheGeneration() throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        let (child, grandchild) = (NSManagedObjectContext(.privateQueue), NSManagedObjectContext(.privateQueue))
        child.parent = context
        grandchild.parent = child
        func titles() throws -> [[String]] {
            try [context, child, grandchild].map { reader in try reader.performAndWait { try reader.storedTitles() } }
        }
        #expect(try titles() == [["A"], ["A"], ["A"]])
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.countOfBooks()
        }
        try stack.rename(id, "B")
        #expect(try titles() == [["A"], ["A"], ["A"]])
        try context.performAndWait { try context.setQueryGenerationFrom(nil) }
        #expect(try titles() == [["B"], ["B"], ["B"]])
    }

    // MARK: P4

    @Test("P4: a token of another coordinator is refused") func aTokenOfAnotherCoordinatorIsRefused() throws {
        let (stack, other) = (try GenerationStack(), try GenerationStack())
        try other.context.performAndWait {
            try other.context.setQueryGenerationFrom(.current)
            _ = try other.context.titles()
        }
        let token = other.context.queryGenerationToken
        stack.context.performAndWait {
            let code = QueryGenerationTests.code { try stack.context.setQueryGenerationFrom(token) }
            #expect(code == NSPersistentStoreOperationError)
            #expect(stack.context.queryGenerationToken == nil)
        }
    }

    @Test("P4: a store that is added later is not read until the context moves on")
    func aStoreThatIsAddedLaterIsNotReadUntilTheContextMovesOn() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["A"])
            let memory = try stack.coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
            try stack.save { other in
                let book = Book(context: other)
                book.title = "M"
                other.assign(book, to: memory)
            }
            #expect(try context.titles() == ["A"])
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["A", "M"])
        }
    }

    @Test func aStoreCanBeRemovedWhileAContextIsPinned() throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.countOfBooks() == 1)
            let token = context.queryGenerationToken
            try stack.coordinator.remove(stack.coordinator.persistentStores[0])
            #expect(try context.titles() == [])
            #expect(QueryGenerationTests.code { _ = try context.existingObject(with: id) } != nil)
            #expect(QueryGenerationTests.code { try context.setQueryGenerationFrom(token) } != nil)
            // Nobody holds on to the file.
            try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: NSSQLiteStoreType)
            try stack.coordinator.addPersistentStore(type: .sqlite, at: stack.url)
            try stack.add("B")
            // There are books again, but not in the state that the context reads.
            #expect(QueryGenerationTests.code { _ = try context.titles() } == 134070)
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["B"])
        }
    }

    // MARK: Bounds

    @Test func noMoreGenerationsAreKeptThanMayBe() throws {
        let stack = try GenerationStack(options: [NSPersistentStore.queryGenerationCountOption: 2])
        var contexts: [NSManagedObjectContext] = []
        for number in 0..<2 {
            try stack.add("\(number)")
            let context = stack.newContext()
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                #expect(try context.countOfBooks() == number + 1)
            }
            contexts.append(context)
        }
        try stack.add("2")
        try stack.context.performAndWait {
            try stack.context.setQueryGenerationFrom(.current)
            #expect(QueryGenerationTests.code { _ = try stack.context.titles() } == NSPersistentStoreOperationError)
            #expect(try contexts[0].performAndWait { try contexts[0].countOfBooks() } == 1)
            contexts.removeLast()
            #expect(try stack.context.titles().count == 3)
        }
    }

    @Test func generationsAreGivenUpWhenTheLogIsTooLong() throws {
        let limit = 200_000
        let stack = try GenerationStack(options: [NSPersistentStore.queryGenerationLogSizeOption: limit])
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["A"])
            let token = context.queryGenerationToken
            let book = try #require(context.object(with: id) as? Book)
            #expect(book.title == "A")
            for number in 0..<300 {
                try stack.save { other in
                    let new = Book(context: other)
                    new.title = "\(number)"
                    (other.object(with: id) as? Book)?.title = "\(number)"
                }
            }
            // It grew to the limit, and began anew when the generation was gone.
            #expect(stack.logSize < 8 * limit)
            #expect(QueryGenerationTests.code { _ = try context.titles() } == NSPersistentStoreOperationError)
            #expect(QueryGenerationTests.code { _ = try context.countOfBooks() } == NSPersistentStoreOperationError)
            #expect(QueryGenerationTests.code { try context.setQueryGenerationFrom(token) } != nil)
            #expect(book.title == "A", "what was read stays")
            context.refreshAllObjects()
            #expect(book.title == "299")
            #expect(try context.countOfBooks() == 301)
        }
    }

    @Test func theLogStaysWithinTheLimitWhoeverReads() throws {
        let limit = 100_000
        let stack = try GenerationStack(options: [NSPersistentStore.queryGenerationLogSizeOption: limit])
        let context = stack.context
        // Pins that follow one another without a gap would never let the log begin anew.
        var held: [NSManagedObjectContext] = []
        for number in 0..<400 {
            try stack.add("\(number)")
            let next = stack.newContext()
            try next.performAndWait {
                try next.setQueryGenerationFrom(.current)
                #expect(try next.countOfBooks() == number + 1)
            }
            held = held.suffix(2) + [next]
        }
        #expect(stack.logSize < 8 * limit)
        #expect(try context.performAndWait { try context.countOfBooks() } == 400)
    }

    @Test func nothingIsHeldOnceNobodyIsPinned() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        for _ in 0..<50 {
            let context = stack.newContext()
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                _ = try context.titles()
                try stack.add("B")
            }
        }
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0 == stack.url.path }
        // The writer, readers and one that waits for the next generation.
        #expect(open.count <= 5, "\(open.count) connections")
    }
}
