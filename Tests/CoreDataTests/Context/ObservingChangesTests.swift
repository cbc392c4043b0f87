import CoreData
import Foundation
import Testing

/// Observers of `NSManagedObjectContextObjectsDidChange` that change and save themselves.
@Suite struct ObservingChangesTests {
    private final class Observer: @unchecked Sendable {
        // Safe because contexts post on the queue that the test waits for.
        private var token: (any NSObjectProtocol)?
        private var actions: [() -> Void]
        private(set) var updated: [Set<NSManagedObject>] = []

        init(_ context: NSManagedObjectContext, _ actions: (() -> Void)...) {
            self.actions = actions
            token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
            ) { [unowned self] note in
                updated.append(note.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? [])
                if !self.actions.isEmpty { self.actions.removeFirst()() }
            }
        }

        deinit { token.map { NotificationCenter.default.removeObserver($0) } }
    }

    @Test func whatAnObserverChangesIsToldInTheNextEvent() throws {
        let library = try LibraryStack()
        try library.context.performAndWait {
            let book = Book(context: library.context)
            book.title = "One"
            try library.context.save()
            let observer = Observer(library.context, { book.pages = 99 })
            book.title = "Two"
            library.context.processPendingChanges()
            #expect(book.changedValuesForCurrentEvent()["pages"] != nil)
            library.context.processPendingChanges()
            #expect(observer.updated == [[book], [book]])
            #expect(book.changedValuesForCurrentEvent().isEmpty)
        }
    }

    @Test func anObserverMaySave() throws {
        let library = try LibraryStack()
        try library.context.performAndWait {
            let (first, second) = (Book(context: library.context), Book(context: library.context))
            (first.title, second.title) = ("One", "Two")
            try library.context.save()
            var failure: (any Error)?
            let observer = Observer(
                library.context,
                {
                    second.pages = 7
                    do { try library.context.save() } catch { failure = error }
                })
            first.title = "Three"
            library.context.processPendingChanges()
            #expect(failure == nil && !library.context.hasChanges)
            #expect(observer.updated == [[first], [second]])
        }
    }
}
