import CoreDataSQL
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Whether a statement that looks at titles has begun.
private final class Begun: SQLObserver {
    let isSet = Atomic<Bool>(false)

    func willRun(_ sql: String, bindings: [SQLValue]) throws {
        if sql.contains("ZTITLE") { isSet.store(true, ordering: .relaxed) }
    }
}

// semantics M19
@Suite struct NSAsynchronousFetchTests {
    private func filled() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            let request = NSBatchInsertRequest(
                entityName: "Book", objects: (1...1000).map { ["title": "book \($0)", "pages": $0] })
            try context.execute(request)
        }
        return stack
    }

    private func request() -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "pages <= 700")
        return request
    }

    @Test("M19: the result is there at once, what it found when it is done")
    func completion() async throws {
        let stack = try filled()
        let context = stack.context
        let count = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
            context.perform {
                do {
                    let request = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
                        #expect(result.progress?.completedUnitCount == 700)
                        continuation.resume(returning: result.finalResult?.count ?? -1)
                    }
                    request.estimatedResultCount = 650
                    let result = try context.execute(request) as? NSAsynchronousFetchResult<Book>
                    #expect(result != nil && result?.finalResult == nil && result?.progress?.totalUnitCount == 650)
                } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(count == 700)
    }

    @Test("M19: a fetch that finds nothing is done, whatever was expected", arguments: [0, 90], [0, 700])
    func nothing(_ estimate: Int, _ count: Int) async throws {
        let stack = try filled()
        let context = stack.context
        let whole = Progress(totalUnitCount: 1)
        let found = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
            context.perform {
                do {
                    let plain = request()
                    if count == 0 { plain.predicate = NSPredicate(value: false) }
                    let request = NSAsynchronousFetchRequest(fetchRequest: plain) { result in
                        #expect(result.progress?.isFinished == true && result.progress?.fractionCompleted == 1)
                        continuation.resume(returning: result.finalResult?.count ?? -1)
                    }
                    request.estimatedResultCount = estimate
                    whole.becomeCurrent(withPendingUnitCount: 1)
                    try context.execute(request)
                    whole.resignCurrent()
                } catch { continuation.resume(throwing: error) }
            }
        }
        #expect(found == count && whole.isFinished)
    }

    @Test("M19: a fetch that is cancelled has no result, and tells why")
    func cancellation() async throws {
        let stack = try filled()
        let context = stack.context
        let code = await withCheckedContinuation { (continuation: CheckedContinuation<CocoaError.Code?, Never>) in
            context.perform {
                let request = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
                    #expect(result.finalResult == nil)
                    continuation.resume(returning: (result.operationError as? CocoaError)?.code)
                }
                (try? context.execute(request) as? NSAsynchronousFetchResult<Book>)?.cancel()
            }
        }
        #expect(code == .userCancelled)
    }

    @Test("a fetch is stopped between rows that it reads")
    func interruption() throws {
        let stack = try filled()
        stack.story { context in
            let progress = Progress(totalUnitCount: -1)
            context.rowReading.fetchProgress = progress
            defer { context.rowReading.fetchProgress = nil }
            progress.cancel()
            #expect(throws: CocoaError(.userCancelled)) { try context.fetch(request()) }
        }
    }

    @Test func resultsCanBeAwaited() async throws {
        let stack = try filled()
        let books = try await NSAsynchronousFetchRequest(fetchRequest: request()).results(in: stack.context)
        #expect(books.count == 700)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await NSAsynchronousFetchRequest(fetchRequest: request()).results(in: stack.context).count
        }
        await #expect(throws: CocoaError(.userCancelled)) { try await task.value }
    }

    @Test(
        "A statement that has given no row yet is stopped, and no other thread's",
        .timeLimit(.minutes(Sanitizer.minutes(2))))
    func stoppingAStatement() async throws {
        let stack = try filled()
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "tag"
            tag.books = Set(try context.all(Book.self, "Book"))
            try context.save()
        }
        let context = stack.newContext()
        let request = NSFetchRequest<Book>(entityName: "Book")
        // All books have the same tag, so that there are 10¹² ways to go.
        request.predicate = NSPredicate(format: "ANY tags.books.tags.books.tags.books.title == 'nothing'")
        let begun = Begun()
        stack.database.setObserver(begun)
        defer { stack.database.setObserver(nil) }
        let task = Task { try await NSAsynchronousFetchRequest(fetchRequest: request).results(in: context).count }
        try await Polling.suspend(until: "the statement begins") { begun.isSet.load(ordering: .relaxed) }
        // Others read and write meanwhile.
        try stack.story { other in
            #expect(try other.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1000)
            let book = Book(context: other)
            book.title = "one more"
            try other.save()
        }
        task.cancel()
        let outcome = await task.result
        #expect(throws: CocoaError(.userCancelled)) { try outcome.get() }
        // The connection is as good as before.
        let count = try await context.perform { try context.count(for: NSFetchRequest<Book>(entityName: "Book")) }
        #expect(count == 1001)
    }
}
