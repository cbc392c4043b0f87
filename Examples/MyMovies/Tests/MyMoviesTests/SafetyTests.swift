import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import MyMovies

/// Requests that an attacker might send.
@Suite(.timeLimit(.minutes(2))) struct SafetyTests {
    private static let nasty = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)></textarea>"

    @Test func nothingThatIsStoredBecomesMarkup() async throws {
        try await TestServer.run(
            Filling { movies in
                try movies.perform("Fill") {
                    let movie = Movie(context: movies.view)
                    movie.lent = true
                    movie.lentToFriend = Friend(context: movies.view)
                    movie.cover = Cover(context: movies.view)
                    // Every attribute of every entity that can have text, or bytes that say the same.
                    for object in movies.view.insertedObjects {
                        for (name, attribute) in object.entity.attributesByName {
                            switch attribute.attributeType {
                            case .stringAttributeType: object.setValue(Self.nasty, forKey: name)
                            case .binaryDataAttributeType: object.setValue(Data(Self.nasty.utf8), forKey: name)
                            default: break
                            }
                        }
                    }
                }
            }
        ) { server in
            let browser = try server.browser
            let search = Self.nasty.percentEncoded
            for path in [
                "/movies", "/movies?q=\(search)", "/movies?q=x\(search)", "/movies/1", "/movies/1/edit",
                "/movies/new?title=\(search)", "/shared", "/friends", "/friends/1", "/edits/\(search)", "/\(search)",
            ] {
                check(try await browser.get(path), path)
            }
            // What is no picture is not sent as one, let alone as a page.
            for path in ["/movies/1/cover", "/movies/1/thumbnail"] {
                #expect(try await browser.get(path).status == 404)
            }
            check(try await browser.post("/friends/1/delete"), "denied")
            check(try await browser.post("/friends", ["name": Self.nasty, "email": Self.nasty]), "problem")
            check(try await browser.post("/friends/1", ["name": Self.nasty + "2", "was-name": "before"]), "conflict")
            let edit = try await browser.get("/movies/1/edit")
            let form = [
                "title": Self.nasty + "2", "was-title": "before", "year": Self.nasty, "format": Self.nasty,
                "description": Self.nasty + "3", "was-description": "x", "shared": "1", "friend": Self.nasty,
                "date": Self.nasty, "movie": "1",
            ]
            let conflict = try await browser.post(edit.action, form)
            #expect(conflict.status == 409)
            check(conflict, "conflict")
            check(try await browser.post("/edits/\(search)", form), "another editor")
            check(try await browser.post("/edits/x", ["movie": "99", "title": Self.nasty]), "gone")
            check(try await browser.submit("/movies/1/back"), "message")
            check(try await browser.submit("/undo"), "undone")
        }
    }

    private func check(_ answer: Answer, _ what: String) {
        #expect(!answer.text.contains("<script>"), "\(what)")
        #expect(!answer.text.contains("<img src=x"), "\(what)")
        #expect(!answer.text.contains("\"'&<"), "\(what)")
        #expect(answer.header("Content-Security-Policy")?.contains("default-src 'none'") == true, "\(what)")
        #expect(answer.header("Content-Security-Policy")?.contains("unsafe") == false)
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
    }

    @Test func noPageHasInlineScriptOrStyle() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for path in ["/movies", "/movies/1", "/movies/1/edit", "/movies/new", "/shared", "/friends", "/friends/1"] {
                let text = try await browser.get(path).text
                #expect(
                    text.firstMatch(of: /<script>|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//) == nil, "\(path)")
            }
        }
    }

    @Test(arguments: [
        "/movies/1/delete", "/movies/1/back", "/shared", "/friends", "/friends/1/delete", "/edits/x", "/undo",
    ])
    func aFormNeedsItsToken(_ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await browser.token()
            let form = ["i": "1", "name": "x", "title": "x"]
            for token in ["", String(repeating: "0", count: 32), own + "0"] {
                #expect(try await browser.post(path, form.merging(["token": token]) { $1 }).status == 403)
            }
            // A token that a page of another site knows.
            let other = try await server.browser.token()
            #expect(try await browser.post(path, form.merging(["token": other]) { $1 }).status == 403)
            #expect(try await browser.post(path, form, ["Origin": "http://evil.example"]).status == 403)
            #expect(try await browser.post(path, form, ["Sec-Fetch-Site": "cross-site"]).status == 403)
            #expect(await server.app.movies.count("Movie") == 3)
            #expect(await server.app.movies.count("Friend") == 2)
        }
    }

    @Test(arguments: [
        (Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8), "That is no picture"),
        (Data("GIF".utf8), "That is no picture"), (Data(), "Choose a picture first."),
        (Data("\u{89}PNG\r\n".utf8), "That is no picture"),
    ])
    func whatIsNoPictureIsRefused(_ file: Data, _ message: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let edit = try await browser.get("/movies/1/edit")
            let page = try await browser.upload(
                edit.action, field: "cover", file: file, with: edit.fields.merging(["do": "cover"]) { $1 })
            #expect(page.status == 422)
            #expect(page.words.contains(message))
            // What was typed is still there.
            #expect(page.fields["title"] == edit.fields["title"])
            #expect(try await browser.get("\(edit.action)/cover").status == 404)
        }
    }

    @Test func aLargeUploadIsRefused() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let edit = try await browser.get("/movies/1/edit")
            let file = Data([0xFF, 0xD8, 0xFF]) + Data(count: Pictures.largest + 100_000)
            #expect(try await browser.upload(edit.action, field: "cover", file: file).status == 413)
            #expect(try await browser.post("/friends", ["name": String(repeating: "x", count: 70_000)]).status == 413)
        }
    }

    @Test(arguments: [
        "/../../etc/passwd", "/movies/0", "/movies/-1", "/movies/x", "/movies/99999999999999999999", "/movies/1/edit/x",
        "/edits/", "/edits/..%2f..%2fetc", "/Starter.json", "/friends/1%00", "/prepare", "/movies/99",
    ])
    func whatIsNotThereIsAPage(_ path: String) async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.get(path)
            #expect(page.status == 404 || page.status == 400, "\(page.status)")
            #expect(page.text.contains("<h1>") || page.status == 400)
        }
    }
}
