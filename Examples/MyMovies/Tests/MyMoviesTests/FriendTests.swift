import Foundation
import LivePagesTesting
import Testing

@testable import MyMovies

/// Friends.
@Suite(.timeLimit(.minutes(2))) struct FriendTests {
    @Test func addChangeDelete() async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            #expect(try await browser.get("/friends").words.contains("No friends yet"))
            #expect(try await browser.submit("/friends", ["name": " Dewi "]).words.contains("Dewi is added. Undo"))
            let path = "/friends/\(try await server.number(ofFriend: "Dewi"))"
            let form = ["name": "Dewi", "was-name": "Dewi", "email": "dewi@example.com", "was-email": ""]
            #expect(try await browser.submit(path, form).words.contains("Dewi is saved. Undo"))
            #expect(try await browser.get(path).text.contains("value=\"dewi@example.com\""))
            #expect(try await browser.submit("\(path)/delete").words.contains("Dewi is deleted. Undo"))
            #expect(try await browser.get(path).status == 404)
            #expect(try await browser.submit("/undo", ["back": path]).words.contains("Undone: Delete Dewi."))
        }
    }

    @Test func whoHasMoviesIsNotDeletedAndTheReasonIsSaid() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/friends/\(try await server.number(ofFriend: "Amira"))"
            let movie = try await server.number(of: "Metropolis")
            let denied = try await browser.post("\(path)/delete")
            #expect(denied.status == 409)
            #expect(
                denied.words.contains(
                    "Amira still has 1 movie of yours: Metropolis (1927) . Take it back first, then Amira can be deleted."
                ),
                "\(denied.words)")
            #expect(denied.text.contains("<a href=/movies/\(movie)>Metropolis (1927)</a>"))
            #expect(try await browser.get(path).words.contains("Has 1 movie Metropolis (1927) since 31 Jan 2026"))
            _ = try await browser.submit("/movies/\(movie)/back")
            #expect(try await browser.submit("\(path)/delete").words.contains("Amira is deleted."))
        }
    }

    @Test(arguments: [
        ("name", "", "Type a name."), ("name", String(repeating: "x", count: 101), "too long"),
        ("email", "nobody", "Type an address"), ("email", "a@b@c", "Type an address"),
        ("email", "a b@c", "Type an address"),
    ])
    func whatIsWrongIsSaid(_ field: String, _ value: String, _ message: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            var form = ["name": "Bela", "email": ""]
            form[field] = value
            let page = try await browser.post("/friends/\(try await server.number(ofFriend: "Bela"))", form)
            #expect(page.status == 422)
            #expect(page.words.contains(message))
            #expect(try await browser.post("/friends", form).status == 422)
        }
    }

    @Test func bothChangedIsShown() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/friends/\(try await server.number(ofFriend: "Bela"))"
            let form = ["name": "Ben", "was-name": "Bella", "email": "", "was-email": ""]
            let conflict = try await browser.post(path, form)
            #expect(conflict.status == 409)
            #expect(conflict.words.contains("Theirs: Bela Yours: Ben Take theirs"))
            #expect(try await browser.submit(path, form.merging(["take": "name"]) { $1 }).status == 200)
            #expect(try await browser.get("/friends").words.contains("Bela"))
        }
    }

    @Test func aNewNameShowsWhereMoviesDo() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/friends/\(try await server.number(ofFriend: "Amira"))"
            _ = try await browser.submit(path, ["name": "Amina", "was-name": "Amira"])
            #expect(try await browser.get("/movies").words.contains("Lent to Amina"))
            #expect(try await browser.get("/shared").words.contains("Amina 1 Metropolis"))
        }
    }
}
