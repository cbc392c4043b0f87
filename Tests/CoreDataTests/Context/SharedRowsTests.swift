import CoreDataSQL
import Foundation
import Synchronization
import Testing

@testable import CoreData

// semantics B, H, I, L where several contexts, coordinators and queues share rows
@Suite struct SharedRowsTests {
    private func book(_ title: String, _ context: NSManagedObjectContext) -> Book {
        let book = Book(context: context)
        book.title = title
        return book
    }

    /// Another context's change to the object, saved.
    private func change(
        _ object: NSManagedObject, in other: NSManagedObjectContext, _ body: @escaping (Book) -> Void
    ) throws {
        let id = object.objectID
        try other.performAndWait {
            let same = try #require(try other.existingObject(with: id) as? Book)
            body(same)
            try other.save()
        }
    }

    // MARK: The row cache

    @Test("Contexts that save the same rows at once leave the last values for everybody (L1, L3)")
    func savesOfTheSameRows() async throws {
        let stack = try LibraryStack()
        let coordinator = stack.coordinator
        let ids = try stack.story { context in
            let books = (0..<3).map { book("\($0)", context) }
            try context.save()
            return books.map(\.objectID)
        }
        let watching = stack.newContext()
        watching.automaticallyMergesChangesFromParent = true
        let watched = await watching.perform { Transfer(ids.map { watching.object(with: $0) as? Book }) }
        _ = await watching.perform { watched.value.map { $0?.title } }
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let context = NSManagedObjectContext(.privateQueue)
                    context.persistentStoreCoordinator = coordinator
                    for round in 0..<40 {
                        await context.perform {
                            for id in ids { (context.object(with: id) as? Book)?.pages = Int32(writer * 1000 + round) }
                            for _ in 0..<1000 {
                                do {
                                    return try context.save()
                                } catch {
                                    context.refreshAllObjects()
                                }
                            }
                            Issue.record("a save failed without end")
                        }
                    }
                }
            }
        }
        let stored = stack.newContext().performAndWaitPages(ids)
        // What the last save told is merged by then: blocks run one after another.
        let seen = await watching.perform(schedule: .enqueued) { watched.value.map { $0?.pages } }
        #expect(seen == stored)
        try await watching.perform {
            for book in watched.value { book?.pages = 9 }
            try watching.save()
        }
    }

    @Test("I4: after a conflict, rollback and refresh let the next save succeed", arguments: [true, false])
    func rollbackAfterAConflict(sameCoordinator: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let mine = book("Book", context)
            try context.save()
            let second = try LibraryStack(opening: stack.url)
            let other = sameCoordinator ? stack.newContext() : second.context
            for round in 1...3 {
                try change(mine, in: other) { $0.pages += 100 }
                mine.title = "Mine \(round)"
                let error = #expect(throws: CocoaError.self) { try context.save() }
                #expect(error?.code == .managedObjectMerge)
                context.rollback()
                context.refresh(mine, mergeChanges: false)
                mine.title = "Mine \(round)"
                try context.save()
                #expect(mine.pages == Int32(100 * round))
                other.performAndWait {
                    other.refreshAllObjects()
                    other.reset()
                }
            }
        }
    }

    @Test("B5, I4: after a conflict with another coordinator, refresh with changes and save succeed")
    func mergeAfterAConflict() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let mine = book("Book", context)
            let doomed = book("Doomed", context)
            try context.save()
            try change(mine, in: second.context) { $0.pages = 7 }
            try change(doomed, in: second.context) { second.context.delete($0) }
            mine.title = "Mine"
            doomed.title = "Mine, too"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            let conflicts = error?.persistentStoreSaveConflicts ?? []
            #expect(Set(conflicts.map(\.newVersionNumber)) == [0, 2])
            context.refresh(mine, mergeChanges: true)
            context.refresh(doomed, mergeChanges: true)
            #expect(mine.title == "Mine" && mine.pages == 7)
            #expect(doomed.isDeleted && doomed.title == nil, "its row is gone (B4)")
            try context.save()
            #expect(try context.all(Book.self, "Book").map(\.title) == ["Mine"])
        }
    }

    @Test("I1: a conflict within a coordinator has a cached snapshot, one across coordinators has both")
    func snapshots() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let mine = book("Book", context)
            try context.save()
            func conflict() throws -> NSMergeConflict {
                mine.title = "Mine"
                let error = #expect(throws: CocoaError.self) { try context.save() }
                let conflict = try #require(error?.persistentStoreSaveConflicts?.first)
                context.refresh(mine, mergeChanges: false)
                return conflict
            }
            let sibling = stack.newContext()
            try change(mine, in: sibling) { $0.title = "Sibling's" }
            let within = try conflict()
            #expect(within.objectSnapshot?["title"] as? String == "Book")
            #expect(within.cachedSnapshot?["title"] as? String == "Sibling's")
            #expect(within.persistedSnapshot == nil)
            #expect(mine.title == "Sibling's")

            try change(mine, in: second.context) { $0.title = "Stranger's" }
            let across = try conflict()
            #expect(across.objectSnapshot?["title"] as? String == "Sibling's")
            #expect(across.cachedSnapshot?["title"] as? String == "Sibling's")
            #expect(across.persistedSnapshot?["title"] as? String == "Stranger's")
            #expect(across.oldVersionNumber == 2 && across.newVersionNumber == 3)
            #expect(mine.title == "Stranger's")

            try change(mine, in: sibling) { sibling.delete($0) }
            let gone = try conflict()
            #expect(gone.newVersionNumber == 0 && gone.cachedSnapshot == nil && gone.persistedSnapshot == nil)
        }
    }

    @Test(
        "Rows that somebody else deleted already may be deleted, alone, in a row and scattered",
        arguments: [1, 3, 12, 70])
    func deletionsOfWhatIsGone(count: Int) throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let books = (0..<count * 2).map { book("\($0)", context) }
            try context.save()
            let ids = books.enumerated().filter { $0.offset % 3 != 1 }.map(\.element.objectID)
            try second.story { other in
                for id in ids { other.delete(other.object(with: id)) }
                try other.save()
            }
            for (index, book) in books.enumerated() where count > 3 || index % 2 == 0 { context.delete(book) }
            try context.save()
            #expect(books[0].managedObjectContext == nil)
            let left = try context.all(Book.self, "Book").count
            #expect(left == (count > 3 ? 0 : books.indices.filter { $0 % 3 == 1 && $0 % 2 == 1 }.count))
        }
    }

    @Test("I2, I3: one changed row among many that are deleted is a conflict, and nothing is deleted")
    func deletionOfAChangedRow() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            let books = (0..<10).map { book("\($0)", context) }
            try context.save()
            try change(books[4], in: second.context) { $0.pages = 1 }
            try change(books[6], in: second.context) { second.context.delete($0) }
            for book in books { context.delete(book) }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [books[4]])
            #expect(try stack.newContext().performAndWaitCount("Book") == 9)
        }
    }

    // MARK: Reads that fail

    @Test("What comes of a property that could not be read is not saved, and the failure is told once")
    func failedReads() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let saved = book("Book", context)
            let copy = book("Copy", context)
            try context.save()
            context.stalenessInterval = 0
            context.refresh(saved, mergeChanges: false)
            let failure = stack.failing(statement: 1) { copy.title = saved.title ?? "none" }
            #expect(failure.didFail)
            #expect(copy.title == "none")
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(try stack.newContext().performAndWaitTitles() == ["Book", "Copy"])
            copy.title = saved.title
            try context.save()
            #expect(try stack.newContext().performAndWaitTitles() == ["Book", "Book"])
        }
    }

    @Test("A failed read is forgotten with the changes: rollback", arguments: [true, false])
    func failedReadsTakenBack(byReset: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let id = try { () -> NSManagedObjectID in
                let saved = book("Book", context)
                try context.save()
                return saved.objectID
            }()
            context.reset()
            stack.coordinator.attachedStores[0].cache.removeAll()
            let saved = try #require(context.object(with: id) as? Book)
            _ = stack.failing(statement: 1) { #expect(saved.title == nil) }
            if byReset { context.reset() } else { context.rollback() }
            _ = book("New", context)
            try context.save()
        }
    }

    @Test("B5: a refresh that fails leaves the object as it was", arguments: [true, false])
    func failedRefresh(mergesChanges: Bool) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let saved = book("Book", context)
            saved.pages = 12
            try context.save()
            if mergesChanges { saved.title = "Changed" }
            context.stalenessInterval = 0
            let failure = stack.failing(statement: 1) { context.refresh(saved, mergeChanges: mergesChanges) }
            #expect(failure.didFail == mergesChanges, "a fault is read when it fires")
            #expect(saved.pages == 12)
            #expect(saved.title == (mergesChanges ? "Changed" : "Book"))
            try context.save()
        }
    }

    // MARK: IDs and metadata

    @Test("A3: the ID of an object may be asked for on any queue, also while it is saved")
    func idsOnManyQueues() async throws {
        let stack = try LibraryStack()
        let context = stack.context
        for _ in 0..<20 {
            let books = await context.perform { Transfer((0..<50).map { _ in Book(context: context) }) }
            async let saving: Void = context.perform {
                for book in books.value { book.title = "t" }
                try context.save()
            }
            let seen = await withTaskGroup(of: [NSManagedObjectID].self) { group in
                for _ in 0..<3 { group.addTask { books.value.map(\.objectID) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await saving
            let permanent = await context.perform { books.value.map(\.objectID) }
            #expect(permanent.allSatisfy { !$0.isTemporaryID && $0.persistentStore != nil })
            for ids in seen {
                for (id, now) in zip(ids, permanent) where !id.isTemporaryID { #expect(id == now) }
            }
        }
    }

    @Test("An object whose save failed keeps its temporary ID, whoever asked meanwhile (A3)")
    func idsAfterAFailedSave() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let new = book("New", context)
            let id = new.objectID
            for number in 1...12 {
                guard stack.failing(statement: number, { try context.save() }).error != nil else { break }
                #expect(new.objectID == id && new.objectID.isTemporaryID)
            }
            #expect(context.object(with: id) === new)
        }
    }

    @Test("H10: metadata that are set while a save runs are written by the next one")
    func metadataDuringASave() throws {
        let stack = try LibraryStack()
        let store = try #require(stack.coordinator.persistentStores.first)
        try stack.story { context in
            stack.coordinator.setMetadata(["step": 1], for: store)
            let observer = CommitObserver { stack.coordinator.setMetadata(["step": 2], for: store) }
            let database = stack.database
            database.setObserver(observer)
            try context.save()
            database.setObserver(nil)
            #expect(
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)["step"]
                    as? Int == 1)
            try context.save()
            #expect(
                try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url)["step"]
                    as? Int == 2)
            #expect(try stack.statements { try context.save() }.isEmpty)
        }
    }
}

/// Calls back once, when a write is committed.
private final class CommitObserver: SQLObserver, @unchecked Sendable {
    private let body: () -> Void
    private let isDone = Atomic<Bool>(false)
    private let isWriting = Atomic<Bool>(false)

    init(_ body: @escaping () -> Void) { self.body = body }

    func willRun(_ sql: String, bindings: [SQLValue]) throws {
        if sql.hasPrefix("BEGIN IMMEDIATE") { isWriting.store(true, ordering: .relaxed) }
        guard sql == "COMMIT", isWriting.load(ordering: .relaxed) else { return }
        if !isDone.exchange(true, ordering: .relaxed) { body() }
    }
}

extension NSManagedObjectContext {
    fileprivate func performAndWaitPages(_ ids: [NSManagedObjectID]) -> [Int32?] {
        performAndWait { ids.map { (object(with: $0) as? Book)?.pages } }
    }

    func performAndWaitTitles() throws -> [String] {
        try performAndWait { try all(Book.self, "Book").compactMap(\.title).sorted() }
    }
}
