import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// O8: `NSPersistentStoreRemoteChange`.
@Suite struct RemoteChangeTests {
    /// What a coordinator posted.
    private final class Listener: Sendable {
        struct Note: Sendable {
            var position: String?
            var url: URL?
            var storeID: String?
            var isOnMain: Bool
        }

        let notes: AsyncStream<Note>
        private let observer: Mutex<(any NSObjectProtocol)?>

        init(_ coordinator: NSPersistentStoreCoordinator) {
            let (notes, continuation) = AsyncStream<Note>.makeStream()
            self.notes = notes
            let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
            ) { note in
                let token = note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
                continuation.yield(
                    Note(
                        position: token?.description, url: note.userInfo?[NSPersistentStoreURLKey] as? URL,
                        storeID: note.userInfo?[NSStoreUUIDKey] as? String, isOnMain: Thread.isMainThread))
            }
            // Safe because it is only handed back to the centre.
            nonisolated(unsafe) let held = observer
            self.observer = Mutex(held)
        }

        deinit { observer.withLock { if let observer = $0 { NotificationCenter.default.removeObserver(observer) } } }

        /// Waits for a note that tells of the token.
        func waits(for token: NSPersistentHistoryToken?) async -> Note? {
            for await note in notes where note.position == token?.description { return note }
            return nil
        }
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func aSaveOfTheSameCoordinatorIsTold() async throws {
        let stack = try HistoryStack()
        let listener = Listener(stack.coordinator)
        try stack.add("A")
        let note = try #require(await listener.waits(for: stack.token))
        #expect(note.storeID == stack.store.identifier)
        #expect(note.url == stack.url)
        #expect(!note.isOnMain)
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func aSaveOfAnotherCoordinatorIsTold() async throws {
        let stack = try HistoryStack()
        let other = try HistoryStack(opening: stack.url)
        let listener = Listener(stack.coordinator)
        for title in ["A", "B", "C"] { try other.add(title) }
        #expect(await listener.waits(for: other.token) != nil)
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func aStoreInMemoryTellsToo() async throws {
        let stack = try HistoryStack(inMemory: true)
        let listener = Listener(stack.coordinator)
        try stack.add("A")
        #expect(await listener.waits(for: stack.token) != nil)
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func withoutAHistoryThereIsNoToken() async throws {
        let options: [AnyHashable: Any] = [
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true)
        ]
        let stack = try HistoryStack(options: options)
        let other = try HistoryStack(opening: stack.url, options: [:])
        let listener = Listener(stack.coordinator)
        try other.add("A")
        let note = try #require(await listener.waits(for: nil))
        #expect(note.url == stack.url)
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func anotherProcessIsTold() async throws {
        let stack = try HistoryStack()
        let listener = Listener(stack.coordinator)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
        process.arguments = [stack.url.path, "3"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(await listener.waits(for: stack.token) != nil)
        let transactions = try stack.transactions()
        #expect(transactions.map(\.transactionNumber) == [1, 2, 3])
        #expect(transactions.allSatisfy { $0.processID == "HistoryWriter" && $0.author == "another process" })
    }

    @Test func aStoreThatIsWatchedCanBeTakenAway() throws {
        let stack = try HistoryStack()
        try stack.add("A")
        try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: NSSQLiteStoreType)
        try stack.coordinator.addPersistentStore(type: .sqlite, at: stack.url, options: HistoryStack.options)
        try stack.add("B")
        #expect(try stack.transactions().count == 1)
    }

    @Test func aCopyOfAStoreHasItsHistoryAndConsumers() throws {
        let stack = try HistoryStack()
        try stack.add("A", author: "a")
        try stack.coordinator.noteHistoryRead(upTo: stack.token, byConsumer: "index")
        let url = stack.folder.appendingPathComponent("Copy.sqlite")
        try stack.coordinator.replacePersistentStore(
            at: url, withPersistentStoreFrom: stack.url, ofType: NSSQLiteStoreType)
        let copy = try HistoryStack(opening: url)
        #expect(try copy.transactions().map(\.author) == ["a"])
        #expect(try copy.coordinator.historyConsumers().map(\.name) == ["index"])
        #expect(copy.token == stack.token)
    }

    @Test(.timeLimit(.minutes(Sanitizer.minutes(2)))) func aStoreThatMovedIsWatchedWhereItIs() async throws {
        let stack = try HistoryStack()
        try stack.add("A")
        let url = stack.folder.appendingPathComponent("Moved.sqlite")
        try stack.coordinator.replacePersistentStore(
            at: url, withPersistentStoreFrom: stack.url, ofType: NSSQLiteStoreType)
        #expect(stack.coordinator.setURL(url, for: stack.store))
        let listener = Listener(stack.coordinator)
        let other = try HistoryStack(opening: url)
        try other.add("B")
        #expect(await listener.waits(for: other.token)?.url == url)
    }

    @Test func theWatchGoesWithTheStore() async throws {
        let stack = try HistoryStack()
        let url = stack.url
        try stack.add("A")
        try stack.coordinator.remove(stack.store)
        // The watch gives up its connection on its own queue.
        var left: [String] = []
        for _ in 0..<10_000 {
            left = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }.filter { $0.hasPrefix(url.path) }
            if left.isEmpty { break }
            await Task.yield()
        }
        #expect(left == [])
    }
}
