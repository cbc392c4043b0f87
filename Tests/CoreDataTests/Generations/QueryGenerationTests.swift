import CoreData
import Foundation
import Testing

/// P1 to P4: contexts that are pinned to a generation.
@Suite struct QueryGenerationTests {
    // MARK: P1

    @Test("P1: no token is the live store") func aContextIsNotPinnedByItself() throws {
        let stack = try GenerationStack()
        try stack.context.performAndWait {
            #expect(stack.context.queryGenerationToken == nil)
            #expect(try stack.context.storedTitles() == [])
            try stack.add("A")
            #expect(try stack.context.storedTitles() == ["A"])
        }
    }

    @Test("P1: the current generation is that of the first read") func currentPinsAtTheFirstReadAndNotBefore() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(context.queryGenerationToken == .current)
            try stack.add("B")
            #expect(try context.storedTitles() == ["A", "B"])
            #expect(context.queryGenerationToken != .current)
            try stack.add("C")
            #expect(try context.storedTitles() == ["A", "B"])
            #expect(try context.titles() == ["A", "B"])
            #expect(try context.countOfBooks() == 2)
            try context.setQueryGenerationFrom(nil)
            #expect(context.queryGenerationToken == nil)
            #expect(try context.titles() == ["A", "B", "C"])
        }
    }

    @Test("P1: faults fire with what the generation has") func faultsFireWithTheValuesOfTheGeneration() throws {
        let stack = try GenerationStack()
        let ids = try stack.add("A", "B")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.countOfBooks() == 2)
            try stack.rename(ids[0], "Z")
            try stack.save { $0.delete($0.object(with: ids[1])) }
            // What other contexts share in memory is newer.
            let other = stack.newContext()
            let shown = try other.performAndWait { try other.titles() }
            #expect(shown == ["Z"])
            #expect((context.object(with: ids[0]) as? Book)?.title == "A")
            #expect((try context.existingObject(with: ids[1]) as? Book)?.title == "B")
        }
    }

    @Test func rowsOfAGenerationDoNotGetIntoTheMemoryThatContextsShare() throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.countOfBooks() == 1)
            try stack.rename(id, "B")
            #expect(try context.titles() == ["A"])
            let other = stack.newContext()
            let title = other.performAndWait { (other.object(with: id) as? Book)?.title }
            #expect(title == "B")
        }
    }

    @Test func relationshipsAreThoseOfTheGeneration() throws {
        let stack = try GenerationStack()
        let (author, book) = try stack.save { context in
            let author = Author(context: context)
            author.name = "Jane"
            let book = Book(context: context)
            book.title = "Emma"
            book.author = author
            book.chapters = ["1", "2"].map { title in
                let chapter = Chapter(context: context)
                chapter.title = title
                return chapter
            }
            try context.obtainPermanentIDs(for: [author, book])
            return (author.objectID, book.objectID)
        }
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.countOfBooks() == 1)
            try stack.save { other in
                let emma = try #require(other.object(with: book) as? Book)
                emma.chapters = Array(emma.chapters.reversed().dropLast())
                let more = Book(context: other)
                more.title = "Persuasion"
                more.author = other.object(with: author) as? Author
                emma.author = nil
            }
            let jane = try #require(context.object(with: author) as? Author)
            #expect(jane.books.map(\.title) == ["Emma"])
            let emma = try #require(context.object(with: book) as? Book)
            #expect(emma.author === jane)
            #expect(emma.chapters.map(\.title) == ["1", "2"])
            let request = NSFetchRequest<Author>(entityName: "Author")
            request.predicate = NSPredicate(format: "ANY books.title == 'Persuasion'")
            #expect(try context.count(for: request) == 0)
        }
    }

    @Test func filesOfExternalDataThatALaterSaveReplacesCanBeRead() throws {
        let stack = try GenerationStack()
        let old = Data(repeating: 1, count: 200_000)
        let id = try stack.save { context in
            let book = Book(context: context)
            book.title = "A"
            book.cover = old
            try context.obtainPermanentIDs(for: [book])
            return book.objectID
        }
        let external = stack.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA").path
        let former = stack.folder.appendingPathComponent(".Library_SUPPORT/_FORMER").path
        func count(_ folder: String) -> Int {
            (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
        }
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.countOfBooks() == 1)
            try stack.save { ($0.object(with: id) as? Book)?.cover = Data(repeating: 2, count: 200_000) }
            try stack.save { ($0.object(with: id) as? Book)?.cover = nil }
            #expect(count(external) == 0)
            #expect((context.object(with: id) as? Book)?.cover == old)
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["cover"]
            #expect(try context.fetch(request).first?["cover"] as? Data == old)
            try context.setQueryGenerationFrom(nil)
            #expect(count(former) == 0, "what nobody can read any more is removed")
            context.refreshAllObjects()
            #expect((context.object(with: id) as? Book)?.cover == nil)
        }
    }

    @Test("P1: the token of another context leads to its generation") func twoContextsWithOneTokenReadTheSame() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let (first, second) = (stack.context, stack.newContext())
        try first.performAndWait {
            try first.setQueryGenerationFrom(.current)
            #expect(try first.titles() == ["A"])
        }
        try stack.add("B")
        try second.performAndWait {
            try second.setQueryGenerationFrom(first.queryGenerationToken)
            #expect(try second.titles() == ["A"])
            #expect(second.queryGenerationToken == first.queryGenerationToken)
        }
    }

    @Test func contextsThatArePinnedWhileNobodySavesHaveEqualTokens() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let contexts = [stack.newContext(), stack.newContext()]
        for context in contexts {
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                _ = try context.titles()
            }
        }
        #expect(contexts[0].queryGenerationToken == contexts[1].queryGenerationToken)
        try stack.add("B")
        try contexts[1].performAndWait {
            try contexts[1].setQueryGenerationFrom(.current)
            #expect(try contexts[1].storedTitles() == ["A", "B"])
        }
        #expect(contexts[0].queryGenerationToken != contexts[1].queryGenerationToken)
    }

    @Test func aTokenKeepsItsGenerationAfterTheContext() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        var token: NSQueryGenerationToken?
        do {
            let context = stack.newContext()
            try context.performAndWait {
                try context.setQueryGenerationFrom(.current)
                _ = try context.titles()
                token = context.queryGenerationToken?.copy() as? NSQueryGenerationToken
            }
        }
        try stack.add("B")
        try stack.context.performAndWait {
            try stack.context.setQueryGenerationFrom(token)
            #expect(try stack.context.titles() == ["A"])
        }
    }

    @Test func anArchivedTokenLeadsToItsGenerationAsLongAsThatIsKept() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.titles()
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: try #require(context.queryGenerationToken), requiringSecureCoding: true)
            let token = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: data))
            #expect(token == context.queryGenerationToken)
            try stack.add("B")
            try context.setQueryGenerationFrom(token)
            #expect(try context.titles() == ["A"])
            try context.setQueryGenerationFrom(nil)
            #expect(Self.code { try context.setQueryGenerationFrom(token) } == NSPersistentStoreOperationError)
            #expect(try context.titles() == ["A", "B"])
        }
    }

    // MARK: P2

    @Test("P2: a save moves on") func aSaveMovesOn() throws {
        let stack = try GenerationStack()
        let ids = try stack.add("A", "B")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["A", "B"])
            let before = context.queryGenerationToken
            try stack.add("C")
            let book = try #require(context.object(with: ids[0]) as? Book)
            book.title = "Z"
            #expect(try context.storedTitles() == ["A", "B"])
            try context.save()
            #expect(context.queryGenerationToken != nil)
            #expect(context.queryGenerationToken != before)
            #expect(try context.storedTitles() == ["B", "C", "Z"])
            try stack.add("D")
            #expect(try context.storedTitles() == ["B", "C", "Z"])
        }
    }

    @Test func aSaveWithoutChangesMovesNothing() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        try stack.context.performAndWait {
            try stack.context.setQueryGenerationFrom(.current)
            _ = try stack.context.titles()
            try stack.add("B")
            try stack.context.save()
            #expect(try stack.context.titles() == ["A"])
        }
    }

    @Test func aSaveFindsWhatOthersChangedInConflict() throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == ["A"])
            try stack.rename(id, "B")
            let book = try #require(context.object(with: id) as? Book)
            book.pages = 7
            #expect(Self.code { try context.save() } == NSManagedObjectMergeError)
            #expect(try context.storedTitles() == ["A"], "a save that fails moves nothing")
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(book.title == "B")
            #expect(book.pages == 7)
            #expect(try context.storedTitles() == ["B"])
        }
    }

    @Test func aUniqueValueThatWasTakenSinceIsFound() throws {
        let stack = try GenerationStack()
        let context = stack.context
        context.mergePolicy = NSMergeByPropertyStoreTrumpMergePolicy
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            #expect(try context.titles() == [])
            try stack.save { other in
                let tag = Tag(context: other)
                tag.name = "novel"
            }
            let tag = Tag(context: context)
            tag.name = "novel"
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 1)
        }
    }

    @Test("P2: merges and resets move on", arguments: ["merge", "reset"])
    func movesOn(by step: String) throws {
        let stack = try GenerationStack()
        let id = try stack.add("A")[0]
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            var book = try #require(try context.existingObject(with: id) as? Book)
            #expect(book.title == "A")
            try stack.rename(id, "B")
            try stack.add("C")
            context.refresh(book, mergeChanges: false)
            #expect(book.title == "A", "to refresh one object does not move on")
            switch step {
            case "merge":
                NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
            default:
                context.reset()
                book = try #require(context.object(with: id) as? Book)
            }
            #expect(book.title == "B")
            #expect(try context.titles() == ["B", "C"])
            try stack.add("D")
            #expect(try context.titles() == ["B", "C"], "it is pinned again")
        }
    }

    @Test("P2: to refresh all objects reads them from the generation, and the generation stays")
    func refreshingAllDoesNotMoveOn() throws {
        let stack = try GenerationStack()
        let ids = try stack.add("A", "B")
        let context = stack.context
        try context.performAndWait {
            let known = try ids.map { try #require(try context.existingObject(with: $0) as? Book) }
            try stack.rename(ids[0], "A2")
            try context.setQueryGenerationFrom(.current)
            #expect(try context.storedTitles() == ["A2", "B"])
            let token = try #require(context.queryGenerationToken)
            try stack.rename(ids[0], "A3")
            try stack.add("C")
            known[1].title = "mine"
            context.refreshAllObjects()
            #expect(context.queryGenerationToken == token)
            #expect(known.map(\.title) == ["A2", "mine"])
            #expect(try context.storedTitles() == ["A2", "B"])
            try context.setQueryGenerationFrom(.current)
            #expect(known[0].title == "A2", "what was read stays")
            context.refreshAllObjects()
            #expect(known.map(\.title) == ["A3", "mine"])
            #expect(try context.storedTitles() == ["A3", "B", "C"])
        }
    }

    @Test("P2: batch requests do not move on") func batchRequestsDoNotMoveOn() throws {
        let stack = try GenerationStack()
        try stack.add("A")
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.storedTitles()
            let request = NSBatchUpdateRequest(entityName: "Book")
            request.propertiesToUpdate = ["title": "B"]
            try context.execute(request)
            #expect(try context.storedTitles() == ["A"])
            try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Book")))
            #expect(try context.storedTitles() == ["A"])
        }
    }

    @Test func aNotificationOfASaveHasTheGenerationAfterIt() throws {
        let stack = try GenerationStack()
        let context = stack.context
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            _ = try context.titles()
            nonisolated(unsafe) var token: NSQueryGenerationToken?  // Safe because the context posts on this thread.
            let observer = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { token = $0.userInfo?[NSManagedObjectContextQueryGenerationKey] as? NSQueryGenerationToken }
            defer { NotificationCenter.default.removeObserver(observer) }
            Book(context: context).title = "A"
            try context.save()
            #expect(token != nil)
            #expect(token == context.queryGenerationToken)
            try stack.add("B")
            #expect(try context.storedTitles() == ["A"])
        }
    }

    @Test func objectsThatWereThereBeforeArePinnedToo() throws {
        let stack = try GenerationStack()
        let ids = try stack.add("A", "B")
        let context = stack.context
        try context.performAndWait {
            let fault = try #require(context.object(with: ids[0]) as? Book)
            let read = try #require(try context.existingObject(with: ids[1]) as? Book)
            try context.setQueryGenerationFrom(.current)
            _ = try context.countOfBooks()
            try stack.rename(ids[0], "Y")
            try stack.rename(ids[1], "Z")
            #expect(fault.title == "A")
            #expect(read.title == "B")
            #expect(context.object(with: ids[0]) === fault)
            context.refresh(read, mergeChanges: false)
            #expect(read.title == "B")
            read.pages = 3
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            try context.save()
            #expect(read.title == "Z")
            #expect(context.object(with: ids[1]) === read)
        }
    }

    static func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as NSError).code }
    }
}
