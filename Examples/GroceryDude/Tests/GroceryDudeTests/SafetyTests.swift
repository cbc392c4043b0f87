import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Requests that an attacker might send.
@Suite(.timeLimit(.minutes(2))) struct SafetyTests {
    static let nasty = "<script>alert(1)</script>\"'&<img src=x onerror=alert(2)>"

    @Test func nothingThatIsStoredBecomesMarkup() async throws {
        try await TestServer.run(
            Filling { groceries in
                try groceries.perform("Fill") {
                    for kind in PlaceKind.allCases { _ = try groceries.findOrMakePlace(kind, named: Self.nasty) }
                    let item = try groceries.makeItem(named: Self.nasty)
                    item.listed = true
                    for kind in PlaceKind.allCases {
                        item.setValue(try groceries.findOrMakePlace(kind, named: Self.nasty), forKey: kind.itemKey)
                    }
                    item.photo = Item_Photo(context: groceries.view)
                    // Every attribute of every entity that can have text, or bytes that say the same.
                    for object in groceries.view.insertedObjects {
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
            let paths = [
                "/prepare", "/prepare?q=\(search)", "/prepare?q=x\(search)", "/shop", "/items/1",
                "/items/new?name=\(search)",
                "/units", "/units/1", "/home-locations", "/home-locations/1", "/shop-locations", "/shop-locations/2",
                "/settings", "/settings/sql", "/backups", "/backups/restore?name=\(search)", "/items/1/photo",
                "/items/1/thumbnail", "/\(search)", "/prepare/clear",
            ]
            for path in paths { check(try await browser.get(path), path) }
            // What is no picture is not sent as one, let alone as a page.
            for path in ["/items/1/photo", "/items/1/thumbnail"] { #expect(try await browser.get(path).status == 404) }
            // Messages, problems, conflicts and refusals.
            check(try await browser.submit("/prepare", ["i": "1"]), "message")
            check(try await browser.submit("/undo"), "undone")
            check(try await browser.post("/units", ["name": Self.nasty]), "taken")
            check(try await browser.post("/units/1/delete"), "denied")
            check(try await browser.post("/items", ["name": Self.nasty, "quantity": Self.nasty]), "problem")
            let conflict = try await browser.post(
                "/items/1",
                [
                    "name": Self.nasty + "2", "was-name": "before", "quantity": "1", "unit": "new",
                    "new-unit": Self.nasty,
                ])
            #expect(conflict.status == 409)
            check(conflict, "conflict")
            check(try await browser.post("/items/99", ["name": Self.nasty]), "gone")
        }
    }

    private func check(_ answer: Answer, _ what: String) {
        #expect(!answer.text.contains("<script>"), "\(what)")
        #expect(!answer.text.contains("<img src=x"), "\(what)")
        #expect(!answer.text.contains("\"'&"), "\(what)")
        #expect(answer.header("Content-Security-Policy")?.contains("default-src 'none'") == true, "\(what)")
        #expect(answer.header("Content-Security-Policy")?.contains("unsafe") == false)
        #expect(answer.header("X-Content-Type-Options") == "nosniff")
    }

    @Test func noPageHasInlineScriptOrStyle() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for path in ["/prepare", "/shop", "/items/1", "/items/new", "/units", "/units/1", "/settings", "/more"] {
                let text = try await browser.get(path).text
                #expect(
                    text.firstMatch(of: /<script>|<style|\sstyle=|\son\w+=|javascript:|https?:\/\//) == nil, "\(path)")
            }
        }
    }

    @Test func aFormNeedsItsToken() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await browser.token()
            for token in ["", "x", String(repeating: "0", count: 32), own + "0"] {
                #expect(try await browser.post("/prepare", ["i": "1", "token": token]).status == 403)
            }
            // A token that a page of another site knows.
            let other = try await server.browser.token()
            #expect(try await browser.post("/prepare", ["i": "1", "token": other]).status == 403)
            // Without the cookie.
            #expect(try await server.browser.send("POST", "/prepare", [:], Data("i=1&token=\(own)".utf8)).status == 403)
            #expect(try await browser.post("/prepare", ["i": "1"]).status == 303)
        }
    }

    @Test(arguments: [
        ["Origin": "http://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"],
        ["Sec-Fetch-Site": "same-site"],
    ])
    func otherSitesSendNothing(_ headers: [String: String]) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.post("/prepare", ["i": "1"], headers).status == 403)
            let own = ["Origin": "http://127.0.0.1:\(server.port)", "Sec-Fetch-Site": "same-origin"]
            #expect(try await browser.post("/prepare", ["i": "1"], own).status == 303)
        }
    }

    @Test func otherNamesOfTheServerAreRefused() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            #expect(try await browser.get("/prepare", ["Host": "evil.example:\(server.port)"]).status == 421)
            #expect(try await browser.get("/prepare", ["Host": "localhost:\(server.port)"]).status == 200)
        }
    }

    @Test func requestsAreBounded() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let long = try await browser.post("/units", ["name": String(repeating: "x", count: 70_000)])
            #expect(long.status == 413)
            #expect(long.words.contains("Too large"))
            // One character, of very much.
            for path in ["/units", "/items"] {
                let marks = try await browser.post(
                    path, ["name": "a" + String(repeating: "\u{301}", count: 9_000), "quantity": "1"])
                #expect(marks.status == 422, "\(path)")
                #expect(marks.words.contains("That is too long"), "\(path)")
            }
            // The stated length is too large: the answer comes before the body.
            let endless = try await browser.send("POST", "/units", ["Content-Length": "9000000000"], Data("name=".utf8))
            #expect(endless.status == 413)
            // Told a length that it does not have, and without one.
            let token = try await browser.token()
            let chunked = try await browser.send(
                "POST", "/units",
                [
                    "Transfer-Encoding": "chunked", "Content-Length": "",
                    "Content-Type": "application/x-www-form-urlencoded",
                ],
                Data("5\r\nname=\r\n0\r\n\r\n".utf8))
            #expect((400..<500).contains(chunked.status))
            #expect(!token.isEmpty)
        }
    }

    @Test(arguments: [
        "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.css/../../x", "/items/0", "/items/-1", "/items/x",
        "/items/99999999999999999999", "/items/1%00", "/units/1/../../x", "/nothing", "/DefaultData.xml",
    ])
    func whatIsNotThereIsAPage(_ path: String) async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.get(path)
            #expect(page.status == 404 || page.status == 400, "\(page.status)")
            #expect(page.text.contains("<h1>") || page.status == 400)
        }
    }

    @Test(arguments: ["PUT", "DELETE", "PATCH", "TRACE"])
    func otherMethodsAreRefused(_ method: String) async throws {
        try await TestServer.run { server async throws in
            #expect(try await server.browser.send(method, "/prepare", [:], Data()).status == 405)
        }
    }

    @Test(arguments: [
        "https://evil.example/", "//evil.example", "/\\evil.example", "/a\r\nSet-Cookie: x=y", "javascript:1",
    ])
    func aFormLeadsNowhereElse(_ back: String) async throws {
        try await TestServer.run(.small) { server in
            let answer = try await server.browser.post("/prepare", ["i": "1", "back": back])
            #expect(answer.header("Location") == "/prepare")
            #expect(answer.header("Set-Cookie")?.contains("x=y") != true)
        }
    }
}
