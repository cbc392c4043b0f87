import CoreData
import Foundation
import Testing

@testable import CoreData

/// R11: sections that are kept in a file from launch to launch.
@Suite struct SectionCacheTests {
    private let name = "Books/\(UUID().uuidString)"

    /// Some books in three sections, which were saved a while ago.
    private func makeStack() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            for number in 0..<30 {
                let book = Book(context: context)
                book.title = "book \(number)"
                book.pages = Int32(number % 3)
            }
            try context.save()
        }
        try rest(stack)
        return stack
    }

    /// Nothing has been written for a while.
    private func rest(_ stack: LibraryStack) throws {
        for path in [stack.url.path, stack.url.path + "-wal"] where FileManager.default.fileExists(atPath: path) {
            try FileManager.default.setAttributes([.modificationDate: Date() - 5], ofItemAtPath: path)
        }
    }

    /// Sections as a new controller has them, and whether the store counted them.
    private func fetch(
        _ stack: LibraryStack, format: String? = nil, batch: Int = 10
    ) throws -> (sections: [String], counts: Bool) {
        let context = stack.newContext()
        return try context.performAndWait {
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = format.map { NSPredicate(format: $0) }
            request.sortDescriptors = [
                NSSortDescriptor(key: "pages", ascending: true), NSSortDescriptor(key: "title", ascending: true),
            ]
            request.fetchBatchSize = batch
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages", cacheName: name)
            let statements = try stack.statements { try controller.performFetch() }
            let sections = (controller.sections ?? []).map { "\($0.name): \($0.numberOfObjects)" }
            return (sections, statements.contains { $0.contains("GROUP BY") })
        }
    }

    @Test("R11: what was counted once is not counted again") func whatWasCountedOnceIsNotCountedAgain() throws {
        let stack = try makeStack()
        defer { NSFetchedResultsController<Book>.deleteCache(withName: name) }
        let all = ["0: 10", "1: 10", "2: 10"]
        var found = try fetch(stack)
        #expect(found.sections == all && found.counts)
        found = try fetch(stack)
        #expect(found.sections == all && !found.counts)
        // Rows that are read have the same sections.
        #expect(try fetch(stack, batch: 0).sections == all)
        // Another process has them too.
        let other = try LibraryStack(opening: stack.url)
        found = try fetch(other)
        #expect(found.sections == all && !found.counts)
    }

    @Test("R11: other rows and other requests are counted") func otherRowsAndOtherRequestsAreCounted() throws {
        let stack = try makeStack()
        defer { NSFetchedResultsController<Book>.deleteCache(withName: name) }
        _ = try fetch(stack)
        var found = try fetch(stack, format: "pages > 0")
        #expect(found.sections == ["1: 10", "2: 10"] && found.counts)
        _ = try fetch(stack)
        #expect(try !fetch(stack).counts)
        try stack.story { context in
            Book(context: context).title = "one more"
            try context.save()
        }
        // Just after a save nothing is kept, and nothing is taken for what is there.
        for _ in 0..<2 {
            found = try fetch(stack)
            #expect(found.sections == ["0: 11", "1: 10", "2: 10"])
        }
        try rest(stack)
        _ = try fetch(stack)
        #expect(try !fetch(stack).counts)
        // The same number of rows.
        let context = stack.newContext()
        try context.performAndWait {
            let book = try #require(try context.all(Book.self, "Book", "pages == 0").first)
            book.pages = 2
            try context.save()
        }
        try rest(stack)
        #expect(try fetch(stack).sections == ["0: 10", "1: 10", "2: 11"])
    }

    @Test func aFileThatWasRemovedOrDamagedIsMadeAnew() throws {
        let stack = try makeStack()
        defer { NSFetchedResultsController<Book>.deleteCache(withName: name) }
        let file = try #require(SectionCache.file(named: name))
        _ = try fetch(stack)
        let good = try Data(contentsOf: file)
        NSFetchedResultsController<Book>.deleteCache(withName: name)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try fetch(stack).counts)
        let text = String(decoding: good, as: UTF8.self)
        for damaged in [
            Data(), good.dropLast(7), Data("{}".utf8), Data([0xFF, 0xFE]),
            Data(text.replacing("\"counts\":[10,10,10]", with: "\"counts\":[10,10,11]").utf8),
            Data(text.replacing("\"counts\":[10,10,10]", with: "\"counts\":[40,-10,0]").utf8),
            Data(text.replacing("\"counts\":[10,10,10]", with: "\"counts\":[30]").utf8),
        ] {
            try damaged.write(to: file)
            let found = try fetch(stack)
            #expect(found.sections == ["0: 10", "1: 10", "2: 10"] && found.counts)
            #expect(try !fetch(stack).counts)
        }
    }

    @Test func whatMayDifferWithoutASaveIsNotKept() throws {
        let stack = try makeStack()
        defer { NSFetchedResultsController<Book>.deleteCache(withName: name) }
        for _ in 0..<2 { #expect(try fetch(stack, format: "published == nil OR published < now()").counts) }
        let context = stack.newContext()
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages", cacheName: name)
            try controller.performFetch()
        }
        let file = try #require(SectionCache.file(named: name))
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
