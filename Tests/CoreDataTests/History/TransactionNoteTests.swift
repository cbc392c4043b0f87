import CoreData
import Foundation
import Testing

/// Notes that saves write in their own transactions.
@Suite struct TransactionNoteTests {
    private static func stack(at url: URL? = nil) throws -> HistoryStack {
        var options = HistoryStack.options
        options[NSPersistentStore.transactionNotesOption] = NSNumber(value: true)
        return try HistoryStack(opening: url, options: options)
    }

    /// Saves a book with a note.
    private static func add(_ title: String, _ key: String, to stack: HistoryStack) throws {
        let context = stack.newContext()
        try context.performAndWait {
            Book(context: context).title = title
            context.transactionNote = TransactionNote(key: key, content: Data(title.utf8))
            try context.save()
        }
    }

    private static func titles(_ stack: HistoryStack) throws -> [String?] {
        let context = stack.newContext()
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<Book>(entityName: "Book")).map(\.title)
        }
    }

    @Test func aNoteIsSavedWithItsChanges() throws {
        let stack = try Self.stack()
        #expect(try stack.coordinator.transactionNote(forKey: "k") == nil)
        try Self.add("A", "k", to: stack)
        #expect(try stack.coordinator.transactionNote(forKey: "k")?.content == Data("A".utf8))
        // Another process, later.
        let other = try Self.stack(at: stack.url)
        #expect(try other.coordinator.transactionNote(forKey: "k")?.content == Data("A".utf8))
    }

    @Test func aSaveWhoseKeyExistsWritesNothing() throws {
        let stack = try Self.stack()
        let other = try Self.stack(at: stack.url)
        try Self.add("A", "k", to: stack)
        let error = #expect(throws: CocoaError.self) { try Self.add("B", "k", to: other) }
        #expect(error?.localizedDescription.contains("has a transaction note with this key") ?? false)
        #expect(try Self.titles(stack) == ["A"])
        #expect(try stack.coordinator.transactionNote(forKey: "k")?.content == Data("A".utf8))
        try Self.add("B", "l", to: other)
        #expect(try Self.titles(stack).count == 2)
    }

    @Test func aFailedSaveLeavesNoNote() throws {
        let stack = try Self.stack()
        try Self.add("A", "k", to: stack)
        let (first, second) = (stack.newContext(), stack.newContext())
        try first.performAndWait {
            let request = NSFetchRequest<Book>(entityName: "Book")
            let book = try #require(try first.fetch(request).first)
            // A fault would read the other context's row before it changes.
            #expect(book.title == "A")
            try second.performAndWait {
                try second.fetch(request).first?.title = "B"
                try second.save()
            }
            book.title = "C"
            first.transactionNote = TransactionNote(key: "c", content: Data())
            #expect(throws: CocoaError.self) { try first.save() }
        }
        #expect(try stack.coordinator.transactionNote(forKey: "c") == nil)
    }

    @Test func oldNotesAreDeletedOnDemand() throws {
        let stack = try Self.stack()
        try Self.add("A", "k", to: stack)
        #expect(try stack.coordinator.purgeTransactionNotes(before: Date(timeIntervalSinceNow: -60)) == 0)
        #expect(try stack.coordinator.purgeTransactionNotes(before: Date(timeIntervalSinceNow: 60)) == 1)
        #expect(try stack.coordinator.transactionNote(forKey: "k") == nil)
    }

    @Test func aStoreWithoutTheOptionIgnoresNotes() throws {
        let stack = try HistoryStack()
        try Self.add("A", "k", to: stack)
        try Self.add("B", "k", to: stack)
        #expect(try stack.coordinator.transactionNote(forKey: "k") == nil)
        #expect(try Self.titles(stack).count == 2)
    }

    @Test func eachChangeOfARowHasAVersion() throws {
        let stack = try HistoryStack()
        let context = stack.newContext()
        try context.performAndWait {
            let book = Book(context: context)
            #expect(book.storedVersion == nil)
            book.title = "A"
            try context.save()
            let first = try #require(book.storedVersion)
            book.title = "B"
            try context.save()
            #expect(book.storedVersion == first + 1)
        }
    }
}
