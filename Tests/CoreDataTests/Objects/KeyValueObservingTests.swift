import CoreData
import Foundation
import Testing

/// `observe(_:options:changeHandler:)` of managed objects, migration managers and progress objects.
@Suite struct KeyValueObservingTests {
    @Test("C4: a setter tells its observer before it returns, with the values that were asked for")
    func setters() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "one"
            var seen: [String] = []
            let observation = book.observe(\.title, options: [.old, .new, .initial, .prior]) { book, change in
                let values = [change.oldValue, change.newValue].map { ($0 ?? nil) ?? "-" }
                seen.append((change.isPrior ? "will " : "") + values.joined(separator: ">"))
            }
            #expect(seen == ["->one"])
            book.title = "two"
            #expect(seen.dropFirst() == ["will one>-", "one>two"])
            seen = []
            book.setValue("three", forKey: "title")
            book.pages = 3
            #expect(seen == ["will two>-", "two>three"])
            try context.save()
            seen = []
            book.title = nil
            #expect(seen == ["will three>-", "three>-"])
            observation.invalidate()
            book.title = "four"
            #expect(seen.count == 2)
        }
    }

    @Test("C4: what is not asked for is nil; an observation ends with its token")
    func options() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let book = Book(context: context)
            var changes: [(String??, String??)] = []
            var observation: NSKeyValueObservation? = book.observe(\.title) {
                changes.append(($1.oldValue, $1.newValue))
            }
            book.title = "a"
            #expect(changes.count == 1 && changes[0].0 == nil && changes[0].1 == nil)
            #expect(observation != nil)
            observation = nil
            book.title = "b"
            #expect(changes.count == 1)
        }
    }

    @Test("C4: relationships are told on both sides")
    func relationships() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let (book, author) = (Book(context: context), Author(context: context))
            var (owners, counts): ([Author?], [Int]) = ([], [])
            let observations = [
                book.observe(\.author, options: [.new]) { owners.append($1.newValue ?? nil) },
                author.observe(\.books, options: [.new]) { counts.append($1.newValue?.count ?? -1) },
            ]
            book.author = author
            author.books = []
            #expect(owners == [author, nil])
            #expect(counts.last == 0 && counts.contains(1))
            withExtendedLifetime(observations) {}
        }
    }

    @Test("C5: undo, rollback, refresh and merge tell what differs afterwards, and nothing else")
    func otherWays() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            context.undoManager = UndoManager()
            let book = Book(context: context)
            (book.title, book.pages) = ("one", 1)
            try context.save()
            context.processPendingChanges()
            var (titles, pages): ([String], [Int32]) = ([], [])
            let observations = [
                book.observe(\.title, options: [.new]) { titles.append(($1.newValue ?? nil) ?? "-") },
                book.observe(\.pages, options: [.new]) { pages.append($1.newValue ?? -1) },
            ]
            book.title = "two"
            context.undo()
            #expect(titles == ["two", "one"] && pages.isEmpty)
            titles = []
            book.title = "three"
            context.rollback()
            #expect(titles == ["three", "one"] && pages.isEmpty)
            titles = []
            book.title = "four"
            context.refresh(book, mergeChanges: false)
            #expect(titles == ["four", "one"] && pages.isEmpty)
            titles = []
            let other = stack.newContext()
            try other.performAndWait {
                (other.object(with: book.objectID) as? Book)?.title = "five"
                try other.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [book.objectID]], into: [context])
            #expect(titles == ["five"] && pages.isEmpty)
            withExtendedLifetime(observations) {}
        }
    }

    @Test("What the model does not have is never told of, and stops nothing")
    func unmodelled() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let book = Book(context: context)
            let observation = book.observe(\.events, options: [.new, .old]) { _, _ in Issue.record("told") }
            book.events = ["a"]
            book.title = "b"
            withExtendedLifetime(observation) {}
        }
    }

    @Test("A handler that saves, or ends its own observation, is harmless")
    func handlersThatCallBack() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "one"
            try context.save()
            var observation: NSKeyValueObservation?
            var count = 0
            observation = book.observe(\.title) { _, _ in
                count += 1
                try? context.save()
                observation?.invalidate()
            }
            book.title = "two"
            book.title = "three"
            #expect(count == 1 && book.title == "three")
            try context.save()
        }
    }

    @Test("T6: progress and mapping of a migration are told")
    func migration() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Tag(context: context).name = "a"
            try context.save()
        }
        let manager = NSMigrationManager(sourceModel: Library.model(), destinationModel: Library.model())
        manager.usesStoreSpecificMigrationManager = false
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Library.model(), destinationModel: Library.model())
        var (progress, names): ([Float], [String]) = ([], [])
        let observations = [
            manager.observe(\.migrationProgress, options: [.new]) { progress.append($1.newValue ?? -1) },
            manager.observe(\.currentEntityMapping) { manager, _ in names.append(manager.currentEntityMapping.name) },
        ]
        try manager.migrateStore(
            from: stack.url, type: .sqlite, mapping: mapping, to: stack.folder.appendingPathComponent("new.sqlite"),
            type: .sqlite)
        #expect(progress.last == 1 && progress == progress.sorted())
        #expect(Set(names).isSubset(of: Set(mapping.entityMappings.map(\.name))) && !names.isEmpty)
        withExtendedLifetime(observations) {}
    }

    @Test("M19: the progress of an asynchronous fetch is told, and any other progress within a moment")
    func progress() async throws {
        let plain = Progress(totalUnitCount: 10)
        let values = Values()
        let observation = plain.observe(\.completedUnitCount, options: [.old, .new, .initial]) { _, change in
            values.add(change.oldValue, change.newValue)
        }
        #expect(values.all == ["->0"])
        plain.completedUnitCount = 7
        let deadline = Date(timeIntervalSinceNow: 10)
        while values.all.count < 2, Date() < deadline { await Task.yield() }
        #expect(values.all == ["->0", "0>7"])
        observation.invalidate()

        let stack = try LibraryStack()
        let fetched = Values()
        let done = Values()
        try stack.story { context in
            for index in 0..<3 { Tag(context: context).name = "\(index)" }
            try context.save()
            let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<Tag>(entityName: "Tag")) { _ in
                done.add(nil, 1)
            }
            let result = try context.execute(request) as? NSAsynchronousFetchResult<Tag>
            fetched.token = result?.progress?.observe(\.completedUnitCount, options: [.new]) {
                fetched.add(nil, $1.newValue)
            }
        }
        while done.all.isEmpty, Date() < deadline { await Task.yield() }
        #expect(fetched.all.last == "->3")
    }

    private final class Values: @unchecked Sendable {
        // Safe because the lock guards the values.
        private let lock = NSLock()
        private var values: [String] = []
        var token: NSKeyValueObservation?
        var all: [String] { lock.withLock { values } }
        func add(_ old: Int64?, _ new: Int64?) {
            lock.withLock { values.append("\(old.map { "\($0)" } ?? "-")>\(new.map { "\($0)" } ?? "-")") }
        }
    }
}
