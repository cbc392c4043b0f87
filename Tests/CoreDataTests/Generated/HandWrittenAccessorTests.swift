import Foundation
import Testing

@testable import CoreData

/// Accessors as Apple's documentation writes them, without a plugin that reads them: their key paths have the names of their keys.
@Suite struct HandWrittenAccessorTests {
    private func name(_ keyPath: AnyKeyPath) -> String? { KeyPathNames.name(for: keyPath) }

    @Test func keyPathsHaveTheNamesThatTheAccessorsAskFor() {
        #expect(name(\WrittenBook.title) == "title")
        #expect(name(\WrittenBook.pages) == "pages")
        #expect(name(\WrittenBook.pageNumber) == "pages")
        #expect(name(\WrittenBook.isLent) == "isLent")
        #expect(name(\WrittenBook.published) == "published")
        #expect(name(\WrittenBook.author) == "author")
        #expect(name(\WrittenBook.tags) == "tags")
        #expect(name(\WrittenBook.untypedTags) == "tags")
        #expect(name(\WrittenBook.sequels) == "sequels")
    }

    @Test func whatIsOnlyWorkedOutHasNoName() {
        #expect(name(\WrittenBook.shout) == nil)
        #expect(name(\WrittenBook.some) == nil)
        #expect(name(\WrittenBook.first) == nil)
        #expect(name(\WrittenBook.sorted) == nil)
        #expect(name(\WrittenBook.kind) == nil)
        #expect(name(\WrittenBook.author?.name) == nil || name(\WrittenBook.author?.name) == "author.name")
    }

    @Test func theySortAndSnapshotObjects() throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.managedObjectClassName = "CoreDataTests.WrittenBook"
        try LibraryStack(model: model).story { context throws in
            for title in ["b", "a"] {
                let book = WrittenBook(context: context)
                book.title = title
                book.tags = [Tag(context: context)]
            }
            let request = NSFetchRequest<WrittenBook>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \WrittenBook.title, ascending: true)]
            let books = try context.fetch(request)
            #expect(books.map(\.title) == ["a", "b"])
            #expect(try books[0].snapshot(including: \.tags).tags.count == 1)
        }
    }
}

final class WrittenBook: NSManagedObject {
    enum Kind: Int { case none }

    var title: String? {
        get {
            willAccessValue(forKey: "title")
            defer { didAccessValue(forKey: "title") }
            return primitiveValue(forKey: "title") as? String
        }
        set {
            willChangeValue(forKey: "title")
            setPrimitiveValue(newValue, forKey: "title")
            didChangeValue(forKey: "title")
        }
    }
    var pages: Int32 { (value(forKey: "pages") as? NSNumber)?.int32Value ?? 0 }
    var pageNumber: Int { value(forKey: "pages") as? Int ?? 0 }
    var isLent: Bool { value(forKey: "isLent") as? Bool ?? false }
    var published: Date? { value(forKey: "published") as? Date }
    var author: Author? { value(forKey: "author") as? Author }
    var tags: Set<Tag>? {
        get { value(forKey: "tags") as? Set<Tag> }
        set { setValue(newValue, forKey: "tags") }
    }
    var untypedTags: NSSet? { value(forKey: "tags") as? NSSet }
    var sequels: NSOrderedSet? { value(forKey: "sequels") as? NSOrderedSet }

    var shout: String { (value(forKey: "title") as? String ?? "").uppercased() + "!" }
    var some: Set<Tag> { (value(forKey: "tags") as? Set<Tag> ?? []).filter { $0.name != nil } }
    var first: Tag? { (value(forKey: "tags") as? Set<Tag>)?.first }
    var sorted: [Tag] { Array(value(forKey: "tags") as? Set<Tag> ?? []) }
    var kind: Kind { (value(forKey: "pages") as? Int).flatMap(Kind.init) ?? .none }
}
