import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Where the server begins: under which names it answers, what other sites may ask for, how long it waits.
@Suite(.timeLimit(.minutes(2))) struct BoundaryTests {
    @Test(
        arguments: [
            ("127.0.0.1", [], "localhost:8080", true), ("127.0.0.1", [], "127.0.0.1", true),
            ("127.0.0.1", [], "[::1]:8080", true), ("::1", [], "[::1]", true), ("127.0.0.1", [], "evil.example", false),
            ("127.0.0.1", [], "192.168.1.7", false), ("127.0.0.1", ["box.local"], "box.local:8080", true),
            ("0.0.0.0", [], "LocalHost:8080", true), ("0.0.0.0", [], "192.168.1.7:8080", true),
            ("0.0.0.0", [], "[fe80::1]:8080", true), ("::", [], "[fe80::1]", true), ("0.0.0.0", [], "10.0.0.9", false),
            ("0.0.0.0", [], "evil.example:8080", false), ("0.0.0.0", [], "192.168.1.7.evil.example", false),
            ("0.0.0.0", ["Box.Local"], "BOX.local:8080", true),
            ("0.0.0.0", ["box.local"], "box.local.evil.example", false),
            ("0.0.0.0", ["box.local"], "evil.example", false), ("box", [], "box:8080", true),
            ("0.0.0.0", [], "", false),
            ("0.0.0.0", [], ":8080", false), ("0.0.0.0", [], "[", false),
        ] as [(String, [String], String, Bool)])
    func namesAreThoseThatNoOtherSiteCanUse(_ host: String, _ allowed: [String], _ asked: String, _ answers: Bool) {
        let names = HostNames(host: host, allowed: allowed) { ["192.168.1.7", "[fe80::1]"] }
        #expect(names.contains(asked) == answers)
    }

    @Test func theMachineKnowsItsAddresses() { #expect(MachineAddresses.all.contains("127.0.0.1")) }

    @Test func namesAreAllowedByOption() throws {
        let options = try LaunchOptions("Test", ["--allowed-host", "box.local", "--allowed-host", "groceries"])
        #expect(options.allowedHosts == ["box.local", "groceries"])
        for name in ["", "a b", "*", "http://box"] {
            #expect(throws: LaunchOptions.Problem.self) { try LaunchOptions("Test", ["--allowed-host", name]) }
        }
    }

    @Test func theRefusalSaysWhatToDo() async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.get("/prepare", ["Host": "<b>.example:80"])
            #expect(page.status == 421)
            #expect(page.words.contains("This server does not answer to the name “<b>.example”."), "\(page.words)")
            #expect(page.words.contains("start it with --allowed-host <b>.example."))
            #expect(!page.text.contains("<b>"))
        }
    }

    @Test(arguments: [
        (["Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"], 200),
        (["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"], 200),
        (["Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"], 200),
        // The user follows a link.
        (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"], 200),
        // So does the service worker for them.
        (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "empty"], 200),
        (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"], 403),
        (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"], 403),
        (["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"], 403),
        (["Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"], 403),
        (["Sec-Fetch-Site": "cross-site"], 403), (["Origin": "http://evil.example"], 403), (["Origin": "null"], 403),
    ])
    func otherSitesReadNothing(_ headers: [String: String], _ status: Int) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for path in ["/prepare", "/home-locations/1", "/app.js"] {
                #expect(try await browser.get(path, headers).status == status, "\(path)")
            }
            let own = headers.merging(["Origin": "http://127.0.0.1:\(server.port)"]) { $1 }
            if headers["Origin"] != nil { #expect(try await browser.get("/prepare", own).status == 200) }
        }
    }

    /// The first bytes of a form, as many more as it is said to have, and the browser's token.
    private func begin(
        _ path: String, _ type: String, _ body: String, missing: Int, _ browser: TestBrowser
    ) async throws -> Socket {
        let token = try await browser.token()
        let socket = try Socket(port: browser.port)
        let head = [
            "POST \(path) HTTP/1.1", "Host: 127.0.0.1:\(browser.port)", "Cookie: token=\(token)",
            "Content-Type: \(type)",
            "Content-Length: \(body.utf8.count + missing)", "", "",
        ]
        socket.write(Data((head.joined(separator: "\r\n") + body).utf8))
        return socket
    }

    private func part(_ name: String, _ content: String, file: String = "") -> String {
        "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\(file)\r\n\r\n\(content)\r\n"
    }

    @Test func anUploadIsRefusedAfterItsBeginning() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let wrong = String(repeating: "0", count: 32)
            let body =
                part("token", wrong)
                + part("photo", String(repeating: "x", count: 70_000), file: "; filename=\"a.png\"")
            // The rest never comes.
            let socket = try await begin(
                "/items/1/photo", "multipart/form-data; boundary=b", body, missing: 5_000_000, browser)
            let answer = String(decoding: try await waiting { try socket.readAnswer() }, as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 403"), "\(answer.prefix(200))")
        }
    }

    @Test func aFormThatDoesNotArriveWholeChangesNothing() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let socket = try await begin(
                "/units", "application/x-www-form-urlencoded", "token=\(try await browser.token())&name=Half",
                missing: 9,
                browser)
            shutdown(socket.descriptor, Int32(SHUT_WR))
            // It is told so, or the connection ends.
            let answer = try? await waiting { try socket.readAnswer() }
            #expect(answer.map { String(decoding: $0, as: UTF8.self).hasPrefix("HTTP/1.1 4") } ?? true)
            #expect(try await browser.get("/units").words.contains("kg 1 item"))
            #expect(await server.app.groceries.count("Unit") == 1)
        }
    }

    @Test func halfAFormDoesNotKeepTheServerFromEnding() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        let app = try TestServer.otherProcess(store: store)
        let browser = TestBrowser(port: try await app.port())
        let half = "token=\(try await browser.token())&name=Half"
        let socket = try await begin("/units", "application/x-www-form-urlencoded", half, missing: 9, browser)
        // The server answers others while it waits for the rest.
        #expect(try await browser.get("/units").words.contains("None yet"))
        #expect(app.end() == 0)
        withExtendedLifetime(socket) {}
        try await TestServer.reopen(store) { server async throws in #expect(try await server.count("Unit") == 0) }
    }

    @Test func pagesAreReadWhileAnotherProcessWrites() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        let app = try TestServer.otherProcess(store: store)
        defer { app.end() }
        let browser = TestBrowser(port: try await app.port())
        let form = ["name": "Oats", "quantity": "1", "listed": "1"]
        #expect(try await browser.submit("/items", form).words.contains("Oats is added."))
        #expect(try await browser.get("/prepare").text.contains("<button name=off value=1 aria-pressed=true>Oats"))
        let lock = try WriteLock(store)
        let token = try await browser.token()
        let port = browser.port
        let saving = Task {
            try await TestBrowser(port: port, cookies: ["token": token]).post("/prepare", ["off": "1"])
        }
        // The form has come, and waits: it is not answered before the other process lets it write.
        try await Polling.wait(for: "the form", within: 8) {
            try await browser.get("/prepare").text.contains("<button name=on value=1 aria-pressed=false>Oats")
        }
        #expect(try await browser.get("/items/1").status == 200)
        lock.release()
        #expect(try await saving.value.status == 303)
        app.kill()
        try await TestServer.reopen(store) { server async throws in
            #expect(try await server.browser.get("/shop").words.contains("Nothing to buy"))
        }
    }

    @Test func whatAnotherProcessKeepsFromBeingWrittenIsRolledBackAndSaid() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            let flour = try await server.app.groceries.number(of: "Flour")
            await MainActor.run { server.app.live.patience = .milliseconds(500) }
            let lock = try WriteLock(server.store)
            let forms: [(String, [String: String])] = [
                ("/items/\(milk)/delete", [:]), ("/prepare", ["on": "\(flour)"]),
            ]
            for (path, form) in forms {
                let answer = try await browser.post(path, form)
                #expect(answer.status == 503)
                #expect(answer.words.contains("Nothing was changed"), "\(answer.words)")
                // What was deleted is in the list again, and what was put on the list is not on it.
                let page = try await browser.get("/prepare")
                #expect(page.words.contains("Fridge 2 Butter Dairy Milk Dairy Pantry 1 Flour"), "\(page.words)")
                #expect(page.text.contains("aria-pressed=false>Flour<"))
                #expect(page.text.contains("<title>(1) "))
            }
            lock.release()
            #expect(try await browser.submit("/undo").words.contains("There is nothing to undo."))
            #expect(try await browser.submit("/items/\(milk)/delete").words.contains("Milk is deleted. Undo"))
            #expect(try await browser.submit("/undo").words.contains("Undone: Delete Milk."))
        }
    }
}

/// The lock that a writer has on a store's log, as another program takes it: also this process' own connections wait for it.
private final class WriteLock {
    private let descriptor: Int32

    init(_ store: URL) throws {
        descriptor = open(store.path + "-shm", O_RDWR)
        // The first of SQLite's locks, behind the two copies of the index' header and what checkpoints know.
        var lock = Self.lock(F_WRLCK)
        guard descriptor >= 0, fcntl(descriptor, Self.setLock, &lock) == 0 else {
            throw Polling.Timeout(description: "the log of the store cannot be locked: \(errno)")
        }
    }

    deinit { close(descriptor) }

    func release() {
        var lock = Self.lock(F_UNLCK)
        _ = fcntl(descriptor, Self.setLock, &lock)
    }

    /// F_OFD_SETLK: the lock belongs to the open file, not to the process.
    private static let setLock: Int32 = 37

    private static func lock(_ type: Int32) -> flock {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 120
        lock.l_len = 1
        return lock
    }
}
