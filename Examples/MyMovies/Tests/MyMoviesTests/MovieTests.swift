import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// The lists of movies, and one movie, in a browser without JavaScript.
@Suite(.timeLimit(.minutes(2))) struct MovieTests {
    @Test func moviesShowInTwoSections() async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.get("/movies")
            #expect(
                page.words.contains(
                    "Shared 1 Metropolis (1927) DVD · Lent to Amira Not Shared 2 Sunrise (1927) DVD The General (1926) DVD"
                ), "\(page.words)")
            #expect(page.text.contains("<title>(1) Movies – MyMovies</title>"))
        }
    }

    @Test func aMovieTellsWhatItIsAndWhoHasIt() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/movies/\(try await server.number(of: "Metropolis"))"
            let page = try await browser.get(path)
            #expect(
                page.words.contains(
                    "Metropolis (1927) Year 1927 Format DVD Watched not yet Shared with Amira since 31 Jan 2026"),
                "\(page.words)")
            #expect(try await browser.submit("\(path)/watched").words.contains("Watched 1 time Shared"))
            let back = try await browser.submit("\(path)/back")
            #expect(back.words.contains("Shared no, it is at home"))
            #expect(back.words.contains("Metropolis is back from Amira. Undo"))
            let undone = try await browser.submit("/undo", ["back": path])
            #expect(undone.words.contains("Undone: Take Metropolis back. Redo"))
            #expect(undone.words.contains("with Amira since 31 Jan 2026"))
        }
    }

    @Test func whatIsSharedShowsByFriendAndATapTakesItBack() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/shared").words.contains("Amira 1 Metropolis (1927) since 31 Jan 2026"))
            let movie = try await server.number(of: "Metropolis")
            let page = try await browser.submit("/shared", ["i": "\(movie)"])
            #expect(page.words.contains("Everything is at home"))
            #expect(page.words.contains("Metropolis is back from Amira. Undo"))
            #expect(try await browser.get("/movies").words.contains("Not Shared 3 Metropolis"))
            #expect(try await browser.submit("/shared", ["i": "4711"]).words.contains("Another user has deleted this"))
        }
    }

    @Test func aMovieIsDeletedAndBroughtBackWithItsCover() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let number = try await server.number(of: "Metropolis")
            let picture = TestPicture.png(width: 300, height: 400)
            try await MainActor.run {
                let movies = server.app.movies
                try movies.perform("Cover") {
                    let cover = Cover(context: movies.view)
                    cover.data = picture
                    movies.movie(number)?.cover = cover
                }
            }
            #expect(try await browser.submit("/movies/\(number)/delete").words.contains("Metropolis is deleted. Undo"))
            #expect(try await browser.get("/movies/\(number)").status == 404)
            #expect(try await browser.get("/movies/\(number)/cover").status == 404)
            #expect(await server.app.movies.count("Cover") == 0)
            #expect(try await browser.submit("/undo").words.contains("Shared 1 Metropolis"))
            #expect(try await browser.get("/movies/\(number)/cover").body == picture)
            #expect(try await browser.get("/movies/\(number)").words.contains("with Amira"))
        }
    }

    @Test func searchFindsTitlesDescriptionsAndYears() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/movies?q=metro").words.contains("Found 1 movie Metropolis"))
            #expect(try await browser.get("/movies?q=1927").words.contains("Found 2 movies"))
            #expect(try await browser.get("/movies?q=zzz").words.contains("Add “zzz”"))
            #expect(try await browser.get("/movies/new?title=zzz").fields["title"] == "zzz")
        }
    }

    @Test func aNewStoreBeginsWithStarterDataOnce() async throws {
        try await TestServer.run { server in
            try await server.app.movies.fillOnFirstRun()
            let browser = try server.browser
            let page = try await browser.get("/movies")
            #expect(page.words.contains("Shared 2 Metropolis (1927) Blu-ray · Lent to Amira"))
            #expect(page.words.contains("Not Shared 6"))
            #expect(await server.app.movies.count("Friend") == 7)
            // What was deleted stays deleted.
            for number in 1...8 { _ = try await browser.post("/movies/\(number)/delete") }
            try await server.app.movies.fillOnFirstRun()
            #expect(try await browser.get("/movies").words.contains("No movies yet"))
        }
    }

    @Test func theDemoIsLarger() async throws {
        try await TestServer.run { server in
            try await server.app.movies.makeDemo()
            let movies = await server.app.movies
            #expect(await movies.count("Movie") == 60)
            #expect(await movies.count("Movie", "lent == YES AND lentToFriend == nil") == 0)
            #expect(await movies.count("Movie", "lent == NO AND lentToFriend != nil") == 0)
            #expect(await movies.count("Movie", "lent == YES") > 3)
        }
    }
}
