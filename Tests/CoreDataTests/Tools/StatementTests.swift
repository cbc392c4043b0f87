import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a request runs, and guards that count it.
@Suite struct StatementTests {
    private func fill(_ context: NSManagedObjectContext, books: Int = 12) throws {
        for index in 0..<books {
            let author = Author(context: context)
            author.name = "Author \(index)"
            let book = Book(context: context)
            book.title = "Book \(index)"
            book.pages = Int32(index)
            book.author = author
        }
        try context.save()
    }

    @Test("A request shows its statement without running it, by what it returns")
    func statements() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let request = try Book.fetchRequest(
                where: #Predicate { $0.pages > 3 }, sortBy: [SortDescriptor(\.title)], limit: 5)
            var shown: [FetchStatement] = []
            #expect(try stack.statements { shown = try request.sql(in: context) } == [])
            #expect(shown.count == 1 && shown[0].store == stack.url)
            #expect(shown[0].sql.hasSuffix("FROM ZBOOK t0 WHERE t0.ZPAGES > ? ORDER BY t0.ZTITLE LIMIT ?"))
            #expect(shown[0].bindings == [.integer(3), .integer(5)])
            #expect(shown[0].description.hasSuffix("\n  with 3, 5"))
            #expect(try stack.statements { _ = try context.fetch(request) } == shown.map(\.sql))

            request.resultType = .countResultType
            #expect(try request.sql(in: context)[0].sql == "SELECT COUNT(*) FROM ZBOOK t0 WHERE t0.ZPAGES > ?")
            request.resultType = .managedObjectIDResultType
            #expect(try request.sql(in: context)[0].sql.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE"))
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["title", "author.name"]
            #expect(
                try request.sql(in: context)[0].sql.hasPrefix(
                    "SELECT t0.ZTITLE, t1.ZNAME FROM ZBOOK t0 LEFT OUTER JOIN ZPERSON t1 ON t1.Z_PK = t0.ZAUTHOR WHERE")
            )
            request.predicate = NSPredicate(format: "pages.nothing == 3")
            #expect(throws: CocoaError.self) { try request.sql(in: context) }
        }
    }

    @Test("An explanation says in plain words what is slow, and what would help")
    func hints() throws {
        try LibraryStack().story { context in
            try fill(context, books: 3)
            func hints(_ format: String?, _ sorts: [NSSortDescriptor] = []) throws -> [String] {
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.predicate = format.map { NSPredicate(format: $0) }
                request.sortDescriptors = sorts
                return try request.explain(in: context).flatMap(\.hints)
            }
            #expect(try hints(nil) == [])
            #expect(try hints("isbn == 'x'") == [])
            #expect(try hints("pages > 3") == ["full scan of the 3 rows of Book: add an index on pages"])
            #expect(
                try hints("pages > 3 AND rating == 1")
                    == ["full scan of the 3 rows of Book: add an index on rating, pages"])
            #expect(
                try hints("title CONTAINS[cd] 'x'")
                    == ["full scan of the 3 rows of Book: no index helps with title CONTAINS[cd] \"x\""])
            #expect(
                try hints(nil, [NSSortDescriptor(key: "pages", ascending: true)])
                    == [
                        "the rows that are found are sorted in a temporary B-tree: an index on pages would have them in order"
                    ])
            #expect(
                try hints(nil, [NSSortDescriptor(key: "author.name", ascending: true)])
                    == [
                        "the rows that are found are sorted in a temporary B-tree: no index has an order by another entity's "
                            + "properties, or one for people's eyes"
                    ])
            let book = Book(context: context)
            book.title = "unsaved"
            #expect(try hints("isbn == 'x'") == ["1 unsaved object is held against the predicate in memory"])
            let explained = try Book.fetchRequest(where: #Predicate { $0.pages > 3 }).explain(in: context)
            #expect(explained[0].description.contains("\n  with 3\n  SCAN t0\n  hint: full scan of the 3 rows of Book"))
            context.rollback()
        }
    }

    @Test("A statement limit throws with the statements that were run")
    func limit() throws {
        let stack = try LibraryStack()
        try stack.story { try fill($0) }
        // Another coordinator, which has no rows in memory.
        let library = try LibraryStack(opening: stack.url)
        let reader = library.newContext()
        try reader.performAndWait {
            let request = try Book.fetchRequest(where: #Predicate { $0.pages > 8 })
            #expect(try reader.withStatementLimit(1) { try reader.fetch(request).count } == 3)
            let error = #expect(throws: StatementLimitError.self) {
                try reader.withStatementLimit(2) { try reader.fetch(request).map { $0.author?.name } }
            }
            #expect(error?.limit == 2 && error?.statements.count == 4)
            #expect(error?.statements.allSatisfy { $0.sql.hasPrefix("SELECT") && $0.store == stack.url } == true)
            #expect(
                error?.localizedDescription.hasPrefix("4 statements were run where 2 are allowed:\n1. SELECT") == true)
            // What was counted is over.
            reader.reset()
            #expect(try reader.fetch(request).map { $0.author?.name }.count == 3)
            struct Stop: Error {}
            #expect(throws: Stop.self) { try reader.withStatementLimit(0) { throw Stop() } }
        }
    }

    @Test("Faults that fire one by one are told, with the key path that cures it")
    func faultLoops() throws {
        let stack = try LibraryStack()
        try stack.story { try fill($0) }
        let request = { try Book.fetchRequest(where: #Predicate { $0.pages >= 0 }) }
        // Another coordinator, which has no rows in memory.
        let library = try LibraryStack(opening: stack.url)
        let reader = library.newContext()
        try reader.performAndWait {
            let error = #expect(throws: FaultLoopError.self) {
                try reader.withoutFaultLoops(of: 5) { try reader.fetch(request()).map { $0.author?.name } }
            }
            let loop = try #require(error?.loops.first)
            #expect(error?.loops.count == 1)
            #expect(loop.entityName == "Author" && loop.relationship?.entityName == "Book" && loop.count == 5)
            #expect(loop.relationship?.prefetchingKeyPath == "author")
            #expect(
                loop.description
                    == "5 faults of Author fired one by one, through Book.author: set relationshipKeyPathsForPrefetching = "
                    + "[\"author\"] on the fetch")
            reader.reset()
        }
        let nested = try LibraryStack(opening: stack.url).newContext()
        nested.performAndWait {
            let inner = #expect(throws: FaultLoopError.self) {
                try nested.withoutFaultLoops(of: 5) {
                    try nested.withoutFaultLoops(of: 100) { try nested.fetch(request()).map { $0.author?.name } }
                }
            }
            #expect(inner?.loops.map(\.count) == [5], "a guard counts what one inside of it allows")
        }
        let cured = try LibraryStack(opening: stack.url).newContext()
        try cured.performAndWait {
            try cured.withoutFaultLoops(of: 2) {
                let request = try request()
                request.relationshipKeyPathsForPrefetching = ["author"]
                for book in try cured.fetch(request) { #expect(book.author?.name != nil) }
            }
        }
        let told = Mutex<[FaultLoop]>([])
        let toMany = try LibraryStack(opening: stack.url).newContext()
        try toMany.performAndWait {
            toMany.faultLoopReporting = .call(after: 3) { loop in told.withLock { $0.append(loop) } }
            for author in try toMany.all(Author.self, "Author") { #expect(author.books.count == 1) }
            toMany.faultLoopReporting = .off
        }
        let loops = told.withLock { $0 }
        #expect(loops.map(\.relationship?.prefetchingKeyPath) == ["books"])
        #expect(
            loops.first?.description
                == "Author.books was read one by one of 3 objects: set relationshipKeyPathsForPrefetching = [\"books\"] on the fetch"
        )
    }

    @Test("Faults that no relationship led to are told, too")
    func faultsWithoutRelationship() throws {
        let stack = try LibraryStack()
        try stack.story { try fill($0) }
        // Another coordinator, which has no rows in memory.
        let library = try LibraryStack(opening: stack.url)
        let reader = library.newContext()
        reader.performAndWait {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.includesPropertyValues = false
            let error = #expect(throws: FaultLoopError.self) {
                try reader.withoutFaultLoops(of: 4) { try reader.fetch(request).map(\.title) }
            }
            #expect(
                error?.localizedDescription
                    == "4 faults of Book fired one by one: fetch them together, with returnsObjectsAsFaults = false and the predicate "
                    + "'self IN %@'")
        }
    }
}
