import CoreData
import Foundation
import Testing

/// Relationships changed by way of their primitive values, as in hand-written accessors.
@Suite struct ManualChangeTests {
    private func saved(_ body: (NSManagedObjectContext, Author, [Book]) throws -> Set<String>) throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            let books = ["a", "b", "c"].map { title in
                let book = Book(context: context)
                book.title = title
                return book
            }
            let expected = try body(context, author, books)
            let present = Set(books.filter { $0.author === author }.compactMap(\.title))
            #expect(present == expected)
            #expect(Set(author.books.compactMap(\.title)) == expected)
            try context.save()
            context.refreshAllObjects()
            #expect(Set(author.books.compactMap(\.title)) == expected)
            #expect(Set(books.filter { $0.author === author }.compactMap(\.title)) == expected)
        }
    }

    private func members(_ author: Author) -> NSMutableSet? { author.primitiveValue(forKey: "books") as? NSMutableSet }

    private func change(
        _ author: Author, _ kind: NSKeyValueSetMutationKind, _ books: [Book], _ body: (NSMutableSet?) -> Void
    ) {
        author.willChangeValue(forKey: "books", withSetMutation: kind, using: Set(books))
        body(members(author))
        author.didChangeValue(forKey: "books", withSetMutation: kind, using: Set(books))
    }

    @Test("C2, E: a union that is announced sets the inverse and is saved")
    func union() throws {
        try saved { _, author, books in
            change(author, .union, [books[0], books[1]]) { $0?.addObjects(from: [books[0], books[1]]) }
            return ["a", "b"]
        }
    }

    @Test("what a union takes from another object is taken there, too")
    func unionTakes() throws {
        try saved { context, author, books in
            let other = Author(context: context)
            other.name = "Bob"
            other.books = Set(books)
            change(author, .union, [books[0]]) { $0?.add(books[0]) }
            #expect(other.books == [books[1], books[2]])
            return ["a"]
        }
    }

    @Test(arguments: [false, true])
    func minus(isSaved: Bool) throws {
        try saved { context, author, books in
            author.books = Set(books)
            if isSaved {
                try context.save()
                context.refreshAllObjects()
            }
            change(author, .minus, [books[2]]) { $0?.remove(books[2]) }
            return ["a", "b"]
        }
    }

    @Test(arguments: [false, true])
    func intersect(isSaved: Bool) throws {
        try saved { context, author, books in
            author.books = Set(books)
            if isSaved {
                try context.save()
                context.refreshAllObjects()
            }
            change(author, .intersect, [books[1]]) { $0?.intersect([books[1]]) }
            return ["b"]
        }
    }

    @Test(arguments: [false, true])
    func set(isSaved: Bool) throws {
        try saved { context, author, books in
            author.books = [books[0], books[1]]
            if isSaved {
                try context.save()
                context.refreshAllObjects()
            }
            change(author, .set, [books[1], books[2]]) { $0?.setSet([books[1], books[2]]) }
            return ["b", "c"]
        }
    }

    @Test("a to-many set by its primitive value", arguments: [false, true])
    func primitiveSet(isSaved: Bool) throws {
        try saved { context, author, books in
            author.books = [books[0], books[1]]
            if isSaved {
                try context.save()
                context.refreshAllObjects()
            }
            author.willChangeValue(forKey: "books")
            author.setPrimitiveValue(NSSet(array: [books[1], books[2]]), forKey: "books")
            author.didChangeValue(forKey: "books")
            return ["b", "c"]
        }
    }

    @Test("a to-one set by its primitive value", arguments: [false, true])
    func toOne(isSaved: Bool) throws {
        try saved { context, author, books in
            let other = Author(context: context)
            other.name = "Bob"
            other.books = Set(books)
            if isSaved {
                try context.save()
                context.refreshAllObjects()
            }
            books[0].willChangeValue(forKey: "author")
            books[0].setPrimitiveValue(author, forKey: "author")
            books[0].didChangeValue(forKey: "author")
            #expect(other.books == [books[1], books[2]])
            books[1].willChangeValue(forKey: "author")
            books[1].setPrimitiveValue(nil, forKey: "author")
            books[1].didChangeValue(forKey: "author")
            #expect(other.books == [books[2]])
            return ["a"]
        }
    }

    @Test("positions of an ordered relationship: insertion, replacement, removal, setting")
    func ordered() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Any"
            let chapters = (0..<4).map { number in
                let chapter = Chapter(context: context)
                chapter.setValue("\(number)", forKey: "title")
                return chapter
            }
            func change(_ kind: NSKeyValueChange, _ positions: IndexSet, _ body: (NSMutableOrderedSet?) -> Void) {
                book.willChange(kind, valuesAt: positions, forKey: "chapters")
                body(book.primitiveValue(forKey: "chapters") as? NSMutableOrderedSet)
                book.didChange(kind, valuesAt: positions, forKey: "chapters")
            }
            func expect(_ numbers: [Int]) {
                #expect(book.chapters == numbers.map { chapters[$0] })
                for (number, chapter) in chapters.enumerated() {
                    #expect((chapter.value(forKey: "book") as? Book === book) == numbers.contains(number))
                }
            }
            change(.insertion, [0, 1]) { $0?.insert([chapters[0], chapters[1]], at: [0, 1]) }
            expect([0, 1])
            change(.replacement, [1]) { $0?.replaceObject(at: 1, with: chapters[2]) }
            expect([0, 2])
            change(.removal, [0]) { $0?.removeObject(at: 0) }
            expect([2])
            change(.setting, []) { _ in
                book.setPrimitiveValue(NSOrderedSet(array: [chapters[3], chapters[0]]), forKey: "chapters")
            }
            expect([3, 0])
            for number in [1, 2] { context.delete(chapters[number]) }
            try context.save()
            context.refreshAllObjects()
            #expect(book.chapters == [chapters[3], chapters[0]])
        }
    }

    @Test("announcing a change reads no relationship that was not read")
    func announcingReadsNothing() throws {
        try saved { context, author, books in
            author.books = [books[0]]
            try context.save()
            context.refreshAllObjects()
            author.willChangeValue(forKey: "books")
            author.didChangeValue(forKey: "books")
            #expect(author.hasFault(forRelationshipNamed: "books"))
            return ["a"]
        }
    }
}
