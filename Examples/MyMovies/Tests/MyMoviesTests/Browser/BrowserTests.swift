import Foundation
import LivePagesTesting
import Testing

@testable import MyMovies

/// Stories in a real browser.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct BrowserTests {
    @Test func whatIsLentInOneTabShowsInAnother() async throws {
        try await TestServer.run(.small) { server in
            let number = try await server.number(of: "Sunrise")
            try await Chrome.run { mine in
                try await Chrome.run { other in
                    try await other.go(server.address("/shared"))
                    try await other.waitFor("Amira 1 Metropolis (1927)")
                    try await mine.go(server.address("/movies"))
                    try await mine.click("#i\(number) a")
                    try await mine.waitFor("Watched not yet")
                    try await mine.click("a.beside")
                    try await mine.wait("document.querySelector('#title')?.value === 'Sunrise'")
                    #expect(try await mine.number("document.querySelector('#friend').offsetHeight") == 0)
                    try await mine.click("#shared")
                    try await mine.script("document.querySelector('#friend').selectedIndex = 2")
                    try await mine.click("button.main")
                    try await mine.waitFor("Sunrise is saved. Undo")
                    try await other.waitFor("Bela 1 Sunrise (1927)")
                    try await other.wait("document.title.startsWith('(2) ')")
                    // It comes back: a tap, which others see at once.
                    try await mine.go(server.address("/movies"))
                    try await mine.script("window.mark = 1")
                    try await other.click("#i\(number) button")
                    try await other.waitFor("Sunrise is back from Bela. Undo")
                    try await mine.waitFor("Not Shared 2 Sunrise (1927)")
                    try await mine.wait("window.mark === 1")
                    try await other.click("#flash button")
                    try await other.waitFor("Bela 1 Sunrise (1927)")
                    #expect(try await mine.complaints().isEmpty)
                    #expect(try await other.complaints().isEmpty)
                }
            }
        }
    }

    @Test func everythingWorksWithoutJavaScript() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(server.address("/movies"))
                try await chrome.click(".add")
                try await chrome.type("Nosferatu", into: "#title")
                try await chrome.click("#shared")
                try await chrome.click("button.main")
                try await chrome.waitFor("Choose the friend who has it.")
                try await chrome.click("#friend option:nth-child(3)")
                try await chrome.click("button.main")
                try await chrome.waitFor("Nosferatu is added.")
                try await chrome.waitFor("with Bela")
                try await chrome.click("a.beside")
                try await chrome.type(" forever", into: "#title")
                try await chrome.click("button[value=cancel]")
                try await chrome.waitFor("Watched not yet")
                #expect(try await chrome.text("h1") == "Nosferatu")
                try await chrome.go(server.address("/shared"))
                try await chrome.click("#list section:last-child button")
                try await chrome.waitFor("Nosferatu is back from Bela.")
                try await chrome.go(server.address("/friends"))
                try await chrome.type("Chiara\n", into: "#name")
                try await chrome.waitFor("Chiara is added.")
                try await chrome.click("#list li:first-child a")
                try await chrome.click(".end button")
                try await chrome.waitFor("Amira still has 1 movie of yours: Metropolis (1927).")
                try await chrome.go(server.address("/movies"))
                try await chrome.type("metro\n", into: "#q")
                try await chrome.waitFor("Found 1 movie")
                // None of this was the script's doing: it would listen for changes.
                #expect(await server.app.feed.subscriberCount == 0)
            }
        }
    }

    @Test func atADeskTheMovieStandsBesideTheList() async throws {
        try await TestServer.run(.small) { server in
            let number = try await server.number(of: "Sunrise")
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/movies"))
                try await chrome.script("window.mark = 1")
                try await chrome.click("#i\(number) a")
                try await chrome.wait("document.querySelector('#detail h1')?.textContent === 'Sunrise (1927)'")
                try await chrome.click("#detail .beside")
                try await chrome.wait("document.querySelector('#detail #title')")
                try await chrome.type(" Boulevard", into: "#title")
                try await chrome.click("#detail button.main")
                try await chrome.wait(
                    "document.querySelector('#detail h1')?.textContent === 'Sunrise Boulevard (1927)'")
                try await chrome.wait("document.querySelector('#i\(number)').textContent.includes('Boulevard')")
                try await chrome.click("#detail .beside")
                try await chrome.wait("document.querySelector('#detail #title')")
                try await chrome.click("#detail button[value=cancel]")
                try await chrome.wait("document.querySelector('#detail dl')")
                try await chrome.click("#detail .end button")
                try await chrome.wait("!document.querySelector('#detail') && !document.querySelector('#i\(number)')")
                try await chrome.press("z", with: Key.control)
                try await chrome.wait("document.querySelector('#i\(number)')")
                try await chrome.wait("window.mark === 1")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func keysAndSearch() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/movies"))
                try await chrome.press("/")
                try await chrome.press("s", "u", "n")
                try await chrome.waitFor("Found 1 movie")
                try await chrome.press(Key.escape)
                try await chrome.waitFor("Not Shared 2")
                try await chrome.press(Key.down, Key.delete)
                try await chrome.waitFor("Metropolis is deleted.")
                try await chrome.wait("!document.body.innerText.includes('Metropolis (')")
                try await chrome.press("z", with: Key.control)
                try await chrome.waitFor("Metropolis (1927)")
                try await chrome.press(Key.escape, "n")
                try await chrome.wait("location.pathname === '/movies/new'")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func deleteInTheListOfSharedMoviesTakesTheMovieBack() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/shared"))
                try await chrome.press(Key.down, Key.delete)
                try await chrome.waitFor("Metropolis is back from Amira.")
                try await chrome.waitFor("Everything is at home")
                #expect(await server.app.movies.count("Movie") == 3)
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aCoverIsChosenBeforeItIsSaved() async throws {
        try await TestServer.run(.small) { server in
            let file = server.folder.appendingPathComponent("cover.png")
            try TestPicture.png(width: 90, height: 120).write(to: file)
            let number = try await server.number(of: "Sunrise")
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/movies/\(number)/edit"))
                try await chrome.type(" again", into: "#title")
                try await chrome.type(file.path, into: "#cover")
                try await chrome.wait("document.querySelector('.photo img')?.naturalWidth === 90")
                try await chrome.wait("document.querySelector('#title').value === 'Sunrise again'")
                #expect(try await server.browser.get("/movies/\(number)/cover").status == 404)
                try await chrome.click("button.main")
                try await chrome.waitFor("Sunrise again is saved.")
                try await chrome.wait("document.querySelector('.cover').naturalWidth === 90")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }
}
