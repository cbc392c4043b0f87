import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData

// semantics S4: what a store cannot say of itself, and where nothing leads to rows
@Suite struct RecoveryTests {
    /// A closed store with that many books, each with an author and tags.
    private func library(_ count: Int) throws -> FileStack {
        let stack = try FileStack(.sqlite)
        try stack.story { context in
            let tags = (0..<3).map { number in
                let tag = Tag(context: context)
                tag.name = "tag \(number)"
                return tag
            }
            for number in 0..<count {
                let book = Book(context: context)
                book.title = "Book \(number)"
                book.isbn = "\(number)"
                book.tags = [tags[number % 3]]
            }
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        return stack
    }

    /// Damages the first page of what the condition, on `sqlite_master`, finds.
    private func damage(_ stack: FileStack, _ condition: String) throws {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: stack.url.path))
        let text = SQLText(stringLiteral: "SELECT name, rootpage FROM sqlite_master WHERE \(condition)")
        let found = try database.read { try $0.rows(text) }
        database.close()
        var bytes = try stack.bytes()
        for row in found {
            guard case .integer(let page) = row[1], page > 1 else { continue }
            let start = (Int(page) - 1) * 4096
            bytes.replaceSubrange(start..<(start + 4096), with: Data(repeating: 0x5A, count: 4096))
        }
        #expect(!found.isEmpty)
        try bytes.write(to: stack.url)
    }

    private func recover(_ stack: FileStack) throws -> PersistentStoreRecovery {
        let new = stack.folder.appendingPathComponent("new.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(
            at: stack.url, to: new, model: Library.model())
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: new, model: Library.model()).isPassed)
        return recovery
    }

    private func books(_ stack: FileStack) throws -> [String] {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(type: .sqlite, at: stack.folder.appendingPathComponent("new.sqlite"))
        return try FileStack.story(coordinator) { context in
            try context.fetch(NSFetchRequest<Book>(entityName: "Book")).map {
                "\($0.title ?? "?") \(($0.value(forKey: "tags") as? NSSet)?.count ?? -1)"
            }.sorted()
        }
    }

    @Test(
        "what a store says of itself is taken from the model where it cannot be read",
        arguments: ["Z_PRIMARYKEY", "Z_METADATA"])
    func bookkeepingIsTakenFromTheModel(table: String) throws {
        let stack = try library(50)
        try damage(stack, "name = '\(table)'")
        let recovery = try recover(stack)
        #expect(recovery.notes.count == 1 && recovery.notes.first?.contains(table) == true, "\(recovery.notes)")
        #expect(!recovery.isComplete)
        #expect(recovery.entities.first { $0.name == "Book" }?.objectCount == 50)
        #expect(try books(stack) == (0..<50).map { "Book \($0) 1" }.sorted())
    }

    @Test("members are found where only indexes are damaged")
    func membersAreFoundWithoutIndexes() throws {
        let stack = try library(400)
        try damage(stack, "type = 'index' AND tbl_name LIKE 'Z\\__%TAGS' ESCAPE '\\'")
        let recovery = try recover(stack)
        #expect(recovery.entities.allSatisfy { $0.lostMemberCount == 0 }, "\(recovery.entities)")
        #expect(try books(stack) == (0..<400).map { "Book \($0) 1" }.sorted())
    }

    @Test(
        "of a file that was cut off or damaged everything before that is recovered",
        arguments: [NSPersistentStore.StoreType.xml, .binary])
    func filesAreRecovered(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try stack.story { context in
            let tag = Tag(context: context)
            tag.name = "tag"
            for number in 0..<200 {
                let book = Book(context: context)
                book.title = "Book \(number)"
                book.isbn = "\(number)"
                book.tags = [tag]
            }
            try context.save()
        }
        let bytes = try stack.bytes()
        let new = stack.folder.appendingPathComponent("new")
        func recover() throws -> PersistentStoreRecovery {
            try? FileManager.default.removeItem(at: new)
            return try NSPersistentStoreCoordinator.recoverPersistentStore(
                at: stack.url, to: new, model: Library.model())
        }
        let whole = try recover()
        #expect(whole.isComplete && whole.entities.first { $0.name == "Book" }?.objectCount == 200, "\(whole)")
        for part in [3, 6, 9] {
            try bytes.prefix(bytes.count * part / 10).write(to: stack.url)
            let recovery = try recover()
            #expect(!recovery.isComplete && !recovery.notes.isEmpty)
            let count = recovery.entities.first { $0.name == "Book" }?.objectCount ?? 0
            // Of a binary store pairs come last.
            #expect(part == 9 ? count <= 200 : count < 200)
            if part == 9, type == .xml { #expect(count > 100) }
            let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
            try coordinator.addPersistentStore(type: type, at: new)
            let found = try FileStack.story(coordinator) { context in
                try context.fetch(NSFetchRequest<Book>(entityName: "Book")).map { $0.title }.count
            }
            #expect(found == count)
        }
        let error = try #require(throws: CocoaError.self) {
            _ = try NSPersistentStoreCoordinator.recoverPersistentStore(
                at: stack.url, to: stack.folder.appendingPathComponent("other"))
        }
        #expect(error.code == .migrationMissingSourceModel)
    }

    @Test("a table whose first page is damaged is said to be lost")
    func unreachableTablesAreTold() throws {
        let stack = try library(400)
        try damage(stack, "name = 'ZTAG'")
        let recovery = try recover(stack)
        let tags = try #require(recovery.entities.first { $0.name == "Tag" })
        #expect(tags.isUnreachable && tags.objectCount == 0)
        #expect(tags.description.contains("first page of its table is damaged"))
        #expect(try books(stack) == (0..<400).map { "Book \($0) 0" }.sorted())
    }

    @Test("rows that nothing leads to any longer are found", arguments: [false, true])
    func rowsAreFoundBesideTheirTree(isWithPairs: Bool) throws {
        let stack = try library(1200)
        try damage(
            stack, "name = 'ZBOOK'" + (isWithPairs ? " OR name LIKE 'Z\\__%TAGS' ESCAPE '\\' AND type = 'table'" : ""))
        let damaged = try stack.bytes()
        let recovery = try recover(stack)
        let found = try #require(recovery.entities.first { $0.name == "Book" })
        #expect(found.objectCount == 1200 && !found.isUnreachable && found.unreadableKeys.isEmpty, "\(found)")
        #expect(recovery.notes.count == (isWithPairs ? 2 : 1) && !recovery.isComplete, "\(recovery.notes)")
        #expect(recovery.notes.first?.contains("ZBOOK") == true)
        #expect(try books(stack) == (0..<1200).map { "Book \($0) 1" }.sorted())
        #expect(try stack.bytes() == damaged)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).allSatisfy {
                !$0.contains("recovering")
            })
    }

    @Test("what was deleted does not come back with the rows that nothing leads to")
    func deletedRowsStayDeleted() throws {
        let stack = try library(1200)
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: stack.url)
        try FileStack.story(coordinator) { context in
            let request = NSFetchRequest<Book>(entityName: "Book")
            for book in try context.fetch(request) where (Int(book.isbn ?? "") ?? 0) >= 400 { context.delete(book) }
            try context.save()
        }
        try coordinator.remove(store)
        try damage(stack, "name = 'ZBOOK'")
        let found = try #require(try recover(stack).entities.first { $0.name == "Book" })
        #expect(found.objectCount == 400)
        #expect(try books(stack) == (0..<400).map { "Book \($0) 1" }.sorted())
    }
}
