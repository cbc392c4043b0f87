import CoreData
import Foundation
import Testing

// semantics M17: the value of a fetched property is kept until its object is read again
@Suite struct FetchedPropertyTests {
    /// Authors have the fetched property "long": their books of more than 100 pages.
    private func library() throws -> LibraryStack {
        let model = Library.model()
        let (author, book) = (model.entitiesByName["Author"], model.entitiesByName["Book"])
        let long = NSFetchedPropertyDescription()
        long.name = "long"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = book
        request.predicate = NSPredicate(format: "author == $FETCH_SOURCE AND pages > 100")
        long.fetchRequest = request
        author?.properties.append(long)
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let jane = Author(context: context)
            jane.name = "Jane"
            try addBook(to: jane)
            context.reset()
        }
        return stack
    }

    private func addBook(to author: Author) throws {
        let context = try #require(author.managedObjectContext)
        let book = Book(context: context)
        book.title = "Emma"
        book.pages = 474
        book.author = author
        try context.save()
    }

    private func jane(_ context: NSManagedObjectContext) throws -> Author {
        try #require(try context.all(Author.self, "Author").first)
    }

    private func count(_ author: Author) -> Int? { (author.value(forKey: "long") as? [Book])?.count }

    @Test("M17: it is fetched once")
    func once() throws {
        let stack = try library()
        try stack.story { context in
            let author = try jane(context)
            var counts: [Int?] = []
            let first = stack.statements { counts.append(count(author)) }
            let second = stack.statements { counts.append(count(author)) }
            #expect(counts == [1, 1] && first.count == 1 && second.isEmpty)
            try addBook(to: author)
            #expect(count(author) == 1, "until the object is refreshed")
        }
    }

    @Test(
        "M17: refreshing, resetting and rolling back end it",
        arguments: ["refresh", "refresh, merging", "refresh all", "rollback", "reset", "merge"])
    func ends(_ way: String) throws {
        let stack = try library()
        try stack.story { context in
            var author = try jane(context)
            #expect(count(author) == 1)
            try addBook(to: author)
            switch way {
            case "refresh": context.refresh(author, mergeChanges: false)
            case "refresh, merging":
                author.name = "J."
                context.refresh(author, mergeChanges: true)
                #expect(author.name == "J.")
            case "refresh all": context.refreshAllObjects()
            case "rollback":
                author.name = "J."
                context.rollback()
            case "merge":
                let other = stack.newContext()
                try other.performAndWait {
                    try jane(other).name = "J."
                    try other.save()
                }
                context.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, object: other,
                        userInfo: [NSUpdatedObjectIDsKey: Set([author.objectID])]))
                #expect(author.name == "J.")
            default:
                context.reset()
                #expect(author.value(forKey: "long") == nil)
                author = try jane(context)
            }
            #expect(count(author) == 2)
        }
    }

    @Test("Objects that keep each other by it go with their context")
    func goes() throws {
        let stack = try library()
        weak var weakAuthor: Author?
        do {
            let context = stack.newContext()
            try context.performAndWait {
                let author = try jane(context)
                #expect(count(author) == 1)
                // The book keeps the author that keeps the book.
                #expect((author.value(forKey: "long") as? [Book])?.first?.author === author)
                weakAuthor = author
            }
        }
        #expect(weakAuthor == nil)
    }
}
