import CoreData
import Foundation
import Observation
import TestSupport
import Testing

/// Objects whose properties are followed with `withObservationTracking`; semantics C4 and C5 in Swift's terms.
@Suite struct ObservationTests {
    private let stack: LibraryStack
    private let context: NSManagedObjectContext

    init() throws {
        stack = try LibraryStack()
        context = stack.newContext()
        context.isObservable = true
    }

    /// Counts how often what `read` reads is announced.
    private final class Follower: @unchecked Sendable {
        // Safe because one queue alone uses it.
        private(set) var count = 0
        private let read: () -> Void

        init(_ read: @escaping () -> Void) {
            self.read = read
            follow()
        }

        /// Begins anew after an announcement.
        func follow() {
            withObservationTracking(read) { [weak self] in self?.count += 1 }
        }
    }

    private func story(_ body: (Book) throws -> Void) throws {
        try context.performAndWait { () throws in
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            try body(book)
        }
    }

    @Test func aChangeIsAnnouncedOnceAtTheEndOfTheEventWithTheNewValueInPlace() throws {
        try story { book in
            let title = Follower { _ = book.title }
            let pages = Follower { _ = book.pages }
            book.title = "Two"
            book.title = "Three"
            #expect(title.count == 0)
            context.processPendingChanges()
            #expect(title.count == 1 && pages.count == 0)
            book.title = "Four"
            context.processPendingChanges()
            #expect(title.count == 1)
            title.follow()
            book.title = "Five"
            try context.save()
            #expect(title.count == 2 && pages.count == 0)
        }
    }

    @Test func whoIsToldSeesTheNewValueAndMayFollowAtOnce() throws {
        try story { book in
            final class Titles: @unchecked Sendable {
                // Safe because one queue alone uses it.
                var seen: [String?] = []
            }
            let titles = Titles()
            nonisolated(unsafe) let book = book
            @Sendable func follow() {
                let title = withObservationTracking({ book.title }, onChange: { follow() })
                titles.seen.append(title)
            }
            follow()
            for title in ["Two", "Three"] {
                book.title = title
                context.processPendingChanges()
            }
            #expect(titles.seen == ["One", "Two", "Three"])
        }
    }

    @Test func everyWayToReadCounts() throws {
        try story { book in
            let reads: [(String, () -> Void)] = [
                ("title", { _ = book.value(forKey: "title") }), ("title", { _ = book[keyPath: \.title] }),
                ("title", { book.willAccessValue(forKey: "title") }), ("title", { _ = try? book.snapshot() }),
                ("title", { _ = book.value(forKeyPath: "title") }), ("pages", { _ = book.pages }),
                ("rating", { _ = book.rating }), ("price", { _ = book.price }), ("author", { _ = book.author }),
                ("author", { _ = book.value(forKey: "author") }), ("tags", { _ = book.tags }),
                ("tags", { _ = book.value(forKey: "tags") }), ("tags", { _ = book.count(of: Book.tagsKey) }),
                ("tags", { _ = book.mutableSetValue(forKey: "tags").count }), ("chapters", { _ = book.chapters }),
            ]
            for (index, (key, read)) in reads.enumerated() {
                let follower = Follower(read)
                switch key {
                case "title": book.title = "Title \(index)"
                case "pages": book.pages += 1
                case "rating": book.rating += 1
                case "price": book.price = Decimal(index)
                case "author": book.author = Author(context: context)
                case "tags": book.tags.insert(Tag(context: context))
                default: book.chapters.append(Chapter(context: context))
                }
                context.processPendingChanges()
                #expect(follower.count == 1, "\(key), way \(index)")
            }
        }
    }

    @Test func theOtherSideOfARelationshipIsAnnounced() throws {
        try story { book in
            let author = Author(context: context)
            author.name = "A"
            try context.save()
            let (books, name) = (Follower { _ = author.books }, Follower { _ = author.name })
            let own = Follower { _ = book.author }
            book.author = author
            context.processPendingChanges()
            #expect(books.count == 1 && own.count == 1 && name.count == 0)
        }
    }

