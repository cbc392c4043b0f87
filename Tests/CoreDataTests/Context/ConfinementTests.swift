import CoreData
import Foundation
import Logging
import Synchronization
import Testing

// semantics Q1, Q4: a context off its queue
@Suite struct ConfinementTests {
    /// A context with a book, made in the process of the test.
    private static func makeBook() throws -> (LibraryStack, Book) {
        let stack = try LibraryStack()
        let book = stack.context.performAndWait { Book(context: stack.context) }
        return (stack, book)
    }

    @Test("Q4: with ConcurrencyDebug a wrong use stops the program, of an object and of its context")
    func trap() async {
        await #expect(processExitsWith: .failure) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (stack, book) = try ConfinementTests.makeBook()
            _ = book.title
            withExtendedLifetime(stack) {}
            exit(EXIT_SUCCESS)
        }
        await #expect(processExitsWith: .failure) {
            setenv("com.apple.CoreData.ConcurrencyDebug", "1", 1)
            let (stack, _) = try ConfinementTests.makeBook()
            try stack.context.save()
            exit(EXIT_SUCCESS)
        }
    }

    @Test("Q1: with ConcurrencyDebug right uses do not stop it")
    func rightUses() async {
        await #expect(processExitsWith: .success) {
            setenv("COREDATA_CONCURRENCYDEBUG", "1", 1)
            let (stack, book) = try ConfinementTests.makeBook()
            try stack.story { context in
                book.title = "a"
                try context.save()
            }
            _ = book.objectID
            let context = stack.context
            try await context.perform { try context.save() }
            exit(EXIT_SUCCESS)
        }
    }

    #if DEBUG
        @Test("Q4: without it a wrong use goes on, and is logged once for each place, with object, key and queue")
        func log() async {
            await #expect(processExitsWith: .success) {
                let messages = LoggedMessages()
                LoggingSystem.bootstrap { _ in messages }
                let (stack, book) = try ConfinementTests.makeBook()
                stack.context.name = "import"
                for _ in 0..<5 { book.title = "a" }
                #expect(book.title == "a")
                for _ in 0..<5 { _ = stack.context.registeredObject(for: book.objectID) }
                let all = messages.all
                #expect(all.count == 3, "\(all)")
                #expect(all.allSatisfy { $0.contains("off the private queue of its context (context 'import')") })
                #expect(all.filter { $0.contains("Book that is not saved yet was used (property 'title')") }.count == 2)
                #expect(all.filter { $0.contains("registeredObject(for:) was called") }.count == 1)
                exit(all.count == 3 ? EXIT_SUCCESS : EXIT_FAILURE)
            }
        }
    #endif
}

/// Keeps what is logged.
private struct LoggedMessages: LogHandler {
    private final class Messages: Sendable { let texts = Mutex<[String]>([]) }

    private let messages = Messages()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    var all: [String] { messages.texts.withLock { $0 } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        messages.texts.withLock { $0.append("\(event.message)") }
    }
}
