import CoreData
import CoreDataToolkit
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Backups, migrations and settings.
@Suite(.timeLimit(.minutes(2))) struct BackupTests {
    @Test func aBackupIsMadeRestoredAndDeleted() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/backups").words.contains("No backups yet"))
            #expect(try await browser.submit("/backups").words.contains("The backup is made."))
            let name = try #require(try await backups(of: server.store).first?.name)
            #expect(try await browser.submit("/items/1/delete").words.contains("is deleted."))
            let before = try await browser.get("/prepare")
            #expect(before.words.contains("Fridge 1 "))
            let question = try await browser.get("/backups/restore?name=\(name.percentEncoded)")
            #expect(question.words.contains("Restore this backup?"))
            let restored = try await browser.submit("/backups/restore", ["name": name])
            #expect(restored.words.contains("Fridge 2 Butter Dairy Milk Dairy"), "\(restored.words)")
            #expect(restored.words.contains("is restored."))
            // How it was before is a backup, too.
            #expect(try await backups(of: server.store).count == 2)
            // The app goes on with the restored store.
            #expect(try await browser.submit("/prepare", ["i": "1"]).words.contains("Undo"))
            #expect(try await browser.get("/backups/delete?name=\(name.percentEncoded)").words.contains("for good?"))
            #expect(
                try await browser.submit("/backups/delete", ["name": name]).words.contains("The backup is deleted."))
            #expect(try await backups(of: server.store).count == 1)
        }
    }

    @Test(arguments: ["", "..", "../Test", "/etc/passwd", "nothing"])
    func whatIsNoBackupIsNeitherRestoredNorDeleted(_ name: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for path in ["/backups/restore", "/backups/delete"] {
                #expect(try await browser.submit(path, ["name": name]).words.contains("There is no such backup"))
            }
            #expect(FileManager.default.fileExists(atPath: server.store.path))
            #expect(try await browser.get("/prepare").words.contains("Fridge 2 Butter"))
        }
    }

    @Test func storesInOneFolderHaveBackupsOfTheirOwn() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.submit("/backups").words.contains("The backup is made."))
            let name = try #require(try await backups(of: server.store).first?.name)
            let other = await TestServer.server(server.folder.appendingPathComponent("Other.sqlite"))
            try await other.open()
            try await TestServer.serve(other) { port in
                let elsewhere = TestBrowser(port: port)
                #expect(try await elsewhere.get("/backups").words.contains("No backups yet"))
                for path in ["/backups/restore", "/backups/delete"] {
                    let answer = try await elsewhere.submit(path, ["name": name])
                    #expect(answer.words.contains("There is no such backup"))
                }
            }
            #expect(try await backups(of: server.store).count == 1)
        }
    }

    @Test(arguments: [true, false]) func backupsOfEarlierVersionsAreFoundWhereTheyAreClear(_ isAlone: Bool) async throws
    {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let all = folder.appendingPathComponent("Backups")
        try FileManager.default.createDirectory(at: all, withIntermediateDirectories: true)
        let old = all.appendingPathComponent("2026-11-23-08.30.05-3f.zip")
        try Data("zip".utf8).write(to: old)
        let store = folder.appendingPathComponent("Test.sqlite")
        for file in isAlone ? [store] : [store, folder.appendingPathComponent("Other.sqlite")] {
            try Data().write(to: file)
        }
        Groceries.adoptBackups(of: store)
        #expect(try await backups(of: store).map(\.name) == (isAlone ? [old.lastPathComponent] : []))
        #expect(FileManager.default.fileExists(atPath: old.path) != isAlone)
    }

    @Test func noPageTellsWhereFilesLie() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        try makeStore(1, at: store)
        // The backup before the migration cannot be made: a file lies in its way.
        let backups = Groceries.backupFolder(of: store).folder
        try FileManager.default.createDirectory(
            at: backups.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: backups)
        let server = await TestServer.server(store)
        try await server.open()
        try await TestServer.serve(server) { port in
            let browser = TestBrowser(port: port)
            try await Polling.wait(for: "the migration to fail") {
                try await browser.get("/prepare").words.contains("That did not work")
            }
            var page = try await browser.get("/prepare")
            #expect(page.words.contains("Your list is as it was."))
            #expect(!page.text.contains(folder.lastPathComponent))
            // Without that file it goes on; with it again, the list of backups fails.
            try FileManager.default.removeItem(at: backups)
            _ = try await browser.post("/migration/again")
            try await Polling.wait(for: "the migration") { try await browser.get("/prepare").status == 200 }
            try FileManager.default.removeItem(at: backups)
            try Data().write(to: backups)
            page = try await browser.get("/backups")
            #expect(page.status == 500)
            #expect(page.words.contains("Something went wrong The server's log has the reason"))
            #expect(!page.text.contains(folder.lastPathComponent))
            #expect(!(try await browser.get("/settings").text.contains(folder.lastPathComponent)))
        }
    }

    private func backups(of store: URL) async throws -> [BackupInfo] {
        try await Groceries.backupFolder(of: store).list().sorted { $0.date > $1.date }
    }

    @Test func settingsTellOfTheStore() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/settings").words.contains("Item 3"))
            _ = try await browser.post("/prepare", ["i": "1"])
            let page = try await browser.get("/settings")
            #expect(page.words.contains("Undo: "))
            #expect(try await browser.submit("/undo", ["back": "/settings"]).words.contains("Redo: "))
        }
    }

    @Test(arguments: 1...7)
    func aStoreOfAnOlderVersionIsBroughtUpToDate(_ version: Int) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        try makeStore(version, at: store)
        #expect(try Versions.needMigration(at: store))
        let server = await TestServer.server(store)
        try await server.open()
        try await TestServer.serve(server) { port in
            let browser = TestBrowser(port: port)
            var page = try await browser.get("/prepare")
            while page.status == 503 {
                #expect(page.words.contains("Bringing your list up to date"))
                page = try await browser.get("/prepare")
            }
            #expect(page.words.contains("Milk"))
            let picture = try await browser.get("/items/1/photo")
            #expect(picture.body == TestPicture.png(width: 4, height: 4))
            let units = try await browser.get("/units").words
            if version > 1 { #expect(units.contains("litre"), "\(units)") }
            if version > 5 { #expect(page.words.contains("Fridge 1 Milk")) }
            // How it was is a backup.
            #expect(try await backups(of: store).first?.name.contains("before-version-8") == true)
        }
        #expect(try !Versions.needMigration(at: store))
    }

    /// A store as that version of the app made it.
    private func makeStore(_ version: Int, at url: URL) throws {
        try OldStore.make(version, at: url) { context in
            func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let milk = make(
                "Item", ["name": "Milk", "listed": true, "photoData": TestPicture.png(width: 4, height: 4)])
            switch version {
            case 1: break
            case 2: _ = make("Measurement", ["abc": "litre"])
            case 3: _ = make("Amount", ["xyz": "litre"])
            case 4: _ = make("Unit", ["name": "litre"])
            default: milk.setValue(make("Unit", ["name": "litre"]), forKey: "unit")
            }
            if version > 5 { milk.setValue(make("LocationAtHome", ["storedIn": "Fridge"]), forKey: "locationAtHome") }
        }
    }

    @Test func whatIsNoStoreIsSaid() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        try Data("no store".utf8).write(to: store)
        let server = await TestServer.server(store)
        await #expect(throws: (any Error).self) { try await server.open() }
    }
}
