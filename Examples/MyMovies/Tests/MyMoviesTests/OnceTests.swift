import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// Forms that add something and are sent twice.
@Suite(.timeLimit(.minutes(2))) struct OnceTests {
    private func key(_ page: Answer) throws -> String {
        String(try #require(page.text.firstMatch(of: /name=once value="(\w+)"/)).output.1)
    }

    @Test func aFriendIsAddedOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let form = ["name": "Dewi", "once": try key(try await browser.get("/friends"))]
            for _ in 0..<2 { #expect(try await browser.submit("/friends", form).words.contains("Dewi is added. Undo")) }
            #expect(await server.app.movies.count("Friend") == 3)
        }
    }

    @Test func watchedIsCountedOnceForEachPage() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/movies/\(try await server.number(of: "Sunrise"))"
            let form = ["once": try key(try await browser.get(path))]
            for _ in 0..<2 {
                #expect(try await browser.submit("\(path)/watched", form).words.contains("Watched 1 time "))
            }
            let next = ["once": try key(try await browser.get(path))]
            #expect(try await browser.submit("\(path)/watched", next).words.contains("Watched 2 times"))
        }
    }

    @Test func aMovieThatIsBackIsTakenBackOnce() async throws {
        try await TestServer.run(.small) { server in
            let movie = try await server.number(of: "Metropolis")
            let step = await server.app.movies.live.lastStep
            for _ in 0..<2 { #expect(try await server.browser.post("/shared", ["i": "\(movie)"]).status == 303) }
            #expect(await server.app.movies.live.lastStep == step + 1)
        }
    }
}
