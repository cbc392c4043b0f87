import CoreData
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Statements O1 to O9 on persistent history, through the public API.
@Suite struct HistoryRequestTests {
    typealias Request = NSPersistentHistoryChangeRequest

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch { return (error as NSError).code }
    }

    /// O1
    @Test func aStoreWithHistoryOpensForReadingOnlyWithoutTheOption() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        try stack.coordinator.remove(stack.store)
        let other = try HistoryStack(opening: stack.url, options: [:])
        #expect(other.store.isReadOnly)
        // What is there can be read, the history too.
        #expect(try other.transactions().count == 1)
        #expect(code { try other.add("B") } == CocoaError.Code.fileWriteNoPermission.rawValue)
        #expect(code { _ = try other.result(.deleteHistory(before: Date())) } != nil)
    }

    /// O1
    @Test(arguments: [true, false]) func theOptionTakesABooleanOrADictionary(isDictionary: Bool) throws {
        let value: Any = isDictionary ? NSDictionary() : NSNumber(value: true)
        let stack = try HistoryStack(options: [NSPersistentHistoryTrackingKey: value])
        try stack.add("A")
        #expect(try stack.transactions().count == 1)
    }

    /// O2
    @Test func aTransactionTellsWhoSavedWhat() throws {
        let stack = try HistoryStack()
        let before = Date()
        let ids = try stack.add("A", "B", author: "importer", name: "background")
        let transaction = try #require(try stack.transactions().first)
        #expect(transaction.transactionNumber == 1)
        #expect(transaction.author == "importer")
        #expect(transaction.contextName == "background")
        #expect(transaction.processID == ProcessInfo.processInfo.processName)
        #expect(!transaction.bundleID.isEmpty)
        #expect(transaction.storeID == stack.store.identifier)
        #expect(transaction.timestamp >= before && transaction.timestamp <= Date())
        let changes = try #require(transaction.changes)
        #expect(Set(changes.map(\.changedObjectID)) == Set(ids))
        #expect(changes.allSatisfy { $0.changeType == .insert && $0.updatedProperties == nil && $0.tombstone == nil })
        #expect(changes.map(\.changeID) == [1, 2])
        #expect(changes.allSatisfy { $0.transaction === transaction })
        #expect(transaction.token == stack.token)
    }

    /// O2
    @Test func anUpdateTellsItsProperties() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        try context.performAndWait {
            let book = Book(context: context)
            book.title = "A"
            let author = Author(context: context)
            author.name = "N"
            let tag = Tag(context: context)
            tag.name = "T"
            try context.save()
            book.title = "B"
            book.pages = 7
            book.author = author
            book.tags = [tag]
            try context.save()
        }
        let changes = try #require(try stack.transactions().last?.changes)
        func properties(_ entity: String) -> Set<String>? {
            changes.first { $0.changedObjectID.entity.name == entity }?.updatedProperties.map { Set($0.map(\.name)) }
        }
        #expect(properties("Book") == ["title", "pages", "author", "tags"])
        #expect(properties("Author") == ["books"])
        #expect(properties("Tag") == ["books"])
        #expect(changes.count == 3)
    }

    /// O3
    @Test func aTombstoneHasWhatIsPreserved() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        let identifier = UUID()
        let id = try context.performAndWait {
            let book = Book(context: context)
            book.title = "A"
            book.identifier = identifier
            book.pages = 3
            let chapter = Chapter(context: context)
            chapter.book = book
            try context.save()
            let id = book.objectID
            context.delete(book)
            try context.save()
            return id
        }
        let changes = try #require(try stack.transactions().last?.changes)
        let book = try #require(changes.first { $0.changedObjectID == id })
        #expect(book.changeType == .delete)
        #expect(book.tombstone?["title"] as? String == "A")
        #expect(book.tombstone?["identifier"] as? UUID == identifier)
        #expect(book.tombstone?.count == 2)
        let chapter = try #require(changes.first { $0.changedObjectID.entity.name == "Chapter" })
        #expect(chapter.changeType == .delete && chapter.tombstone == nil)
    }

    /// O4
    @Test func everythingComesWithoutATokenAndWhatIsLaterWithOne() throws {
        let stack = try HistoryStack()
        #expect(try stack.transactions().isEmpty)
        try stack.add("A")
        let token = try #require(stack.token)
        let middle = Date()
        try stack.add("B")
        try stack.add("C")
        let all = try stack.transactions()
        #expect(all.map(\.transactionNumber) == [1, 2, 3])
        #expect(try stack.transactions(.fetchHistory(after: token)).map(\.transactionNumber) == [2, 3])
        #expect(try stack.transactions(.fetchHistory(after: all[1])).map(\.transactionNumber) == [3])
        #expect(try stack.transactions(.fetchHistory(after: middle)).map(\.transactionNumber) == [2, 3])
        #expect(try stack.transactions(.fetchHistory(after: stack.token)).isEmpty)
        #expect(Request.fetchHistory(after: token).token == token)
    }

    /// O4
    @Test func aTokenThatIsTooOldOrUnknownIsExpired() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        let old = try #require(stack.token)
        for title in ["B", "C", "D"] { try stack.add(title) }
        let kept = try #require(stack.token)
        try stack.add("E")
        _ = try stack.result(.deleteHistory(before: kept))
        #expect(code { _ = try stack.transactions(.fetchHistory(after: old)) } == NSPersistentHistoryTokenExpiredError)
        #expect(try stack.transactions(.fetchHistory(after: kept)).count == 1)
        #expect(try stack.transactions().count == 2)
        let other = try HistoryStack()
        for title in ["A", "B"] { try other.add(title) }
        // Of another store, or of this one, but not yet: unknown.
        #expect(
            code { _ = try other.transactions(.fetchHistory(after: kept)) } == NSPersistentHistoryTokenExpiredError)
        #expect(code { _ = try other.result(.deleteHistory(before: kept)) } == NSPersistentHistoryTokenExpiredError)
        #expect(try other.transactions().count == 2)
        let identifier = try #require(other.store.identifier)
        let future = try #require(try Self.token("\(identifier) 99"))
        #expect(
            code { _ = try other.transactions(.fetchHistory(after: future)) } == NSPersistentHistoryTokenExpiredError)
    }

    /// O4, O5
    @Test func beforeTheBeginningThereIsNothingToDelete() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        #expect(try stack.result(.deleteHistory(before: nil as NSPersistentHistoryToken?)) as? Bool == true)
        let request = Request.deleteHistory(before: nil as NSPersistentHistoryTransaction?)
        request.resultType = .count
        #expect(try stack.result(request) as? Int == 0)
        #expect(try stack.transactions().count == 1)
    }

    /// O7
    @Test func aSaveTellsWhereTheHistoryStandsAfterIt() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        let saves = NotificationSaves(context)
        let ids = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, context)
        try context.performAndWait {
            Tag(context: context).name = "a"
            try context.save()
            let token = try #require(saves.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken)
            #expect(token == stack.token)
            #expect(ids.userInfos.last?["newChangeToken"] as? NSPersistentHistoryToken == token)
            try stack.add("B")
            #expect(try stack.transactions(.fetchHistory(after: token)).map(\.transactionNumber) == [2])
        }
        // A store that was not written has its place in the token, too.
        try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("2.sqlite"),
            options: HistoryStack.options)
        try context.performAndWait {
            Tag(context: context).name = "b"
            try context.save()
            let token = try #require(saves.last?.userInfo?["newChangeToken"] as? NSPersistentHistoryToken)
            #expect(token == stack.token)
        }
        let plain = try LibraryStack()
        let other = NotificationSaves(plain.context)
        try plain.story { context in
            Tag(context: context).name = "a"
            try context.save()
            #expect(try #require(other.last?.userInfo)["newChangeToken"] == nil)
        }
    }

    /// I6, O2
    @Test func aSaveThatGivesUpAllItsChangesIsNoTransaction() throws {
        let stack = try HistoryStack()
        let (id, tag) = (try stack.add("A")[0], try stack.newContext().performAndWaitForTag())
        for isLinked in [false, true] {
            let (mine, theirs) = (stack.newContext(), stack.newContext())
            try mine.performAndWait {
                mine.mergePolicy = NSRollbackMergePolicy
                let book = try #require(try mine.existingObject(with: id) as? Book)
                let author = Author(context: mine)
                author.name = "N"
                try mine.save()
                let count = try stack.transactions().count
                try theirs.performAndWait {
                    let same = try #require(try theirs.existingObject(with: id) as? Book)
                    same.pages += 1
                    try theirs.save()
                }
                book.title = "mine"
                if isLinked {
                    book.author = author
                    book.tags = [try #require(try mine.existingObject(with: tag) as? Tag)]
                }
                try mine.save()
                #expect(!mine.hasChanges)
                let transactions = try stack.transactions()
                #expect(transactions.allSatisfy { $0.changes?.isEmpty == false })
                #expect(transactions.count == count + 1, "theirs alone, \(transactions)")
            }
        }
    }

    /// A token that was made elsewhere.
    private static func token(_ positions: String) throws -> NSPersistentHistoryToken? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(positions as NSString, forKey: "positions")
        archiver.finishEncoding()
        return NSPersistentHistoryToken(coder: try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData))
    }

    /// O5
    @Test func deletionLeavesTheTransactionThatItIsBefore() throws {
        let stack = try HistoryStack()
        for title in ["A", "B", "C"] { try stack.add(title) }
        let all = try stack.transactions()
        #expect(try stack.result(.deleteHistory(before: all[0])) as? Bool == true)
        #expect(try stack.transactions().count == 3)
        let request = Request.deleteHistory(before: all[2].token)
        request.resultType = .count
        #expect(try stack.result(request) as? Int == 2)
        #expect(try stack.transactions().map(\.transactionNumber) == [3])
        #expect(try stack.result(.deleteHistory(before: Date())) as? Bool == true)
        #expect(try stack.transactions().isEmpty)
        // The position is not forgotten.
        #expect(stack.token == all[2].token)
        try stack.add("D")
        #expect(try stack.transactions().map(\.transactionNumber) == [4])
    }

    /// O6
    @Test func aTransactionMergesIntoAContext() throws {
        let stack = try HistoryStack()
        let ids = try stack.add("A", "B")
        let token = stack.token
        let context = stack.newContext()
        let (first, second) = try context.performAndWait {
            (
                try #require(try context.existingObject(with: ids[0]) as? Book),
                try #require(try context.existingObject(with: ids[1]) as? Book)
            )
        }
        context.performAndWait { #expect(first.title == "A" && second.title == "B") }
        // Another coordinator, which this one does not hear of.
        let other = try HistoryStack(opening: stack.url)
        let writer = other.newContext()
        try writer.performAndWait {
            let books = try writer.all(Book.self, "Book")
            for book in books {
                if book.title == "A" { book.title = "Changed" } else { writer.delete(book) }
            }
            let new = Book(context: writer)
            new.title = "New"
            try writer.save()
        }
        let transaction = try #require(try stack.transactions(.fetchHistory(after: token)).first)
        let notification = transaction.objectIDNotification()
        #expect((notification.userInfo?[NSUpdatedObjectIDsKey] as? Set<NSManagedObjectID>) == [ids[0]])
        #expect((notification.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID>) == [ids[1]])
        #expect((notification.userInfo?[NSInsertedObjectIDsKey] as? Set<NSManagedObjectID>)?.count == 1)
        context.performAndWait {
            context.mergeChanges(fromContextDidSave: notification)
            #expect(first.title == "Changed")
            #expect(second.managedObjectContext == nil)
        }
    }

    @Test func whatCameAndWentInOneTransactionIsDeleted() throws {
        let stack = try HistoryStack()
        let ids = try stack.add("A")
        let context = stack.newContext()
        try context.performAndWait {
            context.delete(try context.existingObject(with: ids[0]))
            try context.save()
        }
        let userInfo = try #require(try stack.transactions().last?.objectIDNotification().userInfo)
        #expect(Set(userInfo.keys.compactMap { $0 as? String }) == [NSDeletedObjectIDsKey])
    }

    // MARK: Results

    @Test func eachTypeOfResultIsWhatItSays() throws {
        let stack = try HistoryStack()
        let ids = try stack.add("A", "B")
        let context = stack.newContext()
        try context.performAndWait {
            (try context.existingObject(with: ids[0]) as? Book)?.title = "C"
            try context.save()
        }
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = Request.fetchHistory(after: nil as NSPersistentHistoryToken?)
            request.resultType = type
            return try stack.result(request)
        }
        #expect(Request.fetchHistory(after: Date()).resultType == .transactionsAndChanges)
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.count) as? Int == 2)
        #expect(try result(.objectIDs) as? [NSManagedObjectID] == ids)
        let only = try #require(try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])
        #expect(only.count == 2 && only.allSatisfy { $0.changes == nil })
        let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.map(\.changeType) == [.insert, .insert, .update])
        #expect(changes.map { $0.transaction?.transactionNumber } == [1, 1, 2])
        let both = try #require(try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])
        #expect(both.map { $0.changes?.count } == [2, 1])
    }

    // MARK: Selections

    /// O9
    @Test(arguments: [
        ("author == 'a'", [1, 3]), ("author != 'a'", [2]), ("contextName BEGINSWITH 'ma'", [2]),
        ("transactionNumber > 1", [2, 3]), ("ANY changes.changeType == 0 AND author == 'b'", [2]),
        ("processID == 'nobody'", []), ("changes.@count == 2", [3]), ("timestamp > CAST(0, 'NSDate')", [1, 2, 3]),
    ])
    func transactionsAreSelectedByPredicates(format: String, numbers: [Int64]) throws {
        let stack = try HistoryStack()
        try stack.add("A", author: "a")
        try stack.add("B", author: "b", name: "main")
        try stack.add("C", "D", author: "a")
        let selection = try #require(NSPersistentHistoryTransaction.fetchRequest)
        selection.predicate = NSPredicate(format: format)
        let request = Request.fetchHistory(withFetch: selection)
        #expect(try stack.transactions(request).map(\.transactionNumber) == numbers)
        #expect(request.fetchRequest === selection)
    }

    /// O9
    @Test func tokensAreComparedByTheirPositions() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        let token = try #require(stack.token)
        try stack.add("B")
        func numbers(_ format: String) throws -> [Int64] {
            let selection = try #require(NSPersistentHistoryTransaction.fetchRequest)
            selection.predicate = NSPredicate(format: format, argumentArray: [token])
            return try stack.transactions(.fetchHistory(withFetch: selection)).map(\.transactionNumber)
        }
        #expect(try numbers("token > %@") == [2])
        #expect(try numbers("token == %@") == [1])
        #expect(try numbers("token <= %@") == [1])
    }

    /// O9
    @Test func changesAreSelectedByPredicates() throws {
        let stack = try HistoryStack()
        let ids = try stack.add("A", "B", author: "a")
        let context = stack.newContext(author: "b")
        try context.performAndWait {
            let reader = Reader(context: context)
            reader.setValue("R", forKey: "name")
            context.delete(try context.existingObject(with: ids[1]))
            try context.save()
        }
        func changes(_ format: String, _ arguments: Any...) throws -> [String] {
            let selection = try #require(NSPersistentHistoryChange.fetchRequest)
            selection.predicate = NSPredicate(format: format, argumentArray: arguments)
            let request = Request.fetchHistory(withFetch: selection)
            request.resultType = .changesOnly
            return (try stack.result(request) as? [NSPersistentHistoryChange] ?? []).map {
                "\($0.changedObjectID.entity.name ?? "") \($0.changeType)"
            }.sorted()
        }
        let book = try #require(stack.coordinator.managedObjectModel.entitiesByName["Book"])
        #expect(try changes("changedEntity == %@", book) == ["Book delete", "Book insert", "Book insert"])
        #expect(try changes("changedObjectID == %@", ids[1]) == ["Book delete", "Book insert"])
        #expect(try changes("changedObjectID IN %@", [ids[0]]) == ["Book insert"])
        #expect(try changes("changeType == %d", NSPersistentHistoryChangeType.delete.rawValue) == ["Book delete"])
        #expect(try changes("transaction.author == 'b'") == ["Book delete", "Reader insert"])
        #expect(try changes("tombstone.title == 'B'") == ["Book delete"])
        // A transaction keeps what is wanted of it, and is left out where nothing is.
        let selection = try #require(NSPersistentHistoryChange.fetchRequest)
        selection.predicate = NSPredicate(format: "changeType == 2")
        let transactions = try stack.transactions(.fetchHistory(withFetch: selection))
        #expect(transactions.map { $0.changes?.count } == [1])
    }

    /// O9
    @Test func aSelectionMaySortAndCut() throws {
        let stack = try HistoryStack()
        for title in ["A", "B", "C", "D"] { try stack.add(title) }
        let selection = try #require(NSPersistentHistoryTransaction.fetchRequest)
        selection.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        selection.fetchLimit = 2
        selection.fetchOffset = 1
        #expect(try stack.transactions(.fetchHistory(withFetch: selection)).map(\.transactionNumber) == [3, 2])
        let request = Request.fetchHistory(after: try stack.transactions()[2])
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        #expect(try stack.transactions(request).map(\.transactionNumber) == [4])
    }

    @Test func aBlockMayAskForChanges() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        try stack.add("B", "C")
        let selection = try #require(NSPersistentHistoryTransaction.fetchRequest)
        selection.predicate = NSPredicate { object, _ in
            (object as? NSPersistentHistoryTransaction)?.changes?.count == 2
        }
        let request = Request.fetchHistory(withFetch: selection)
        request.resultType = .transactionsOnly
        #expect(try stack.transactions(request).map(\.transactionNumber) == [2])
        selection.predicate = nil
        selection.sortDescriptors = [NSSortDescriptor(key: "changes.@count", ascending: false)]
        #expect(try stack.transactions(request).map(\.transactionNumber) == [2, 1])
    }

    @Test func entitiesTellTheirAttributes() throws {
        let stack = try HistoryStack()
        let transaction = try #require(NSPersistentHistoryTransaction.entityDescription(with: stack.newContext()))
        #expect(transaction === NSPersistentHistoryTransaction.entityDescription)
        #expect(
            Set(transaction.attributesByName.keys) == [
                "author", "bundleID", "contextName", "processID", "timestamp", "token", "transactionNumber",
            ])
        let change = try #require(NSPersistentHistoryChange.entityDescription)
        #expect(
            Set(change.attributesByName.keys).isSuperset(of: [
                "changeID", "changeType", "changedEntity", "changedObjectID",
            ])
        )
    }

    @Test func whatCannotBeSelectedIsAnError() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        #expect(throws: CocoaError.self) {
            _ = try stack.result(.fetchHistory(withFetch: NSFetchRequest(entityName: "Book")))
        }
        #expect(throws: CocoaError.self) {
            let selection = try #require(NSPersistentHistoryTransaction.fetchRequest)
            selection.predicate = NSPredicate(format: "colour == 'red'")
            _ = try stack.result(.fetchHistory(withFetch: selection))
        }
    }

    // MARK: Other stores and requests

    @Test func aStoreInMemoryHasAHistoryToo() throws {
        let stack = try HistoryStack(inMemory: true)
        try stack.add("A", author: "a")
        try stack.add("B")
        #expect(try stack.transactions().map(\.author) == ["a", nil])
    }

    @Test func withoutAHistoryTheRequestIsRefused() throws {
        let stack = try HistoryStack(options: [:])
        try stack.add("A")
        #expect(code { _ = try stack.transactions() } == NSPersistentStoreUnsupportedRequestTypeError)
        #expect(stack.token == nil)
    }

    @Test func aSourceThatKeepsNoHistorySaysSo() throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addStore(on: try MemoryEngine(model: coordinator.compiledModel), type: "Memory")
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let found = code { try context.execute(Request.fetchHistory(after: Date())) }
            #expect(found == NSPersistentStoreUnsupportedRequestTypeError)
        }
        #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    }

    /// O7
    @Test func severalStoresHaveOneTokenAndAreReadTogether() throws {
        let stack = try HistoryStack()
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: stack.folder.appendingPathComponent("Second.sqlite"),
            options: HistoryStack.options)
        func add(_ title: String, to store: NSPersistentStore) throws {
            let context = stack.newContext(author: title)
            try context.performAndWait {
                let book = Book(context: context)
                book.title = title
                context.assign(book, to: store)
                try context.save()
            }
        }
        try add("A", to: stack.store)
        try add("B", to: second)
        let token = try #require(stack.token)
        try add("C", to: second)
        try add("D", to: stack.store)
        #expect(try stack.transactions().map(\.author) == ["A", "B", "C", "D"])
        #expect(try stack.transactions(.fetchHistory(after: token)).map(\.author) == ["C", "D"])
        let request = Request.fetchHistory(after: token)
        request.affectedStores = [second]
        #expect(try stack.transactions(request).map(\.author) == ["C"])
        let own = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: [second]))
        #expect(own != stack.token)
        // A store that the token does not name is read from its beginning.
        #expect(try stack.transactions(.fetchHistory(after: own)).map(\.author) == ["A", "D"])
    }

    @Test func fetchRequestsCanBeExecuted() throws {
        let stack = try HistoryStack()
        try stack.add("A", "B")
        let context = stack.newContext()
        try context.performAndWait {
            let request = NSFetchRequest<Book>(entityName: "Book")
            let result = try #require(try context.execute(request) as? ExecutedFetchResult)
            #expect(result.objects.count == 2 && result.objects.allSatisfy { $0 is Book })
            let objects = try stack.coordinator.execute(request, with: context)
            #expect((objects as? [AnyObject])?.count == 2)
            #expect(
                code { try context.execute(NSPersistentStoreRequest()) } == NSPersistentStoreUnsupportedRequestTypeError
            )
        }
    }

    @Test func aRequestCanBeCopied() throws {
        let request = Request.fetchHistory(after: Date())
        request.resultType = .count
        request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
        let copy = try #require(request.copy() as? Request)
        #expect(copy.resultType == .count && copy.fetchRequest != nil && copy.fetchRequest !== request.fetchRequest)
    }

    // MARK: Apple's files

    /// O1, O2: a store that Apple's framework wrote goes on where it stopped.
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func aStoreOfApplesWithHistoryGoesOn() throws {
        let url = try Fixtures.temporaryCopy("sample-model-2/SampleModel2_V2.sqlite")
        let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: HistoryStack.options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "linux"
        let transactions = try context.performAndWait {
            let writer = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            for (name, attribute) in writer.entity.attributesByName where !attribute.isOptional {
                if attribute.attributeType == .stringAttributeType { writer.setValue("x", forKey: name) }
                if attribute.attributeType == .integer16AttributeType { writer.setValue(1, forKey: name) }
                if attribute.attributeType == .dateAttributeType { writer.setValue(Date(), forKey: name) }
            }
            try context.save()
            let result = try context.execute(Request.fetchHistory(after: nil as NSPersistentHistoryToken?))
            return (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        }
        try #require(transactions.map(\.transactionNumber) == [1, 2])
        #expect(transactions[0].processID == "xctest" && transactions[0].bundleID == "com.apple.dt.xctest.tool")
        #expect(transactions[0].author == nil && transactions[0].contextName == nil)
        #expect(transactions[0].timestamp == Date(timeIntervalSinceReferenceDate: 737_057_651.681977))
        #expect(transactions[0].changes?.count == 126)
        #expect(transactions[0].changes?.allSatisfy { $0.changeType == .insert } == true)
        #expect(transactions[1].author == "linux")
        #expect(transactions[1].changes?.map(\.changeID) == [127])
        #expect(transactions[1].changes?.first?.changedObjectID.entity.name == "Author")
    }
}

extension NSManagedObjectContext {
    /// The ID of a new tag.
    fileprivate func performAndWaitForTag() throws -> NSManagedObjectID {
        try performAndWait {
            let tag = Tag(context: self)
            tag.name = "tag"
            try save()
            return tag.objectID
        }
    }
}
