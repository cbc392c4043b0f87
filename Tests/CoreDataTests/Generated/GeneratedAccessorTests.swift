import CoreData
import Foundation
import Testing

// As a generator writes them for Author and Book, which do not stand in the order of their relationship.
final class _BookKeyPaths: ManagedKeyPaths {
    override class var names: [AnyKeyPath: String] { [\Book.title: "title", \Book.author: "author"] }
}

final class _AuthorKeyPaths: ManagedKeyPaths {
    override class var names: [AnyKeyPath: String] { [\Author.name: "name"] }
}

@Suite struct GeneratedAccessorTests {
    @Test func keyPathsOfListedPropertiesHaveTheirNames() {
        #expect(NSSortDescriptor(keyPath: \Book.author?.name, ascending: true).key == "author.name")
        #expect(NSSortDescriptor(keyPath: \Book.title, ascending: false).key == "title")
        #expect(NSExpression(forKeyPath: \Author.name).keyPath == "name")
    }

    private func numbered(_ count: Int, _ context: NSManagedObjectContext) -> [Book] {
        (0..<count).map { number in
            let book = Book(context: context)
            book.title = "\(number)"
            return book
        }
    }

    private func sequels(_ book: Book) -> String { book.sequels.compactMap(\.title).joined() }

    @Test func severalMembersAreAddedAndRemoved() throws {
        try LibraryStack().story { context in
            let author = Author(context: context)
            let books = numbered(4, context)
            author.add(NSSet(array: Array(books[0..<3])), to: Author.booksKey)
            #expect(author.books == Set(books[0..<3]) && books[1].author === author)
            author.remove(NSSet(array: [books[0], books[3]]), from: Author.booksKey)
            #expect(author.books == Set(books[1..<3]) && books[0].author == nil)
            let first = books[3]
            first.add(NSOrderedSet(array: [books[2], books[0], books[1]]), to: Book.sequelsKey)
            #expect(sequels(first) == "201")
            first.remove(NSOrderedSet(array: [books[0]]), from: Book.sequelsKey)
            #expect(sequels(first) == "21" && books[0].prequels.isEmpty && books[2].prequels == [first])
        }
    }

    @Test func positionsOfAnOrderedRelationshipChange() throws {
        try LibraryStack().story { context in
            let books = numbered(6, context)
            let first = books[5]
            let key = Book.sequelsKey
            first.insert(books[0], into: key, at: 0)
            first.insert([books[1], books[2]], into: key, at: NSIndexSet(indexSet: [0, 2]))
            #expect(sequels(first) == "102")
            first.replace(at: 1, with: books[3], in: key)
            #expect(sequels(first) == "132" && books[0].prequels.isEmpty && books[3].prequels == [first])
            first.replace(at: 1, with: books[2], in: key)
            #expect(sequels(first) == "132", "a member is in the relationship once")
            first.replace(at: NSIndexSet(indexSet: [0, 2]), with: [books[0], books[4]], in: key)
            #expect(sequels(first) == "034")
            first.remove(at: NSIndexSet(indexSet: [0, 2]), from: key)
            #expect(sequels(first) == "3")
            first.remove(at: 0, from: key)
            #expect(first.sequels.isEmpty && books[3].prequels.isEmpty)
        }
    }

    @Test func aValueOfAnotherTypeReadsAsNil() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book[object: PropertyKey<NSString>("title")] = "Brand"
            #expect(book.title == "Brand")
            #expect(book[object: PropertyKey<[Int]>("title")] == nil)
        }
    }
}