    @Test func undoAndRedoAreAnnounced() throws {
        try story { book in
            context.undoManager = UndoManager()
            book.title = "Two"
            context.processPendingChanges()
            let title = Follower { _ = book.title }
            context.undo()
            #expect(title.count == 1 && book.title == "One")
            title.follow()
            context.redo()
            #expect(title.count == 2 && book.title == "Two")
        }
    }

    @Test func aMergeAnnouncesWhatDiffers() throws {
        try story { book in
            let other = stack.newContext()
            let saves = NotificationSaves(other)
            try other.performAndWait { () throws in
                let same = try #require(other.object(with: book.objectID) as? Book)
                same.title = "Theirs"
                try other.save()
            }
            let (title, pages) = (Follower { _ = book.title }, Follower { _ = book.pages })
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(title.count == 1 && pages.count == 0)
            #expect(book.title == "Theirs")
            try other.performAndWait { () throws in
                other.delete(other.object(with: book.objectID))
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(pages.count == 1)
        }
    }

    @Test func aRefreshAnnouncesWhatDiffersAlsoOfAFault() throws {
        try story { book in
            let (title, pages) = (Follower { _ = book.title }, Follower { _ = book.pages })
            context.refresh(book, mergeChanges: false)
            context.processPendingChanges()
            #expect(book.isFault && title.count == 0 && pages.count == 0)
            let other = stack.newContext()
            let saves = NotificationSaves(other)
            try other.performAndWait { () throws in
                let same = try #require(other.object(with: book.objectID) as? Book)
                same.pages = 7
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            #expect(book.isFault && title.count == 0 && pages.count == 1)
            book.title = "Mine"
            context.refresh(book, mergeChanges: false)
            context.processPendingChanges()
            #expect(title.count == 1)
        }
    }

    @Test func rollbackDeletionAndResetAreAnnounced() throws {
        try story { book in
            let title = Follower { _ = book.title }
            book.title = "Two"
            context.processPendingChanges()
            title.follow()
            context.rollback()
            #expect(title.count == 2 && book.title == "One")
            title.follow()
            context.delete(book)
            context.processPendingChanges()
            #expect(title.count == 3)
            context.rollback()
            title.follow()
            context.reset()
            #expect(title.count == 4)
        }
    }

    @Test func theObserversOfAnObjectThatGoesAwayAreTold() throws {
        try context.performAndWait { () throws in
            var book: Book? = Book(context: context)
            book?.title = "One"
            try context.save()
            let follower = Follower { [weak book] in _ = book?.title }
            #expect(follower.count == 0)
            book = nil
            #expect(follower.count == 1)
        }
    }

    @Test func onlyObservableContextsRegisterReads() throws {
        #expect(!stack.context.isObservable)
        try stack.story { context throws in
            let book = Book(context: context)
            book.title = "One"
            let title = Follower { _ = book.title }
            book.title = "Two"
            try context.save()
            #expect(title.count == 0)
        }
    }

    @MainActor
    @Test("Main contexts are observable; their turns announce")
    func main() async throws {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = stack.coordinator
        #expect(context.isObservable)
        let book = Book(context: context)
        book.title = "One"
        try context.save()
        let title = Follower { _ = book.title }
        book.title = "Two"
        #expect(title.count == 0)
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        #expect(title.count == 1)
    }

    #if compiler(>=6.2)
        @MainActor
        @Test("A sequence of observations gives each event's values", .timeLimit(.minutes(Sanitizer.minutes(1))))
        func sequence() async throws {
            let context = NSManagedObjectContext(.mainQueue)
            context.persistentStoreCoordinator = stack.coordinator
            let book = Book(context: context)
            book.title = "One"
            try context.save()
            var seen: [String?] = []
            for await title in Observations({ book.title }) {
                seen.append(title)
                if seen.count == 3 { break }
                book.title = seen.count == 1 ? "Two" : "Three"
            }
            #expect(seen == ["One", "Two", "Three"])
        }
    #endif
}
