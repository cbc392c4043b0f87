import CoreData
import Foundation
import Testing

// semantics A: creation, identity, uniquing
@Suite struct IdentityTests {
    @Test("A1: one instance per context and ID, by every way")
    func oneInstancePerID() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            let author = Author(context: context)
            author.name = "A"
            book.author = author
            try context.save()
            #expect(try context.all(Book.self, "Book").first === book)
            #expect(context.object(with: book.objectID) === book)
            #expect(context.registeredObject(for: book.objectID) === book)
            #expect(try context.existingObject(with: book.objectID) === book)
            #expect(author.books.first === book)
        }
    }

    @Test("A2: object(with:) reads nothing; existingObject(with:) throws 133000 when the row is gone")
    func lookupsOfMissingRows() throws {
        let stack = try LibraryStack()
        let id = try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            return book.objectID
        }
        let other = stack.newContext()
        other.performAndWait {
            let statements = stack.statements { #expect(other.object(with: id).isFault) }
            #expect(statements.isEmpty)
            #expect(other.registeredObject(for: id) == nil)
        }
        try stack.story { context in
            context.delete(context.object(with: id))
            try context.save()
        }
        other.performAndWait {
            let error = #expect(throws: CocoaError.self) { try other.existingObject(with: id) }
            #expect(error?.code.rawValue == NSManagedObjectReferentialIntegrityError)
        }
    }

    @Test("A3: obtaining a permanent ID keeps the object inserted; the temporary ID still leads to it")
    func permanentIDs() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            let temporary = book.objectID
            #expect(temporary.isTemporaryID)
            try context.obtainPermanentIDs(for: [book])
            #expect(!book.objectID.isTemporaryID)
            #expect(book.isInserted)
            #expect(context.object(with: temporary) === book)
            let permanent = book.objectID
            try context.save()
            #expect(book.objectID == permanent)
            #expect(!book.isInserted)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1)
        }
    }

    @Test("A4: an object outside a context is not inserted and can be inserted later")
    func objectsOutsideContexts() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let entity = try #require(NSEntityDescription.entity(forEntityName: "Book", in: context))
            let book = Book(entity: entity, insertInto: nil)
            #expect(!book.isInserted)
            #expect(book.managedObjectContext == nil)
            book.title = "Loose"
            #expect(book.events.isEmpty)
            context.insert(book)
            #expect(book.isInserted)
            #expect(book.events == ["awakeFromInsert"])
            try context.save()
            #expect(try context.all(Book.self, "Book").map(\.title) == ["Loose"])
        }
    }

    @Test("A8: equality is identity and fires no fault")
    func equalityFiresNothing() throws {
        let stack = try LibraryStack()
        let id = try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            return book.objectID
        }
        let other = stack.newContext()
        other.performAndWait {
            let fault = other.object(with: id)
            _ = fault.hash
            #expect(fault == fault)
            #expect(Set([fault]).contains(fault))
            #expect(fault.entity.name == "Book")
            #expect(fault.isFault)
        }
    }

    @Test("A11: a URI leads back to the ID while its store is attached")
    func objectURIs() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            #expect(book.objectID.uriRepresentation().absoluteString.hasPrefix("x-coredata:///Book/t"))
            let temporary = book.objectID.uriRepresentation()
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: temporary) == book.objectID)
            try context.save()
            let uri = book.objectID.uriRepresentation()
            let identifier = try #require(stack.coordinator.persistentStores[0].identifier)
            #expect(uri.absoluteString == "x-coredata://\(identifier)/Book/p1")
            #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) == book.objectID)
            #expect(stack.coordinator.managedObjectID(for: uri.absoluteString) == book.objectID)
            for broken in [
                "x-coredata://\(UUID().uuidString)/Book/p1", "x-coredata://\(identifier)/Nothing/p1",
                "x-coredata://\(identifier)/Book/x1", "x-coredata://\(identifier)/Book/p0",
                "https://\(identifier)/Book/p1", "x-coredata://\(identifier)/Book",
            ] {
                #expect(stack.coordinator.managedObjectID(for: broken) == nil, "\(broken)")
            }
        }
    }

    @Test("S9: keys are not used again after a deletion")
    func keysAreNotReused() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            let first = book.objectID
            context.delete(book)
            try context.save()
            let second = Book(context: context)
            second.title = "Two"
            try context.save()
            #expect(second.objectID != first)
            #expect(second.objectID.uriRepresentation().lastPathComponent == "p2")
        }
    }
}
