import CoreData
import Foundation
import Testing

// semantics Q5: what goes from one queue to another
@Suite struct ObjectSnapshotTests {
    private let stack: LibraryStack

    init() throws { stack = try LibraryStack() }

    @Test func valuesAreReadByKeyPathOnAnyQueue() async throws {
        let context = stack.context
        let published = Date(timeIntervalSinceReferenceDate: 7)
        let (snapshot, author, chapters) = try await context.perform {
            let book = Book(context: context)
            book.title = "One"
            book.pages = 12
            book.price = 9.5
            book.published = published
            book.cover = Data([1, 2])
            book.website = URL(string: "https://example.com/one")
            book.isLent = true
            book.note = "transient"
            book.author = Author(context: context)
            book.author?.name = "A"
            book.chapters = (1...3).map { number in
                let chapter = Chapter(context: context)
                chapter.title = "\(number)"
                return chapter
            }
            try context.save()
            book.title = "Two"
            return (
                try book.snapshot(including: \.chapters), book.author?.persistentID, book.chapters.map(\.persistentID)
            )
        }
        #expect(snapshot.title == "Two")
        #expect(snapshot.pages == 12)
        #expect(snapshot.price == 9.5)
        #expect(snapshot.published == published)
        #expect(snapshot.cover == Data([1, 2]))
        #expect(snapshot.website == URL(string: "https://example.com/one"))
        #expect(snapshot.isLent && snapshot.rating == 0)
        #expect(snapshot.isbn == nil && snapshot.note == "transient")
        #expect(snapshot.author == author && author != nil)
        #expect(snapshot.chapters == chapters && chapters.count == 3)
        #expect(snapshot["title"] as? String == "Two")
        #expect("\(snapshot)".hasPrefix("Book x-coredata://") && "\(snapshot)".contains("title = Two"))
        #expect(snapshot["pages"] as? Int == 12)
        #expect((snapshot["author"] as? NSManagedObjectID).flatMap { PersistentID<Author>($0) } == author)
        #expect(snapshot["nothing"] == nil && snapshot["tags"] == nil)
        #expect(snapshot.objectIDs(forRelationshipNamed: "chapters").count == 3)
        let other = stack.newContext()
        let title = try await other.perform { try other.existingObject(with: snapshot.persistentID).title }
        #expect(title == "One")
    }

    @Test func toManysThatAreDeclaredOptionalAreReadToo() throws {
        let model = Library.model()
        model.entitiesByName["Author"]?.managedObjectClassName = "CoreDataTests.OptionalAuthor"
        model.entitiesByName["Book"]?.managedObjectClassName = "CoreDataTests.OptionalBook"
        try LibraryStack(model: model).story { context throws in
            let author = OptionalAuthor(context: context)
            let books = (1...2).map { _ in OptionalBook(context: context) }
            author.books = Set(books)
            books[0].sequels = NSOrderedSet(array: [books[1]])
            books[0].tags = NSSet(object: Tag(context: context))
            try context.obtainPermanentIDs(for: books)
            let snapshot = try author.snapshot(including: \.books)
            let ids: [PersistentID<OptionalBook>] = snapshot.books
            #expect(Set(ids) == Set(books.map(\.persistentID)))
            let book = try books[0].snapshot(including: \.sequels, \.tags)
            #expect(try book.sequels.map { try $0.objectID(in: context) } == [books[1].objectID])
            #expect(book.tags.count == 1)
        }
    }

    @Test func snapshotsAreEqualWhenTheirValuesAre() throws {
        try stack.story { context throws in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            let first = try book.snapshot()
            #expect(try book.snapshot() == first && Set([first, try book.snapshot()]).count == 1)
            #expect(try book.snapshot(including: \.tags) != first)
            book.pages = 2
            #expect(try book.snapshot() != first)
            context.refresh(book, mergeChanges: false)
            #expect(try book.snapshot() == first)
        }
    }

