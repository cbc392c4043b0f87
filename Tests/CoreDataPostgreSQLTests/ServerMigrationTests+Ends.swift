import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

// Programs that are killed while they migrate or copy, and what those after them find.
extension ServerMigrationTests {
    // MARK: Programs and servers that end

    /// A library of 9000 books in a file, which was made once.
    private static let manyBooks = Result {
        let folder = try Fixtures.temporaryFolder().appendingPathComponent("Library")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Library().fill(folder.appendingPathComponent("Store.sqlite"), .sqlite, "Book", count: 9000)
        return folder
    }

    /// A copy of the library of 9000 books, in a folder of its own.
    static func copyOfManyBooks() throws -> URL {
        let folder = try Fixtures.temporaryFolder()
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.copyItem(at: manyBooks.get(), to: folder)
        return folder.appendingPathComponent("Store.sqlite")
    }

    private static func worker(_ words: String...) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("PostgreSQLTransfers")
        process.arguments = words
        // A killed worker does not remove its temporary files: they go with those of this process.
        let folder = try Fixtures.temporaryFolder().path
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": folder]) { $1 }
        process.standardError = Pipe()
        try process.run()
        return process
    }

    static let ways = [
        "mapped": ["v1", "v2 upper"], "chain": ["v1", "v2 upper", "v3 upper"],
        "staged": ["v1", "v1 willed", "v2 willed", "v3 willed"],
    ]

    /// A program that migrates is killed at some moment, and another one goes on.
    @Test(arguments: Trials.some(of: ["mapped", "chain", "staged"]))
    func aProgramThatIsKilledLeavesAWholeStore(_ way: String) throws {
        let library = try Library()
        let asked = ProcessInfo.processInfo.environment["COREDATA_SERVER_STOPS"].flatMap(Int.init)
        let rounds = asked.map { Array(0..<$0) } ?? Trials.some(of: Array(0..<6))
        var seen: Set<String> = []
        for round in rounds {
            var numbers = SeededNumbers(seed: UInt64(18 + round))
            let url = try Self.url(round % 3 == 2 && PgBouncer.isInstalled ? "pooler" : "")
            try library.fill(url, .postgreSQL, "Book", count: 24)
            let process = try Self.worker("migrate", way, url.absoluteString)
            // The moment of the kill is by chance: there is nothing to wait for.
            Thread.sleep(forTimeInterval: Double(100 + numbers.below(1800)) / 1000)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let state = try #require(try library.state(of: url, .postgreSQL, count: 24))
            #expect(Self.ways[way]?.contains(state) == true, "\(state)")
            seen.insert(state)
            let next = try Self.worker("migrate", way, url.absoluteString)
            next.waitUntilExit()
            #expect(next.terminationStatus == 0)
            #expect(try library.state(of: url, .postgreSQL, count: 24) == Self.ways[way]?.last)
            // What the first one left is gone, if anything was made beside the store once more.
            let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
            defer { database.close() }
            let place = try database.takePlace(purpose: nil)
            try database.remove(place: place.name)
            place.hold?.release()
            #expect(try Self.leavings(of: url).isEmpty)
        }
        print("killed \(rounds.count) programs (\(way)): \(seen.sorted())")
    }

    // MARK: Copies

    @Test(arguments: Trials.some(of: ["server", "pooler", "file"])) func aCopyThatWasKilledIsGoneOnWith(
        _ target: String
    ) throws {
        let library = try Library()
        let file = try Self.copyOfManyBooks()
        let folder = file.deletingLastPathComponent()
        defer { try? FileManager.default.removeItem(at: folder) }
        let isFile = target == "file"
        let url = isFile ? folder.appendingPathComponent("Copy.sqlite") : try Self.url(target == "pooler" ? target : "")
        func leavings() throws -> [String] {
            guard isFile else { return try Self.leavings(of: url) }
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix(".migrating")
            }
        }
        let process = try Self.worker("copy", file.path, url.absoluteString, "5000")
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        // Nothing is at its place yet.
        #expect(try leavings().count == 1)
        #expect(try !StoreTools.isTaken(url))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[0])
        let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
        let made = try StoreCopy.run(store, of: coordinator, to: url, type: .sqlite) { _, _ in }
        #expect(made.foundCount >= 4096, "\(made.foundCount)")
        #expect(made.differences.isEmpty && made.objectCount == 9006)
        #expect(try library.state(of: url, isFile ? .sqlite : .postgreSQL, count: 9000) == "v1")
        #expect(try leavings().isEmpty)
    }

    /// Whoever makes a store where a copy is to be keeps it.
    @Test(arguments: Trials.some(of: ["server", "file"]))
    func aCopyDoesNotReplaceWhatHasComeMeanwhile(_ target: String) throws {
        let library = try Library()
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Store.sqlite")
        try library.fill(file, .sqlite, "Book", count: 24)
        let url = target == "file" ? folder.appendingPathComponent("Copy.sqlite") : try Self.url("")
        let type: NSPersistentStore.StoreType = target == "file" ? .sqlite : .postgreSQL
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[0])
        let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
        var made = false
        let error = #expect(throws: CocoaError.self) {
            try StoreCopy.run(store, of: coordinator, to: url, type: .sqlite) { done, _ in
                guard done > 0, !made else { return }
                made = true
                do { try library.fill(url, type, "Other", count: 24) } catch { Issue.record(error) }
            }
        }
        #expect(error?.code == .fileWriteFileExists, "\(String(describing: error))")
        #expect(try library.state(of: url, type, count: 24) == "v1 other")
    }

    @Test(arguments: Trials.some(of: ["source", "copy"])) func whatHasChangedMeanwhileIsCopiedAnew(
        _ changed: String
    ) throws {
        let url = try Self.url("")
        let library = try Library()
        let file = try Self.copyOfManyBooks()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        // In the midst of the links of the last portions.
        let process = try Self.worker("copy", file.path, url.absoluteString, "15000")
        process.waitUntilExit()
        let place = try #require(try Self.leavings(of: url).first)
        let connection = try Self.connect()
        defer { connection.close() }
        if changed == "source" {
            try library.open(file, .sqlite, 1) { context in
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("late", forKey: "name")
                try context.save()
                context.delete(tag)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
                request.predicate = NSPredicate(format: "name == %@", argumentArray: ["Author 0"])
                try context.fetch(request).first?.setValue("Author zero", forKey: "name")
                try context.save()
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).forEach { author in
                    if author.value(forKey: "name") as? String == "Author zero" {
                        author.setValue("Author 0", forKey: "name")
                    }
                }
                let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
                books.predicate = NSPredicate(format: "number == 8999")
                try context.fetch(books).first.map(context.delete)
                try context.save()
            }
        } else {
            try connection.execute(#"UPDATE "\#(place)"."Book" SET title = 'theirs' WHERE number = 3"#)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[0])
        let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
        let made = try StoreCopy.run(store, of: coordinator, to: url, type: .postgreSQL) { _, _ in }
        #expect(made.foundCount == 0 && made.differences.isEmpty)
        let count = changed == "source" ? 8999 : 9000
        #expect(try library.state(of: url, .postgreSQL, count: count) == "v1")
        #expect(try Self.leavings(of: url).isEmpty)
    }
}
