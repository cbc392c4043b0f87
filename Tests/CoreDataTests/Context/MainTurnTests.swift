import CoreData
import Foundation
import Testing

// semantics D6: main contexts process changes at the end of a turn of the main thread
@Suite @MainActor struct MainTurnTests {
    private let stack: LibraryStack
    private let context = NSManagedObjectContext(.mainQueue)
    private let log: NotificationLog
    private let book: Book

    init() throws {
        stack = try LibraryStack()
        context.persistentStoreCoordinator = stack.coordinator
        book = Book(context: context)
        book.title = "One"
        try context.save()
        log = NotificationLog(.NSManagedObjectContextObjectsDidChange, context)
    }

    /// What was enqueued on the main queue before has run.
    private func nextTurn() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test("D6: what plain code on the main actor changed is told once, at the end of the turn")
    func events() async {
        book.title = "Two"
        book.pages = 2
        #expect(log.userInfos.isEmpty)
        await nextTurn()
        #expect(log.userInfos.count == 1)
        #expect(log.userInfos.first?[NSUpdatedObjectsKey] as? Set<NSManagedObject> == [book])
        #expect(book.changedValuesForCurrentEvent().isEmpty && context.hasChanges)
        book.title = "Three"
        let tag = Tag(context: context)
        await nextTurn()
        #expect(log.userInfos.count == 2)
        #expect(log.userInfos.last?[NSInsertedObjectsKey] as? Set<NSManagedObject> == [tag])
    }

    @Test("D6: delete rules are applied at the end of the turn")
    func deletion() async throws {
        let chapter = Chapter(context: context)
        book.chapters = [chapter]
        try context.save()
        context.delete(book)
        #expect(!chapter.isDeleted)
        await nextTurn()
        #expect(chapter.isDeleted)
    }

    @Test("D6: what was processed in the turn already is not told again")
    func processed() async throws {
        book.title = "Two"
        context.processPendingChanges()
        book.pages = 3
        try context.save()
        let count = log.userInfos.count
        await nextTurn()
        #expect(log.userInfos.count == count && count == 2)
    }

    @Test("D6: performAndWait does not process changes; on the main queue the turn does")
    func waiting() async {
        context.performAndWait { book.title = "Two" }
        #expect(log.userInfos.isEmpty)
        await nextTurn()
        #expect(log.userInfos.count == 1)
    }

    @Test("D6: nothing is told at the end of performAndWait on a private queue")
    func waitingElsewhere() throws {
        let log = NotificationLog(.NSManagedObjectContextObjectsDidChange, stack.context)
        let book = stack.context.performAndWait { Book(context: stack.context) }
        #expect(log.userInfos.isEmpty)
        stack.context.performAndWait {
            #expect(book.changedValuesForCurrentEvent().isEmpty)
            stack.context.processPendingChanges()
        }
        #expect(log.userInfos.count == 1)
    }

    @Test("J2: each turn is a step of the undo manager, without a run loop too")
    func undo() async {
        let manager = UndoManager()
        context.undoManager = manager
        book.title = "Two"
        await nextTurn()
        await nextTurn()
        #expect(manager.groupingLevel == 0 && manager.canUndo)
        book.title = "Three"
        await nextTurn()
        context.undo()
        #expect(book.title == "Two")
        context.undo()
        #expect(book.title == "One" && !manager.canUndo)
    }

    @Test("The group of what plain code registered closes at the end of the turn")
    func undoOfPlainCode() async {
        let manager = UndoManager()
        manager.registerUndo(withTarget: manager) { _ in }
        #expect(manager.groupingLevel == 1)
        await nextTurn()
        #expect(manager.groupingLevel == 0 && manager.canUndo)
    }

    @Test("D9: notifications come on the thread that changed or saved, before the call returns")
    func synchronous() throws {
        let threads = Threads()
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: stack.context, queue: nil
        ) { _ in threads.add() }
        defer { NotificationCenter.default.removeObserver(token) }
        try stack.story { context in
            Tag(context: context).name = "a"
            try context.save()
            #expect(threads.seen == [Thread.current])
        }
    }

    @Test(
        "D6: in run loops, in dispatchMain, and not at all where nobody waits",
        arguments: [
            ("run-loop", ["2 events", "undo: second", "undo: first"]),
            ("dispatch-main", ["2 events", "undo: second", "undo: first"]), ("nothing", ["0 events", "undo: first"]),
        ])
    func programs(kind: String, lines: [String]) throws {
        #expect(try output(of: kind) == lines)
    }

    @Test("R: a list follows what another context inserts, in a program that observes no notification")
    func listsWithoutObservers() throws {
        #expect(try output(of: "list") == ["changed", "a", "b"])
    }

    @Test(
        "What a main context does comes while the main thread waits in a run loop, also inside of a block of the main queue",
        arguments: [
            ("wait", ["merged by perform", "merged on the main queue", "saved", "fetched 1", "changed"]),
            ("wait-in-main-queue", ["merged by perform", "saved", "fetched 1", "changed"]),
        ])
    func waitingOnTheMainThread(kind: String, lines: [String]) throws {
        #expect(try output(of: kind) == lines)
    }

    private func output(of kind: String) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("TurnProgram")
        process.arguments = [kind]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.split(separator: "\n").map(String.init)
    }
}

/// Which threads something happened on.
private final class Threads: @unchecked Sendable {
    // Safe because contexts post on the thread that the test waits for.
    private(set) var seen: [Thread] = []
    func add() { seen.append(Thread.current) }
}