    @Test func whatCannotBeInOneIsAnError() throws {
        let context = stack.context
        try context.performAndWait { () throws in
            let book = Book(context: context)
            book.title = "One"
            #expect(throws: CocoaError.self) { try ObjectSnapshot(book, including: ["nothing"]) }
            #expect(throws: CocoaError.self) { try ObjectSnapshot(book, including: ["title"]) }
            try context.save()
            let other = stack.newContext()
            try other.performAndWait { () throws in
                let fault = try other.object(with: book.persistentID)
                book.managedObjectContext?.delete(book)
                try context.save()
                #expect(throws: CocoaError.self) { try fault.snapshot() }
            }
        }
    }

    @Test func aToManyRelationshipThatWasNotAskedForStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let stack = try LibraryStack()
            let snapshot = try stack.story { try Book(context: $0).snapshot() }
            _ = snapshot.tags
            exit(EXIT_SUCCESS)
        }
    }

    @Test func aTransformableValueIsMadeAnewForEachReader() throws {
        let stack = try PlaceStack()
        let snapshot = try stack.context.performAndWait { () throws -> ObjectSnapshot<NSManagedObject> in
            let place = stack.place()
            place.setValue(NSMutableArray(array: ["a", "b"]), forKey: "names")
            try stack.context.save()
            let saved = try place.snapshot()
            stack.context.refresh(place, mergeChanges: false)
            let fault = try place.snapshot()
            #expect(saved == fault)
            place.setValue(NSMutableArray(array: ["a", "b"]), forKey: "names")
            #expect(try place.snapshot()["names"] as? [String] == ["a", "b"])
            return fault
        }
        let first = try #require(snapshot["names"] as AnyObject?)
        let second = try #require(snapshot["names"] as AnyObject?)
        #expect(first !== second && first as? [String] == ["a", "b"] && second as? [String] == ["a", "b"])
    }

    @Test func anObjectThatIsNoDataIsAnErrorThatNamesIt() throws {
        let stack = try PlaceStack()
        stack.context.performAndWait {
            let place = stack.place()
            place.setValue(NSLock(), forKey: "names")
            #expect(throws: CocoaError.self) { try place.snapshot() }
            place.setValue(nil, forKey: "names")
            place.setValue(NSLock(), forKey: "temporary")
            let error = #expect(throws: CocoaError.self) { try place.snapshot() }
            #expect(error?.localizedDescription.contains("'temporary'") == true)
            place.setValue(nil, forKey: "temporary")
            #expect(throws: Never.self) { try place.snapshot() }
        }
    }
}

/// Places, whose names are a transformable value, and which have something that is not kept.
private final class PlaceStack {
    let entity = NSEntityDescription()
    let context = NSManagedObjectContext(.privateQueue)

    init() throws {
        let names = NSAttributeDescription()
        (names.name, names.attributeType) = ("names", .transformableAttributeType)
        let temporary = NSAttributeDescription()
        (temporary.name, temporary.attributeType, temporary.isTransient) = ("temporary", .undefinedAttributeType, true)
        entity.name = "Place"
        entity.properties = [names, temporary]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        context.persistentStoreCoordinator = coordinator
    }

    func place() -> NSManagedObject { NSManagedObject(entity: entity, insertInto: context) }
}

/// As Xcode generates them: to-manys are optional, and do not all say what is in them.
final class OptionalAuthor: NSManagedObject {
    var books: Set<OptionalBook>? {
        get { value(forKey: "books") as? Set<OptionalBook> }
        set { setValue(newValue, forKey: "books") }
    }
}

final class OptionalBook: NSManagedObject {
    var sequels: NSOrderedSet? {
        get { value(forKey: "sequels") as? NSOrderedSet }
        set { setValue(newValue, forKey: "sequels") }
    }
    var tags: NSSet? {
        get { value(forKey: "tags") as? NSSet }
        set { setValue(newValue, forKey: "tags") }
    }
}
