import CoreData
import Foundation
import TestSupport
import Testing

// semantics S1, S4: files that are damaged, and what can be saved of them
@Suite struct DamagedStoreTests {
    private static func model() -> NSManagedObjectModel {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    /// A closed store with that many books, each with an author, tags and chapters.
    private func library(_ count: Int) throws -> FileStack {
        let stack = try FileStack(.sqlite, model: Self.model())
        try stack.story { context in
            let tags = (0..<5).map { number in
                let tag = Tag(context: context)
                tag.name = "tag \(number)"
                return tag
            }
            for number in 0..<count {
                let author = Author(context: context)
                author.name = "Author \(number)"
                let book = Book(context: context)
                book.title = "Book \(number) " + String(repeating: "x", count: 60)
                book.isbn = "\(number)"
                book.author = author
                book.tags = [tags[number % 5]]
                let chapter = Chapter(context: context)
                chapter.title = "Chapter of \(number)"
                book.chapters = [chapter]
            }
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        return stack
    }

    private func recover(_ stack: FileStack, to name: String = "new.sqlite") throws -> PersistentStoreRecovery {
        try NSPersistentStoreCoordinator.recoverPersistentStore(
            at: stack.url, to: stack.folder.appendingPathComponent(name), model: Self.model())
    }

    private func picture(_ url: URL) throws -> [String] {
        let coordinator = try NSPersistentStoreCoordinator(validating: Self.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        return try FileStack.picture(coordinator)
    }

    @Test("A sound store is recovered as it is")
    func soundStore() throws {
        let stack = try library(300)
        let recovery = try recover(stack)
        #expect(recovery.isComplete)
        #expect(recovery.entities.first { $0.name == "Book" }?.objectCount == 300)
        let new = stack.folder.appendingPathComponent("new.sqlite")
        #expect(try picture(new) == picture(stack.url))
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: new, model: Self.model()).isPassed)
        let exists = try #require(throws: CocoaError.self) { try recover(stack) }
        #expect(exists.code == .fileWriteFileExists)
    }

    @Test(
        "Of a store with damaged pages everything else is recovered, and the new store is sound",
        arguments: Trials.some(of: Array(0..<6)))
    func damagedPages(seed: Int) throws {
        let stack = try library(1500)
        let bytes = try stack.bytes()
        var numbers = SeededNumbers(seed: UInt64(seed))
        var damaged = bytes
        let pageCount = bytes.count / 4096
        // The first pages have the tables' definitions; without those there is nothing to go by.
        for _ in 0..<3 {
            let page = numbers.below(pageCount - 60) + 60
            damaged.replaceSubrange((page * 4096)..<((page + 1) * 4096), with: Data(repeating: 0x5A, count: 4096))
        }
        try damaged.write(to: stack.url)
        let recovery = try recover(stack)
        #expect(try stack.bytes() == damaged, "the damaged store is as it was")
        let books = try #require(recovery.entities.first { $0.name == "Book" })
        #expect(books.objectCount > 700)
        let new = stack.folder.appendingPathComponent("new.sqlite")
        let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: new, model: Self.model())
        #expect(verification.isPassed, "\(verification.findings)")
        let lost = recovery.entities.reduce(0) { $0 + $1.unreadableKeys.reduce(0) { $0 + Int($1[1] - $1[0]) + 1 } }
        let saved = recovery.entities.reduce(0) { $0 + $1.objectCount }
        #expect(saved + lost >= 4505, "every object is in the new store, or said to be lost")
        #expect(recovery.isComplete == (lost == 0) || !recovery.isComplete)
    }

    @Test("A store that was cut off is an error, and stays as it is")
    func truncated() throws {
        let stack = try library(1500)
        let bytes = try stack.bytes()
        let cut = bytes.prefix(bytes.count * 6 / 10 / 4096 * 4096)
        try cut.write(to: stack.url)
        let opening = try #require(throws: CocoaError.self) { try picture(stack.url) }
        #expect(opening.code == .fileReadCorruptFile, "\(opening)")
        // `coredata store recover` reads what is left of such a file.
        let recovering = try #require(throws: CocoaError.self) { try recover(stack) }
        #expect(recovering.code == .fileReadCorruptFile, "\(recovering)")
        #expect(try stack.bytes() == cut)
    }

    @Test("U4: what a process left that died between file and row is removed with the vacuum")
    func orphanedFiles() throws {
        let stack = try FileStack(.sqlite, model: Self.model())
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            book.cover = Data(repeating: 1, count: 200 << 10)
            try context.save()
        }
        let folder = stack.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA")
        let known = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        try Data(count: 100).write(to: folder.appendingPathComponent(UUID().uuidString))
        try Data(count: 100).write(to: folder.appendingPathComponent("somebody's"))
        try stack.reopen()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
        try stack.reopen([NSSQLiteManualVacuumOption: NSNumber(value: true)])
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)) == Set(known + ["somebody's"]))
        #expect(try stack.story { try $0.all(Book.self, "Book").first?.cover?.count } == 200 << 10)
    }

    @Test("S1: without its log a store has what the file has, or is an error; never a crash")
    func missingLog() throws {
        let stack = try FileStack(.sqlite, model: Self.model())
        try stack.story { context in
            Tag(context: context).name = "in the log"
            try context.save()
        }
        // The store is open: what was saved is in the log.
        let copy = stack.folder.appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: stack.url, to: copy)
        do {
            let lines = try picture(copy)
            #expect(lines.count <= 1)
        } catch let error as CocoaError {
            #expect([134000, 134080, 134020, 259].contains(error.errorCode), "\(error)")
        }
        #expect(try stack.story { try $0.all(Tag.self, "Tag").count } == 1)
    }
}
