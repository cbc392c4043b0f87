import CoreDataStudio
import Foundation
import Testing

/// Who may ask.
@Suite struct AdmissionTests {
    @Test func theTokenBecomesACookie() async throws {
        let studio = try Studio()
        let client = try await StudioClient(studio)
        #expect(studio.address(port: 8086).hasPrefix("http://127.0.0.1:8086/?token="))
        let target = try #require(studio.address(port: 1).split(separator: ":1", maxSplits: 1).last)
        var stranger = client
        stranger.cookie = ""
        let answer = try await stranger.get(String(target) + "&q=a%26b")
        #expect(answer.status == 303 && answer.header("Location") == "/?q=a%26b")
        #expect(answer.header("Set-Cookie")?.contains("; HttpOnly; SameSite=Strict") == true)
        #expect(try await stranger.get("/model").status == 401)
        #expect(try await stranger.get("/?token=wrong").status == 401)
        #expect(try await client.get("/model").status == 200)
    }

    @Test(
        arguments: [
            ([("Host", "evil.example")], 421), ([("Host", "localhost:99")], 200), ([("Host", "[::1]:99")], 200),
            ([("Host", "127.0.0.1.evil.example")], 421), ([("Sec-Fetch-Site", "cross-site")], 403),
            ([("Sec-Fetch-Site", "same-site")], 403), ([("Sec-Fetch-Site", "same-origin")], 200),
            ([("Sec-Fetch-Site", "none")], 200), ([("Origin", "http://evil.example")], 403),
            ([("Origin", "null")], 403),
            ([("Origin", "http://127.0.0.1:8086")], 200), ([("Origin", "http://127.0.0.1:9999")], 403),
            ([("Cookie", "")], 401), ([("Cookie", "studio=1; other=2")], 401),
        ] as [([(String, String)], Int)])
    func onlyItsOwnPagesAsk(headers: [(String, String)], status: Int) async throws {
        let client = try await StudioClient(try Studio())
        let answer = try await client.get("/model", headers: headers.map { (name: $0.0, value: $0.1) })
        #expect(answer.status == status)
    }

    @Test func answersTellTheBrowserToBeStrict() async throws {
        let client = try await StudioClient(try Studio())
        for address in ["/model", "/nowhere", "/assets/studio.css"] {
            let policy = try await client.get(address).header("Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
        }
        #expect(try await client.get("/assets/../Package.swift").status == 404)
        let style = try await client.get("/assets/studio.css")
        #expect(style.status == 200 && style.header("Content-Type") == "text/css; charset=utf-8")
        let head = await client.studio.respond(to: client.request("HEAD", "/model"))
        #expect(head.status == 200)
        #expect(await client.studio.respond(to: client.request("PUT", "/model")).status == 405)
        #expect(await client.studio.respond(to: client.request("POST", "/model", form: "a=1")).status == 405)
    }
}
