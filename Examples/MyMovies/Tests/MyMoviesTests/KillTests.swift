import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Synchronization
import Testing

@testable import MyMovies

/// The app is killed in the middle of what it does: it starts again with everything that it has answered, and nothing half done.
@Suite(.serialized, .timeLimit(.minutes(3))) struct KillTests {
    /// The numbers of what was answered before the app died.
    private final class Answered: Sendable {
        private let numbers = Mutex<[Int]>([])

        var all: [Int] { numbers.withLock { $0 } }

        func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Runs the app, kills it that many seconds after `work` began, and checks what it left.
    private func kill(
        after delay: Double,
        _ work: @escaping @Sendable (TestBrowser, @escaping @Sendable (Int) -> Void) async throws -> Void,
        check: @escaping @Sendable (App, TestBrowser, [Int]) async throws -> Void
    ) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        let program = try TestServer.otherProcess(store: store)
        let browser = TestBrowser(port: try await program.port())
        let answered = Answered()
        let working = Task { try await work(browser, answered.add) }
        // The moment of the kill is by chance: there is nothing to wait for.
        try await Task.sleep(for: .seconds(delay))
        program.kill()
        _ = await working.result
        let server = await TestServer.server(store)
        try await server.open()
        let app = try #require(await server.app)
        let numbers = answered.all
        try await TestServer.serve(server) { try await check(app, TestBrowser(port: $0), numbers) }
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: store).findings
        #expect(findings.filter { $0.severity == .error } == [], "killed after \(delay) s")
    }

    @Test(arguments: [0.1, 0.3, 0.6]) func inTheMiddleOfASave(_ delay: Double) async throws {
        try await kill(after: delay) { browser, answered in
            for number in 1... {
                let page = try await browser.get("/movies/new")
                var form = page.fields
                form["title"] = "Film \(number)"
                form["shared"] = "1"
                form["friend"] = "1"
                if try await browser.post(page.action, form).status == 303 { answered(number) }
            }
        } check: { app, browser, answered in
            // The last one may have been saved although its answer did not arrive.
            let more = await app.movies.count("Movie") - 8 - answered.count
            #expect(more == 0 || more == 1)
            let page = try await browser.get("/movies").words
            for number in answered { #expect(page.contains("Film \(number) Lent to Amira")) }
            #expect(await app.movies.count("Movie", "lent == YES AND lentToFriend == nil") == 0)
        }
    }

    @Test(arguments: [0.2, 0.5]) func inTheMiddleOfAnUpload(_ delay: Double) async throws {
        // Large enough to lie in a file of its own.
        let picture = TestPicture.png(width: 300, height: 200)
        try await kill(after: delay) { browser, answered in
            for number in 1...8 {
                let page = try await browser.get("/movies/\(number)/edit")
                if try await browser.upload(page.action, field: "cover", file: picture, with: page.fields).status == 303
                {
                    answered(number)
                }
            }
        } check: { app, browser, answered in
            for number in 1...8 {
                let cover = try await browser.get("/movies/\(number)/cover")
                if answered.contains(number) { #expect(cover.status == 200, "\(number)") }
                #expect(cover.status == 404 || cover.body == picture, "\(number)")
            }
            #expect(await app.movies.count("Cover", "movie == nil") == 0)
        }
    }
}
