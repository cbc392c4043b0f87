import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// The editor of movies: each session has a child context.
@Suite(.timeLimit(.minutes(2))) struct EditTests {
    @Test func aNewMovieGetsWhatWasTyped() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let page = try await browser.get("/movies/new")
            var form = page.fields
            form["title"] = " Nosferatu "
            form["year"] = "1922"
            form["format"] = "VHS"
            form["description"] = "A guest\r\nfrom far away"
            form["shared"] = "1"
            form["friend"] = String(try await server.number(ofFriend: "Bela"))
            form["date"] = "2026-11-03"
            let saved = try await browser.submit(page.action, form)
            #expect(saved.words.contains("Nosferatu is added. Undo"), "\(saved.words)")
            #expect(
                saved.words.contains(
                    "Nosferatu (1922) Year 1922 Format VHS Watched not yet Shared with Bela since 3 Nov 2026")
            )
            #expect(saved.text.contains("<p class=text>A guest\nfrom far away</p>"))
            #expect(try await browser.get("/movies").words.contains("Shared 2 Metropolis"))
            #expect(try await browser.submit("/undo").words.contains("Undone: Add Nosferatu."))
            #expect(await server.app.movies.count("Movie") == 3)
        }
    }

    @Test func nothingOfASessionIsSeenBeforeItIsSavedAndCancelRollsBack() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/movies/\(try await server.number(of: "Sunrise"))"
            let page = try await browser.get("\(path)/edit")
            let picture = TestPicture.png(width: 60, height: 80)
            let token = try await browser.token()
            var form = page.fields
            form["title"] = "Changed"
            let answer = try await browser.upload(
                page.action, field: "cover", file: picture, with: form + ["do": "cover"])
            #expect(answer.status == 303, "\(answer.words)")
            let again = try await browser.get(page.action)
            #expect(again.fields["title"] == "Changed")
            #expect(again.text.contains("alt=\"Cover of Changed\""))
            #expect(try await browser.get("\(page.action)/cover").body == picture)
            // Others see nothing of it, nor does another browser see the session.
            #expect(try await server.browser.get(path).words.contains("Sunrise (1927)"))
            #expect(try await server.browser.get("\(path)/cover").status == 404)
            #expect(try await server.browser.get(page.action).status == 404)
            #expect(try await server.browser.get("\(page.action)/cover").status == 404)
            #expect(await server.app.movies.view.hasChanges == false)
            let cancelled = try await browser.submit(page.action, again.fields + ["do": "cancel", "token": token])
            #expect(cancelled.words.contains("Sunrise (1927)"))
            #expect(try await browser.get(page.action).status == 404)
            #expect(await server.app.sessions.count == 0)
            #expect(await server.app.movies.count("Cover") == 0)
        }
    }

    @Test(.enabled(if: Pictures.scaler != nil, "there is no program that makes small pictures"))
    func aCoverIsSavedWithTheRestAndRemoved() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let number = try await server.number(of: "Sunrise")
            let picture = TestPicture.png(width: 300, height: 400)
            var page = try await browser.get("/movies/\(number)/edit")
            #expect(
                try await browser.upload(page.action, field: "cover", file: picture, with: page.fields).status == 303)
            #expect(try await browser.get("/movies/\(number)/cover").body == picture)
            #expect(try await browser.get("/movies/\(number)/thumbnail").header("Content-Type") == "image/png")
            #expect(
                try await browser.get("/movies").text.contains("<img class=poster src=\"/movies/\(number)/thumbnail?v=")
            )
            page = try await browser.get("/movies/\(number)/edit")
            #expect(
                try await browser.submit(page.action, page.fields + ["do": "remove"]).words.contains("Add a picture"))
            #expect(try await browser.get("/movies/\(number)/cover").status == 200)
            #expect(try await browser.submit(page.action, page.fields).words.contains("Sunrise is saved."))
            #expect(try await browser.get("/movies/\(number)/cover").status == 404)
            #expect(await server.app.movies.count("Cover") == 0)
        }
    }

    @Test(arguments: [
        ("title", "  ", "Type a title."), ("title", String(repeating: "x", count: 101), "too long"),
        ("year", "1700", "Choose a year"), ("year", "soon", "Choose a year"), ("friend", "", "Choose the friend"),
        ("friend", "99", "deleted this friend"), ("date", "2026-02-30", "Choose the day"),
        ("date", "", "Choose the day"), ("date", "9999-12-31", "in the future"),
        ("date", "01/02/2026", "Choose the day"), ("description", String(repeating: "y", count: 2001), "too long"),
    ])
    func whatIsWrongStandsBesideTheField(_ field: String, _ value: String, _ message: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let page = try await browser.get("/movies/new")
            let friend = String(try await server.number(ofFriend: "Bela"))
            var form = page.fields + ["title": "Oats", "shared": "1", "friend": friend, "date": "2026-11-03"]
            form[field] = value
            let answer = try await browser.post(page.action, form)
            #expect(answer.status == 422)
            #expect(answer.words.contains(message))
            #expect(answer.text.contains("aria-describedby=\"\(field)-problem\""))
            #expect(await server.app.movies.count("Movie") == 3)
            // Put right, it is saved by the same session.
            form[field] = page.fields[field] ?? ""
            form["title"] = "Oats"
            form["friend"] = friend
            form["date"] = "2026-11-03"
            #expect(try await browser.submit(page.action, form).words.contains("Oats is added."))
        }
    }

    @Test func bothChangedIsShownAndOneTapTakesTheirs() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let path = "/movies/\(try await server.number(of: "Sunrise"))"
            let my = try await mine.get("\(path)/edit")
            let their = try await theirs.get("\(path)/edit")
            let other = their.fields + ["title": "Sunset", "year": "1950"]
            #expect(try await theirs.submit(their.action, other).words.contains("Sunset is saved."))
            let conflict = try await mine.post(my.action, my.fields + ["title": "Sundown", "format": "4K"])
            #expect(conflict.status == 409)
            #expect(conflict.words.contains("Theirs: Sunset Yours: Sundown Take theirs"))
            // What only they changed is no conflict.
            #expect(!conflict.words.contains("Theirs: 1950"))
            let taken = try await mine.submit(my.action, conflict.fields + ["take": "title"])
            #expect(taken.words.contains("Sunset (1950) Year 1950 Format 4K"), "\(taken.words)")
        }
    }

    @Test func savingAgainKeepsMine() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let path = "/movies/\(try await server.number(of: "Sunrise"))"
            let my = try await mine.get("\(path)/edit")
            let their = try await theirs.get("\(path)/edit")
            _ = try await theirs.submit(their.action, their.fields + ["title": "Sunset", "year": "1950"])
            let conflict = try await mine.post(my.action, my.fields + ["title": "Sundown"])
            let saved = try await mine.submit(my.action, conflict.fields)
            // What I did not touch is theirs.
            #expect(saved.words.contains("Sundown (1950)"), "\(saved.words)")
        }
    }

    @Test func aDeletedObjectCanBeMadeAnew() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let number = try await server.number(of: "Sunrise")
            let page = try await browser.get("/movies/\(number)/edit")
            #expect(try await server.browser.submit("/movies/\(number)/delete").status == 200)
            let gone = try await browser.post(page.action, page.fields + ["year": "1928"])
            #expect(gone.status == 410)
            #expect(gone.words.contains("Save to make it anew"))
            let again = try await browser.submit(gone.action, gone.fields)
            #expect(again.words.contains("Sunrise (1928)"), "\(again.words)")
            #expect(await server.app.movies.count("Movie") == 3)
        }
    }

    @Test func aFormThatIsSentTwiceIsSavedOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let page = try await browser.get("/movies/new")
            let form = page.fields + ["title": "Once"]
            #expect(try await browser.submit(page.action, form).words.contains("Once is added."))
            #expect(try await browser.submit(page.action, form).words.contains("Watched not yet"))
            #expect(await server.app.movies.count("Movie", "title == 'Once'") == 1)
        }
    }

    @Test func aSessionThatIsGoneGoesOnFromWhatWasTyped() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let number = try await server.number(of: "Sunrise")
            let edit = try await browser.get("/movies/\(number)/edit")
            let new = try await browser.get("/movies/new")
            // As after a restart of the server.
            await server.app.sessions.endAll()
            let saved = try await browser.submit(edit.action, edit.fields + ["title": "Dawn"])
            #expect(saved.words.contains("Dawn is saved."))
            #expect(try await browser.submit(new.action, new.fields + ["title": "New"]).words.contains("New is added."))
            #expect(await server.app.movies.count("Movie") == 4)
        }
    }

    @Test func aPageThatShowsTheEditorOpensNoSession() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for path in ["/movies/new", "/movies/1/edit"] {
                let page = try await browser.get(path)
                #expect(await server.app.sessions.count == 0)
                // Neither does a form that carries all that was changed.
                #expect(try await browser.post(page.action, page.fields + ["title": ""]).status == 422)
                #expect(await server.app.sessions.count == 0)
                _ = try await browser.post(page.action, page.fields + ["do": "remove"])
                #expect(await server.app.sessions.count == 1)
                _ = try await browser.post(page.action, page.fields + ["do": "cancel"])
                #expect(await server.app.sessions.count == 0)
            }
        }
    }

    @Test func aBrowserEndsItsOwnIdleSessionsAlone() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            func open(_ browser: TestBrowser) async throws -> String {
                let page = try await browser.get("/movies/1/edit")
                #expect(try await browser.post(page.action, page.fields + ["do": "remove"]).status == 303)
                return page.action
            }
            let my = try await open(mine)
            let first = try await open(theirs)
            let second = try await open(theirs)
            for _ in 2..<EditSessions.mostOfBrowser { _ = try await open(theirs) }
            #expect(await server.app.sessions.count == EditSessions.mostOfBrowser + 1)
            // The session that was used last of all is not idle.
            #expect(try await theirs.get(first).status == 200)
            _ = try await open(theirs)
            #expect(try await theirs.get(first).status == 200)
            #expect(try await theirs.get(second).status == 404)
            #expect(try await mine.get(my).status == 200)
            // After a time, idle sessions of all browsers end.
            await MainActor.run { server.app.sessions.longestIdle = .zero }
            let last = try await open(theirs)
            #expect(await server.app.sessions.count == 1)
            #expect(try await theirs.get(last).status == 200)
        }
    }

    @Test func unsavedCoversDoNotFillTheMemory() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let picture = TestPicture.png(width: 60, height: 60)
            let size = picture.count
            func upload(_ browser: TestBrowser) async throws -> (action: String, answer: Answer) {
                let page = try await browser.get("/movies/new")
                let form = page.fields + ["title": "Nosferatu", "do": "cover"]
                return (page.action, try await browser.upload(page.action, field: "cover", file: picture, with: form))
            }
            await MainActor.run {
                server.app.sessions.mostBytesOfBrowser = 2 * size
                server.app.sessions.mostBytes = 3 * size
            }
            let my = try await upload(mine).action
            for _ in 0..<3 { #expect(try await upload(theirs).answer.status == 303) }
            #expect(await server.app.sessions.count == 3)
            #expect(try await mine.get(my).status == 200)
            // Others have the rest: what was typed is kept, without the cover.
            let refused = try await upload(try server.browser).answer
            #expect(refused.status == 503)
            #expect(refused.words.contains("Too many covers wait to be saved"))
            #expect(refused.fields["title"] == "Nosferatu")
            #expect(try await mine.get(my).status == 200)
        }
    }
}

private func + (a: [String: String], b: [String: String]) -> [String: String] { a.merging(b) { $1 } }
