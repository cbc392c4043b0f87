import CoreData
import Foundation
import Testing

// semantics Q5: what goes from one queue to another
@Suite struct PersistentIDTests {
    private let stack: LibraryStack
    private let id: PersistentID<Book>

    init() throws {
        let stack = try LibraryStack()
        self.stack = stack
        id = try stack.story { context throws in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            return book.persistentID
        }
    }

    @Test func anObjectIsFoundInAnotherContextWithItsClass() async throws {
        let other = stack.newContext()
        let id = id
        let title = try await other.perform {
            #expect(other.registeredObject(for: id) == nil)
            let fault = try other.object(with: id)
            #expect(fault.isFault && other.registeredObject(for: id) === fault)
            let book: Book = try other.existingObject(with: id)
            #expect(!book.isFault && book === fault)
            return book.title
        }
        #expect(title == "One")
        #expect(id.entityName == "Book" && !id.isTemporary)
    }

    @Test func encodedItIsTheURI() throws {
        let text = String(decoding: try JSONEncoder().encode([id]), as: UTF8.self)
        #expect(text.replacingOccurrences(of: "\\/", with: "/") == "[\"\(id.uriRepresentation)\"]")
        let decoded = try JSONDecoder().decode([PersistentID<Book>].self, from: Data(text.utf8))
        #expect(decoded == [id] && Set(decoded + [id]).count == 1)
        #expect(PersistentID<Book>(uri: id.uriRepresentation) == id)
        try stack.story { context throws in #expect(try context.existingObject(with: decoded[0]).title == "One") }
        // Another coordinator on the same file.
        let reopened = try LibraryStack(opening: stack.url)
        try reopened.story { context throws in
            #expect(try context.existingObject(with: decoded[0]).title == "One")
            #expect(try context.existingObject(with: id).title == "One")
        }
    }

    @Test(arguments: ["\"http://host/Book/p1\"", "\"x-coredata:///Book/t1\"", "\"\"", "7"])
    func whatIsNoURIOfAnObjectIsNotDecoded(text: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PersistentID<Book>.self, from: Data(text.utf8))
        }
    }

    @Test func anIDOfAnotherClassIsNone() throws {
        let objectID = try id.objectID(in: stack.context)
        #expect(PersistentID<Book>(objectID) == id)
        #expect(PersistentID<NSManagedObject>(objectID) != nil)
        #expect(PersistentID<Tag>(objectID) == nil)
        let wrong = try #require(PersistentID<Tag>(uri: id.uriRepresentation))
        stack.story { context in
            let error = #expect(throws: CocoaError.self) { try context.object(with: wrong) }
            #expect(error?.code == .managedObjectReferentialIntegrity)
            #expect(error?.localizedDescription.contains("is a Book, and was asked for as a Tag") == true)
        }
    }

    @Test func anIDOfAStoreThatIsNotThereIsAnError() throws {
        let elsewhere = try LibraryStack()
        let id = id
        elsewhere.story { context in
            let error = #expect(throws: CocoaError.self) { try context.object(with: id) }
            #expect(error?.localizedDescription.contains("its store is not attached") == true)
            #expect(context.registeredObject(for: id) == nil)
        }
    }

    @Test func anObjectThatIsGoneIsAnError() throws {
        let id = id
        let other = stack.newContext()
        try other.performAndWait { () throws in
            other.delete(try other.object(with: id))
            try other.save()
        }
        let context = stack.newContext()
        context.performAndWait {
            #expect(throws: Never.self) { try context.object(with: id) }
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
            #expect(error?.code == .managedObjectReferentialIntegrity)
        }
    }

    @Test func aTemporaryIDHoldsWhereTheObjectIsKnown() throws {
        let (tag, id) = stack.story { context in
            let tag = Tag(context: context)
            return (tag, tag.persistentID)
        }
        #expect(id.isTemporary)
        #expect(throws: EncodingError.self) { try JSONEncoder().encode([id]) }
        try stack.story { context throws in
            #expect(try context.object(with: id) === tag)
            let other = stack.newContext()
            other.performAndWait {
                let error = #expect(throws: CocoaError.self) { try other.object(with: id) }
                #expect(error?.localizedDescription.contains("has not been saved") == false)
                #expect(error?.localizedDescription.contains("was not saved when its ID was taken") == true)
            }
            tag.name = "a"
            try context.save()
            #expect(try context.existingObject(with: id) === tag)
            #expect(!tag.persistentID.isTemporary && tag.persistentID != id)
        }
    }
}
