import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// Every page at two widths, in light and dark: fits, is accessible, and is kept as a picture.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct LookTests {
    private static let pages = [
        "/movies", "/movies?q=metro", "/movies/1", "/movies/1/edit", "/movies/new", "/shared", "/friends", "/friends/1",
        "/nothing",
    ]

    private func look(_ chrome: Chrome, _ page: String, _ screen: Chrome.Screen) async throws {
        let faults = try await chrome.faults("movies-\(page)-\(screen)")
        #expect(faults == [])
    }

    @Test(arguments: Chrome.Screen.some)
    func everyPageFitsAndIsAccessible(_ screen: Chrome.Screen) async throws {
        try await TestServer.run { server in
            try await server.app.movies.fillOnFirstRun()
            try await giveCovers(server)
            try await Chrome.run(screen) { chrome in
                for path in Self.pages {
                    try await chrome.go(server.address(path))
                    let name = path.dropFirst().replacing("/", with: "-").replacing("movies?q=metro", with: "search")
                    try await look(chrome, String(name), screen)
                }
            }
        }
    }

    @Test(arguments: Chrome.Screen.phoneOrDesk)
    func soAreMessagesAndEmptyPages(_ screen: Chrome.Screen) async throws {
        try await TestServer.run { server in
            try await Chrome.run(screen) { chrome in
                for path in ["/movies", "/shared", "/friends", "/movies?q=none"] {
                    try await chrome.go(server.address(path))
                    try await look(chrome, "empty-\(path.dropFirst().replacing("?q=none", with: "-search"))", screen)
                }
                try await server.app.movies.fillSmall()
                try await chrome.go(server.address("/friends/\(try await server.number(ofFriend: "Amira"))"))
                try await chrome.click(".end button")
                try await chrome.waitFor("still has")
                try await look(chrome, "denied", screen)
                try await chrome.go(server.address("/movies/new"))
                try await chrome.type("x", into: "#title")
                try await chrome.click("#shared")
                try await chrome.click("button.main")
                try await chrome.waitFor("Choose the friend")
                try await look(chrome, "problems", screen)
                let number = try await server.number(of: "Sunrise")
                try await chrome.go(server.address("/movies/\(number)/edit"))
                try await chrome.type(" mine", into: "#title")
                let other = try server.browser
                let edit = try await other.get("/movies/\(number)/edit")
                _ = try await other.submit(edit.action, edit.fields.merging(["title": "Sunset"]) { $1 })
                try await chrome.click("button.main")
                try await chrome.waitFor("Theirs: Sunset")
                try await look(chrome, "conflict", screen)
            }
        }
    }

    /// What the app's README shows: `make pictures-web` takes these.
    @Test func picturesForTheReadme() async throws {
        try await TestServer.run { server in
            try await server.app.movies.fillOnFirstRun()
            try await giveCovers(server)
            try await Chrome.run(.phone) { chrome in
                try await chrome.go(server.address("/movies"))
                try await chrome.picture("mymovies-list")
            }
            try await Chrome.run(Chrome.Screen(isDark: true)) { chrome in
                try await chrome.go(server.address("/movies/1/edit"))
                try await chrome.wait(
                    "document.querySelector('.photo img')?.naturalWidth || !\(Pictures.scaler != nil)")
                try await chrome.picture("mymovies-edit")
            }
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/movies"))
                try await chrome.click("#i1 a")
                try await chrome.wait("document.querySelector('#detail dl')")
                try await chrome.wait("[...document.images].every(i => i.complete)")
                try await chrome.picture("mymovies-desk")
            }
        }
    }

    private func giveCovers(_ server: TestServer) async throws {
        guard Pictures.scaler != nil else { return }
        let browser = try server.browser
        for movie in 1...4 {
            let picture = TestPicture.png(width: 180 + 20 * movie, height: 270)
            let edit = try await browser.get("/movies/\(movie)/edit")
            let answer = try await browser.upload(edit.action, field: "cover", file: picture, with: edit.fields)
            #expect(answer.status == 303)
        }
    }
}
