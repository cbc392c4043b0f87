import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Synchronization
import Testing

@testable import GroceryDude

/// The app is killed in the middle of what it does: it starts again with everything that it has answered, and nothing half done.
@Suite(.serialized, .timeLimit(.minutes(3))) struct KillTests {
    /// What was answered before the app died.
    private final class Answered: Sendable {
        private let numbers = Mutex<[Int]>([])

        var all: [Int] { numbers.withLock { $0 } }

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Runs the app, kills it that many seconds after `work` began, and checks what it left.
    private func kill(
        after delay: Double, prepare: (URL) async throws -> Void = { _ in },
        _ work: @escaping @Sendable (TestBrowser, Answered) async throws -> Void,
        check: @escaping @Sendable (TestServer.Reopened, [Int]) async throws -> Void
    ) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        try await prepare(store)
        let app = try TestServer.otherProcess(store: store)
        let browser = TestBrowser(port: try await app.port())
        let answered = Answered()
        let working = Task { try await work(browser, answered) }
        // The moment of the kill is by chance: there is nothing to wait for.
        try await Task.sleep(for: .seconds(delay))
        app.kill()
        _ = await working.result
        try await TestServer.reopen(store) { try await check($0, answered.all) }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!left.contains { $0.hasPrefix(".migrating-") || $0.contains(".restoring-") }, "\(left)")
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: store).findings
        #expect(findings.filter { $0.severity == .error } == [], "killed after \(delay) s")
    }

    @Test(arguments: DailyPart.half(of: [0.1, 0.25, 0.4, 0.6])) func inTheMiddleOfASave(_ delay: Double) async throws {
        try await kill(after: delay) { browser, answered async throws in
            for number in 1... {
                let answer = try await browser.post(
                    "/items",
                    ["name": "Item \(number)", "quantity": "2", "unit": "new", "new-unit": "Unit \(number)"])
                if answer.status == 303 { answered.add(number) }
            }
        } check: { server, answered async throws in
            let items = try await server.browser.get("/prepare").words
            // The last one may have been saved although its answer did not arrive.
            let next = (answered.last ?? 0) + 1
            #expect(try await server.count("Item") - answered.count == (items.contains("Item \(next) ") ? 1 : 0))
            #expect(try await server.count("Unit") == (try await server.count("Item")))
            for number in answered { #expect(items.contains("Item \(number) 2 Unit \(number)")) }
            #expect(!items.contains("2 Unit \(next + 1)"))
        }
    }

    @Test(arguments: DailyPart.half(of: [0.1, 0.3, 0.5])) func inTheMiddleOfAnUpload(_ delay: Double) async throws {
        // Large enough to lie in a file of its own.
        let pictures = (0..<2).map { TestPicture.png(width: 300 + $0, height: 200) }
        try await kill(after: delay) { store in
            try await TestServer.reopen(store) { server in
                for _ in 0..<40 { _ = try await server.browser.submit("/items", ["name": "x", "quantity": "1"]) }
            }
        } _: { browser, answered async throws in
            for number in 1...40 {
                let answer = try await browser.upload(
                    "/items/\(number)/photo", field: "photo", file: pictures[number % 2])
                if answer.status == 303 { answered.add(number) }
            }
        } check: { server, answered async throws in
            for number in 1...40 {
                let picture = try await server.browser.get("/items/\(number)/photo")
                if answered.contains(number) { #expect(picture.status == 200, "\(number)") }
                #expect(picture.status == 404 || picture.body == pictures[number % 2], "\(number)")
            }
        }
    }

    @Test(arguments: DailyPart.half(of: [0.02, 0.2, 0.5, 1])) func inTheMiddleOfAMigration(_ delay: Double) async throws
    {
        let picture = TestPicture.png(width: 8, height: 8)
        try await kill(after: delay) { store in
            try OldStore.make(1, at: store) { context in
                for number in 1...300 {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue("Item \(number)", forKey: "name")
                    item.setValue(picture, forKey: "photoData")
                }
            }
        } _: { browser, _ async throws in
            while true { _ = try await browser.get("/prepare") }
        } check: { server, _ async throws in
            #expect(try await server.count("Item") == 300)
            #expect(try await server.count("Item_Photo") == 300)
            for number in [1, 150, 300] {
                #expect(try await server.browser.get("/items/\(number)/photo").body == picture)
            }
        }
    }

    @Test(arguments: DailyPart.half(of: [0.05, 0.15, 0.3, 0.6])) func inTheMiddleOfARestore(
        _ delay: Double
    ) async throws {
        let picture = TestPicture.png(width: 300, height: 200)
        try await kill(after: delay) { store in
            try await TestServer.reopen(store) { server in
                let browser = server.browser
                _ = try await browser.submit("/settings/default-data")
                for number in 1...5 {
                    _ = try await browser.upload("/items/\(number)/photo", field: "photo", file: picture)
                }
                _ = try await browser.submit("/backups")
                for number in 1...20 { _ = try await browser.submit("/items/\(number)/delete") }
            }
        } _: { browser, answered async throws in
            let page = try await browser.get("/backups").text
            let name = try #require(page.firstMatch(of: /restore\?name=([^"]+)"/)).output.1
            let answer = try await browser.post(
                "/backups/restore", ["name": String(name).removingPercentEncoding ?? ""])
            if answer.status == 303 { answered.add(1) }
        } check: { server, answered async throws in
            let count = try await server.count("Item")
            #expect(count == 377 || answered.isEmpty && count == 357)
            for number in 1...5 {
                let answer = try await server.browser.get("/items/\(number)/photo")
                #expect(count == 377 ? answer.body == picture : answer.status == 404, "\(number) of \(count)")
            }
        }
    }
}

extension AppServer where App == GroceryDude.App {
    /// The app on a store that was there, in this process.
    struct Reopened: Sendable {
        let server: WebServer<App>
        let browser: TestBrowser

        @MainActor func count(_ entity: String) throws -> Int {
            try #require(server.app).groceries.count(entity)
        }
    }

    /// Opens a store, migrates it where that is due, and runs the test.
    static func reopen(_ store: URL, _ test: @escaping @Sendable (Reopened) async throws -> Void) async throws {
        let server = await server(store)
        try await server.open()
        try await serve(server) { port in
            let browser = TestBrowser(port: port)
            try await Polling.wait(for: "the store to open") { try await browser.get("/prepare").status != 503 }
            try await test(Reopened(server: server, browser: browser))
        }
    }
}

/// Stores as earlier versions of the app made them.
enum OldStore {
    static func make(_ version: Int, at url: URL, _ fill: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Versions.model(version))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try fill(context)
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
