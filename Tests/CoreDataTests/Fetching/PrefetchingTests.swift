import CoreData
import Foundation
import Testing

/// One statement for each step of the prefetched key paths, whatever the context knows already.
@Suite struct PrefetchingTests {
    /// Three authors, two books of each, two chapters and one shared tag of each book.
    private func library() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "shared"
            for author in 1...3 {
                let writer = Author(context: context)
                writer.name = "Author \(author)"
                for number in 1...2 {
                    let book = Book(context: context)
                    book.title = "Book \(author).\(number)"
                    book.author = writer
                    book.tags = [tag]
                    for name in ["first", "second"] {
                        let chapter = Chapter(context: context)
                        chapter.title = name
                        chapter.book = book
                    }
                }
            }
            try context.save()
            context.reset()
        }
        return stack
    }

    private func authors(_ paths: [String], _ context: NSManagedObjectContext) throws -> [Author] {
        let request = NSFetchRequest<Author>(entityName: "Author")
        request.relationshipKeyPathsForPrefetching = paths
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    /// Whether a path is refused does not depend on the objects that there are.
    @Test(arguments: [true, false])
    func aPathThatLeadsNowhereIsRefused(isEmpty: Bool) throws {
        let stack = try isEmpty ? LibraryStack() : library()
        try stack.story { context in
            for (path, step) in [("nothing", "nothing"), ("name", "name"), ("books.nothing.pages", "nothing")] {
                let error = try #require(throws: CocoaError.self) { try authors([path], context) }
                #expect(
                    error.errorCode == 134060 && error.localizedDescription.contains("'\(step)' is no relationship"))
            }
        }
    }

    /// Reads all chapters of the authors' books, and expects that this takes no statement.
    private func expectTitles(_ count: Int, of authors: [Author], in stack: LibraryStack) {
        var titles: [String?] = []
        let statements = stack.statements {
            titles = authors.flatMap { author in author.books.flatMap { $0.chapters.map(\.title) } }
        }
        #expect(titles.count == count)
        #expect(!titles.contains(nil))
        #expect(statements.isEmpty)
    }

    @Test(arguments: [
        (["books"], 1), (["books", "books.chapters"], 2), (["books.chapters", "books"], 2), (["books.chapters"], 2),
        (["books.chapters", "books.chapters"], 2), (["books.chapters", "books.tags", "books"], 3),
        // The authors of the books are those that were fetched, and the books of the tags are known after one more step.
        (["books.author", "books.chapters"], 2), (["books.tags.books", "books.tags.books.chapters"], 4),
    ])
    func pathsCostAStatementForEachStep(_ paths: [String], steps: Int) throws {
        let stack = try library()
        try stack.story { context in
            var found: [Author] = []
            let statements = try stack.statements { found = try authors(paths, context) }
            #expect(statements.count == 1 + steps)
            let read = stack.statements { #expect(found.flatMap(\.books).count == 6) }
            #expect(read.isEmpty)
            if paths.contains(where: { $0.hasSuffix("chapters") }) { expectTitles(12, of: found, in: stack) }
        }
    }

    @Test func aStepThatIsKnownIsFollowed() throws {
        let stack = try library()
        try stack.story { context in
            let held = try authors(["books"], context)
            let statements = try stack.statements { _ = try authors(["books", "books.chapters"], context) }
            #expect(statements.count == 2)
            expectTitles(12, of: held, in: stack)
            let again = try stack.statements { _ = try authors(["books.chapters", "books"], context) }
            #expect(again.count == 1)
        }
    }

    @Test func ownersOfWhichTheStepIsKnownShareTheStatementWithTheOthers() throws {
        let stack = try library()
        try stack.story { context in
            let held = try authors([], context)
            // Known: the books of one author, and the chapters of one of these.
            let book = try #require(held[0].books.first)
            #expect(book.chapters.count == 2)
            let statements = try stack.statements { _ = try authors(["books.chapters"], context) }
            #expect(statements.count == 3)
            expectTitles(12, of: held, in: stack)
        }
    }

    @Test func knownMembersWithoutARowAreReadWithTheOthers() throws {
        let stack = try library()
        try stack.story { context in
            let held = try authors([], context)
            let book = try #require(held[0].books.first)
            context.refresh(book, mergeChanges: false)
            #expect(book.isFault)
            let statements = try stack.statements { _ = try authors(["books.chapters"], context) }
            #expect(statements.count == 3)
            expectTitles(12, of: held, in: stack)
        }
    }

    @Test func unsavedMembersAreFollowed() throws {
        let stack = try library()
        try stack.story { context in
            let held = try authors([], context)
            let book = Book(context: context)
            book.title = "new"
            book.author = held[0]
            let chapter = Chapter(context: context)
            chapter.title = "new"
            chapter.book = book
            let moved = try #require(held[1].books.first)
            moved.author = held[0]
            let statements = try stack.statements { _ = try authors(["books", "books.chapters"], context) }
            #expect(statements.count == 3)
            #expect(held.map(\.books.count) == [4, 1, 2])
            expectTitles(13, of: held, in: stack)
        }
    }

    @Test func toOnesOfAPathAreFollowed() throws {
        let stack = try library()
        try stack.story { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["author.books.chapters", "author", "author.books"]
            var books: [Book] = []
            let statements = try stack.statements { books = try context.fetch(request) }
            #expect(statements.count == 4)
            expectTitles(24, of: books.compactMap(\.author), in: stack)
        }
    }

    @Test func aChildFollowsWhatItKnows() throws {
        let stack = try library()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = stack.context
        try child.performAndWait {
            let held = try authors(["books"], child)
            let statements = try stack.statements { _ = try authors(["books", "books.chapters"], child) }
            #expect(statements.count == 2)
            expectTitles(12, of: held, in: stack)
        }
    }
}
