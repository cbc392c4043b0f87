import CoreData
import Foundation
import TestSupport
import Testing

// semantics I, L5: writers that do not share a coordinator
@Suite struct OtherWritersTests {
    // MARK: Two processes

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("SaveKiller")

    /// The model of `Tests/SaveKiller`.
    private func shopModel() -> NSManagedObjectModel {
        let batch = Library.entity("Batch", nil)
        let picture = Library.attribute("picture", .binaryDataAttributeType)
        picture.allowsExternalBinaryDataStorage = true
        batch.properties = [
            Library.attribute("number", .integer64AttributeType),
            Library.attribute("itemCount", .integer64AttributeType),
            picture,
        ]
        batch.uniquenessConstraints = [["number"]]
        let item = Library.entity("Item", nil)
        item.properties = [
            Library.attribute("batch", .integer64AttributeType), Library.attribute("text", .stringAttributeType),
        ]
        let counter = Library.entity("Counter", nil)
        counter.properties = [
            Library.attribute("value", .integer64AttributeType), Library.attribute("word", .stringAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [batch, item, counter]
        return model
    }

    @Test("I5: what this process and another change of one row at once is all there", arguments: [true, false])
    func twoProcesses(objectTrump: Bool) throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite")
        let creation = try Process.run(Self.executable, arguments: ["create", url.path])
        creation.waitUntilExit()
        try #require(creation.terminationStatus == 0)
        let stack = try LibraryStack(opening: url, model: shopModel())
        try stack.story { context in
            context.mergePolicy =
                objectTrump ? NSMergeByPropertyObjectTrumpMergePolicy : NSMergeByPropertyStoreTrumpMergePolicy
            let counter = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Counter")).first)
            let other = try Process.run(Self.executable, arguments: ["count", url.path, "150"])
            var round = 0
            var seen: Set<Int> = []
            while other.isRunning {
                round += 1
                counter.setValue("word \(round)", forKey: "word")
                try context.save()
                #expect(counter.value(forKey: "word") as? String == "word \(round)")
                seen.insert(counter.value(forKey: "value") as? Int ?? 0)
            }
            other.waitUntilExit()
            #expect(other.terminationStatus == 0)
            context.stalenessInterval = 0
            context.refresh(counter, mergeChanges: false)
            #expect(counter.value(forKey: "value") as? Int == 150)
            #expect(counter.value(forKey: "word") as? String == "word \(round)")
            #expect(seen.count > 1, "what the other process wrote came with the conflicts")
        }
    }

    // MARK: Two coordinators

    @Test("I1, I5: the story after a conflict with another coordinator: merge, save, refresh, save", arguments: 0...3)
    func twoCoordinators(number: Int) throws {
        let policy = [
            NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
        ][number]
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            context.mergePolicy = policy
            let book = Book(context: context)
            (book.title, book.pages) = ("Book", 1)
            let doomed = Book(context: context)
            doomed.title = "Doomed"
            try context.save()
            let isMine = policy == .mergeByPropertyObjectTrump || policy == .overwrite
            for round in 1...3 {
                let id = book.objectID
                try second.story { other in
                    let same = try #require(other.object(with: id) as? Book)
                    other.refresh(same, mergeChanges: false)
                    other.stalenessInterval = 0
                    (same.title, same.rating) = ("Theirs \(round)", Double(round))
                    try other.save()
                }
                (book.title, book.isLent) = ("Mine \(round)", round == 1)
                try context.save()
                #expect(book.title == (isMine ? "Mine \(round)" : "Theirs \(round)"))
                #expect(book.rating == (policy == .overwrite ? 0 : Double(round)))
                #expect(book.isLent == (round == 1 && policy != .rollback))
                book.pages += 1
                try context.save()
                try second.story { other in
                    let same = try #require(other.object(with: id) as? Book)
                    other.stalenessInterval = 0
                    other.refresh(same, mergeChanges: false)
                    #expect(same.title == book.title && same.pages == Int32(round + 1))
                }
            }
            let id = doomed.objectID
            try second.story { other in
                other.delete(other.object(with: id))
                try other.save()
            }
            doomed.title = "Mine"
            try context.save()
            #expect((doomed.managedObjectContext == nil) == !isMine)
            #expect(try context.all(Book.self, "Book").count == (isMine ? 2 : 1))
        }
    }

    @Test("I5: several rows, one of them in conflict, are one save")
    func oneOfMany() throws {
        let stack = try LibraryStack()
        let second = try LibraryStack(opening: stack.url)
        try stack.story { context in
            context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
            let books = (0..<100).map { index in
                let book = Book(context: context)
                book.title = "\(index)"
                return book
            }
            try context.save()
            let id = books[42].objectID
            try second.story { other in
                (other.object(with: id) as? Book)?.pages = 9
                try other.save()
            }
            for book in books { book.rating += 1 }
            let saves = NotificationSaves(context)
            try context.save()
            #expect((saves.last?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>)?.count == 100)
            #expect(books[42].pages == 9 && books.allSatisfy { $0.rating == 1 })
        }
    }

    // MARK: Stores that are gone

    @Test("H8: changes of a store that was removed are an error, and go nowhere else", arguments: [1, 2])
    func removedStores(left: Int) throws {
        let stack = try LibraryStack()
        let others = (0..<left).map { stack.folder.appendingPathComponent("Other\($0).sqlite") }
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Book"
            try context.save()
            let store = try #require(stack.coordinator.persistentStores.first)
            for url in others { try stack.coordinator.addPersistentStore(type: .sqlite, at: url) }
            try stack.coordinator.remove(store)
            book.title = "Mine"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSPersistentStoreSaveError)
            #expect(error?.userInfo[NSAffectedObjectsErrorKey] as? [NSManagedObject] == [book])
            #expect(book.hasChanges && book.title == "Mine")
            context.delete(book)
            #expect(throws: CocoaError.self) { try context.save() }
            context.rollback()
            Book(context: context).title = "New"
            try context.save()
            #expect(try context.all(Book.self, "Book").map(\.title) == ["New"])
        }
    }
}
