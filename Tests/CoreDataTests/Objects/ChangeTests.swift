import CoreData
import Foundation
import Testing

// semantics C and D: key-value coding, primitives, what has changed
@Suite struct ChangeTests {
    private func book(_ context: NSManagedObjectContext) throws -> Book {
        let book = Book(context: context)
        book.title = "Old"
        book.pages = 100
        try context.save()
        return book
    }

    @Test("C1: key-value coding reads and writes every type")
    func keyValueCoding() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            let values: [(String, Any)] = [
                ("title", "Title"), ("pages", 12), ("price", NSDecimalNumber(string: "1.25")),
                ("published", Date(timeIntervalSinceReferenceDate: 1)), ("cover", Data([1])),
                ("identifier", UUID()), ("rating", 2.5), ("isLent", true), ("note", "transient"),
            ]
            for (key, value) in values {
                book.setValue(value, forKey: key)
                #expect((book.value(forKey: key) as? NSObject)?.isEqual(value) == true, "\(key)")
                #expect((book[key] as? NSObject)?.isEqual(value) == true, "\(key)")
                book.setValue(nil, forKey: key)
                #expect(book.value(forKey: key) == nil, "\(key)")
            }
            book.setValuesForKeys(["title": "Both", "pages": NSNull()])
            #expect(book.title == "Both")
            #expect(book.dictionaryWithValues(forKeys: ["title", "pages"]).count == 2)
            let author = Author(context: context)
            author.name = "Name"
            book.setValue(author, forKey: "author")
            #expect(book.value(forKeyPath: "author.name") as? String == "Name")
            book.setValue("Other", forKeyPath: "author.name")
            #expect(author.name == "Other")
            #expect((author.value(forKey: "books") as? Set<Book>) == [book])
            #expect((author.value(forKeyPath: "books.@count") as? Int) == 1)
        }
    }

    @Test("C2: a primitive value marks nothing and is written with other changes")
    func primitives() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            book.setPrimitiveValue("Quiet", forKey: "title")
            #expect(!context.hasChanges)
            #expect(book.primitiveValue(forKey: "title") as? String == "Quiet")
            book.pages = 1
            try context.save()
            context.reset()
            #expect(try context.all(Book.self, "Book").first?.title == "Quiet")
        }
    }

    @Test("C6, D2: setting the same value makes the context dirty but writes nothing")
    func sameValue() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            book.title = "Old"
            #expect(book.isUpdated)
            #expect(context.hasChanges)
            #expect(!book.hasPersistentChangedValues)
            #expect(book.changedValues().isEmpty)
            let statements = try stack.statements { try context.save() }
            #expect(statements.allSatisfy { !$0.hasPrefix("UPDATE ZBOOK") })
            #expect(!context.hasChanges)
        }
    }

    @Test("C10, C11: the to-many's own set changes the relationship")
    func mutableSets() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let author = Author(context: context)
            author.name = "A"
            let one = Book(context: context)
            let two = Book(context: context)
            let set = author.mutableSetValue(forKey: "books")
            set.add(one)
            set.add(two)
            #expect(one.author === author)
            #expect(set.count == 2)
            set.remove(one)
            #expect(one.author == nil)
            #expect(author.books == [two])
            author.setValue(nil, forKey: "books")
            #expect(two.author == nil)
            let chapters = two.mutableOrderedSetValue(forKey: "chapters")
            let chapter = Chapter(context: context)
            let first = Chapter(context: context)
            chapters.add(chapter)
            chapters.insert(first, at: 0)
            #expect(two.chapters == [first, chapter])
            chapters.exchangeObject(at: 0, withObjectAt: 1)
            #expect(two.chapters == [chapter, first])
            chapters.removeObject(at: 0)
            #expect(chapter.book == nil)
        }
    }

    @Test("C13: a transient value is a change, is not stored, and is gone after a fault")
    func transients() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            book.note = "for now"
            #expect(context.hasChanges)
            #expect(!book.hasPersistentChangedValues)
            let statements = try stack.statements { try context.save() }
            #expect(statements.allSatisfy { !$0.hasPrefix("UPDATE ZBOOK") })
            #expect(book.note == "for now")
            context.refresh(book, mergeChanges: false)
            #expect(book.note == nil)
        }
    }

    @Test("D1: inserted, updated and deleted objects are disjoint")
    func disjointSets() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let saved = try book(context)
            let new = Book(context: context)
            new.title = "New"
            #expect(context.insertedObjects == [new])
            #expect(context.updatedObjects.isEmpty)
            saved.pages = 3
            #expect(context.updatedObjects == [saved])
            context.delete(saved)
            #expect(context.updatedObjects.isEmpty)
            #expect(context.deletedObjects == [saved])
            context.delete(new)
            context.processPendingChanges()
            #expect(context.insertedObjects.isEmpty)
            #expect(context.deletedObjects == [saved])
            #expect(new.managedObjectContext == nil)
        }
    }

    @Test("D3, D4, D5: changed, committed and this event's values")
    func changedValues() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            book.title = "New"
            #expect(book.changedValues() as? [String: String] == ["title": "New"])
            #expect(book.committedValues(forKeys: ["title"])["title"] as? String == "Old")
            #expect(book.changedValuesForCurrentEvent()["title"] as? String == "Old")
            context.processPendingChanges()
            #expect(book.changedValuesForCurrentEvent().isEmpty)
            book.title = "Newer"
            #expect(book.changedValuesForCurrentEvent()["title"] as? String == "New")
            try context.save()
            #expect(book.changedValues().isEmpty)
            #expect(book.committedValues(forKeys: nil)["title"] as? String == "Newer")
            #expect(book.committedValues(forKeys: nil)["isbn"] is NSNull)
        }
    }

    @Test("D6, D7: ObjectsDidChange tells what an event changed, once")
    func notifications() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
            book.title = "New"
            book.pages = 4
            let new = Book(context: context)
            new.title = "x"
            context.processPendingChanges()
            context.processPendingChanges()
            #expect(log.userInfos.count == 1)
            #expect(log.userInfos[0][NSUpdatedObjectsKey] as? Set<NSManagedObject> == [book])
            #expect(log.userInfos[0][NSInsertedObjectsKey] as? Set<NSManagedObject> == [new])
            #expect(log.userInfos[0][NSDeletedObjectsKey] == nil)
            context.delete(book)
            context.processPendingChanges()
            #expect(log.userInfos[1][NSDeletedObjectsKey] as? Set<NSManagedObject> == [book])
            _ = try context.all(Book.self, "Book")
            #expect(log.userInfos.count == 2)
        }
    }

    @Test("J4: rollback takes everything back")
    func rollback() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = try book(context)
            let author = Author(context: context)
            author.name = "Writer"
            try context.save()
            book.title = "New"
            book.author = author
            let new = Book(context: context)
            context.delete(author)
            context.rollback()
            #expect(!context.hasChanges)
            #expect(book.title == "Old")
            #expect(book.author == nil)
            #expect(author.books.isEmpty)
            #expect(!author.isDeleted)
            #expect(new.managedObjectContext == nil)
            try context.save()
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1)
        }
    }
}

/// The user infos of the notifications that were posted while it lived.
final class NotificationLog {
    private final class Entries: @unchecked Sendable { var userInfos: [[AnyHashable: Any]] = [] }

    private let entries = Entries()
    private let token: any NSObjectProtocol

    init(_ name: Notification.Name, _ object: AnyObject?) {
        let entries = entries
        token = NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
            entries.userInfos.append($0.userInfo ?? [:])
        }
    }

    deinit { NotificationCenter.default.removeObserver(token) }

    var userInfos: [[AnyHashable: Any]] { entries.userInfos }
}
