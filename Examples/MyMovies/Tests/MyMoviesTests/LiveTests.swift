import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// What open pages are told.
@Suite(.timeLimit(.minutes(2))) struct LiveTests {
    private struct Patch: Decodable {
        struct Row: Decodable {
            let id: String
            let section: Int
            let html: String
        }
        let gone: [String]
        let goneSections: [Int]
        let rows: [Row]
    }

    private func events(_ browser: TestBrowser, _ list: String) async throws -> EventReader {
        let page = try await browser.get("/\(list)")
        return try browser.events(
            list, after: String(try #require(page.text.firstMatch(of: /data-at="([^"]+)"/)).output.1))
    }

    private func patch(_ reader: EventReader) async throws -> Patch {
        try JSONDecoder().decode(Patch.self, from: Data(try await reader.next("patch").data.utf8))
    }

    @Test func aMovieThatComesBackMovesToTheOtherSection() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let (movies, shared) = (try await events(browser, "movies"), try await events(browser, "shared"))
            let friends = try await events(browser, "friends")
            let number = try await server.number(of: "Metropolis")
            _ = try await browser.post("/shared", ["i": "\(number)"])
            let moved = try await patch(movies)
            #expect(moved.goneSections == [0])
            let row = try #require(moved.rows.first { $0.id == "i\(number)" })
            #expect(row.section == 0)
            #expect(!row.html.contains("Amira"))
            #expect(try await patch(shared).gone == ["i\(number)"])
            #expect(try await movies.next("parts").data.contains(#""title":0"#))
            #expect(try await patch(friends).rows.first?.html.contains("has") == false)
        }
    }

    @Test func aSessionIsHeardOfWhenItIsSaved() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let page = try await browser.get("/movies/\(try await server.number(of: "Sunrise"))/edit")
            let movies = try await events(browser, "movies")
            var form = page.fields
            form["title"] = "Dawn"
            _ = try await browser.post(page.action, form)
            #expect(try await patch(movies).rows.contains { $0.html.contains("Dawn (1927)") })
        }
    }

    @Test func namesOfFriendsShowAtOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let movies = try await events(browser, "movies")
            let path = "/friends/\(try await server.number(ofFriend: "Amira"))"
            _ = try await browser.post(path, ["name": "Amina", "was-name": "Amira"])
            #expect(try await patch(movies).rows.first?.html.contains("Lent to Amina") == true)
        }
    }

    @Test func whatAnotherProcessSavesShows() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let movies = try await events(browser, "movies")
            let other = try TestServer.otherProcess(store: server.store)
            defer { other.end() }
            let elsewhere = TestBrowser(port: try await other.port())
            let number = try await server.number(of: "Metropolis")
            #expect(try await elsewhere.post("/shared", ["i": "\(number)"]).status == 303)
            #expect(try await patch(movies).rows.contains { $0.id == "i\(number)" })
            #expect(try await browser.get("/movies").words.contains("Not Shared 3"))
        }
    }
}
