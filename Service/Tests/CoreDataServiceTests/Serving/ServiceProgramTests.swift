import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

@Suite struct ServiceProgramTests {
    /// Makes a store with a note, through a service that ends then.
    private static func makeNote(in store: URL, _ model: URL) async throws {
        let service = try ServiceProcess(model: model, store: store)
        #expect(try await service.client().send("POST", "/api/Note", json: ["text": "a"]).status == 201)
        service.send(SIGTERM)
        _ = try await service.end()
    }

    /// Clients write while the program is killed. What was acknowledged is there, and retries make nothing twice.
    @Test func aKilledProcessLosesNothingAndDoesNothingTwice() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            let first = try ServiceProcess(model: model, store: store)
            let client = try await first.client()
            let sent = (0..<120).map { ["text": .string("n\($0)")] as JSONValue }
            let keys = sent.map { _ in UUID().uuidString }
            let acknowledged = await withTaskGroup(of: String?.self) { group in
                for number in 0..<120 {
                    group.addTask {
                        if number == 60 { first.send(SIGKILL) }
                        let answer = try? await client.send(
                            "POST", "/api/Note", json: sent[number], ["Idempotency-Key": keys[number]])
                        return answer?.status == 201 ? answer?.json.id : nil
                    }
                }
                return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
            }
            let second = try ServiceProcess(model: model, store: store)
            let again = try await second.client()
            var ids: Set<String> = []
            for number in 0..<120 {
                let answer = try await again.send(
                    "POST", "/api/Note", json: sent[number], ["Idempotency-Key": keys[number]])
                #expect(answer.status == 201, "\(answer.text)")
                ids.insert(answer.json.id)
            }
            #expect(acknowledged.isSubset(of: ids))
            let page = try await again.get("/api/Note?limit=1000&count=true")
            #expect(page.json["count"] == 120)
            second.send(SIGTERM)
            #expect(try await second.end().status == 0)
        }
    }

    @Test func severalProcessesServeOneStore() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            // Both make the store.
            let processes = [
                try ServiceProcess(model: model, store: store),
                try ServiceProcess(model: model, store: store),
            ]
            let clients = [try await processes[0].client(), try await processes[1].client()]
            let made = try await clients[0].send("POST", "/api/Note", json: ["text": "a"])
            #expect(made.status == 201, "\(made.text)")
            let path = "/api/Note/\(made.json.id)"
            #expect(try await clients[1].get(path).tag == made.tag)
            let changed = try await clients[1].send(
                "PATCH", path, json: ["text": "b"], ["If-Match": "\"\(made.tag)\""])
            #expect(changed.status == 200)
            #expect(
                try await clients[0].send(
                    "PATCH", path, json: ["text": "c"], ["If-Match": "\"\(made.tag)\""]
                ).status == 412)
            #expect(try await clients[0].get(path).json["text"] == "b")
            for process in processes { process.send(SIGINT) }
            for process in processes { #expect(try await process.end().status == 0) }
        }
    }

    @Test func aStoreOfAnOlderModelIsMigratedOrRefused() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            try await Self.makeNote(in: store, model)
            try NotesModel.contents(
                identity: true,
                more: "<attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>"
            )
            .write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            let refused = try await ServiceProcess(model: model, store: store, ["--no-migration"]).end()
            #expect(refused.status == 1 && refused.text.contains("--no-migration"), "\(refused.text)")
            let migrated = try ServiceProcess(model: model, store: store)
            let page = try await migrated.client().get("/api/Note")
            #expect(
                page.json["items"]?.array?.first?["title"] == .null
                    && page.json["items"]?.array?.first?["text"] == "a")
            migrated.send(SIGTERM)
            _ = try await migrated.end()
        }
    }

    /// A wrong `--model` or `--accounts` must not empty a store.
    @Test func aStoreOfAnotherModelIsRefused() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            try await Self.makeNote(in: store, model)

            let other = folder.appendingPathComponent("Pages.xcdatamodel")
            try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
            try NotesModel.contents(identity: true).replacing("Note", with: "Page").write(
                to: other.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            let wrongModel = try await ServiceProcess(model: other, store: store, ["--check"]).end()
            #expect(wrongModel.status == 1, "\(wrongModel.text)")
            let pages = folder.appendingPathComponent("Pages.sqlite")
            let wrongAccounts = try await ServiceProcess(
                model: other, store: pages, ["--accounts", store.path, "--check"]
            ).end()
            #expect(wrongAccounts.status == 1, "\(wrongAccounts.text)")
            let same = try await ServiceProcess(model: model, store: store, ["--accounts", store.path, "--check"]).end()
            #expect(same.status == 1 && same.text.contains("name the same store"), "\(same.text)")

            let again = try ServiceProcess(model: model, store: store)
            #expect(try await again.client().get("/api/Note").json["items"]?.array?.count == 1)
            again.send(SIGTERM)
            _ = try await again.end()
        }
    }

    /// A refusal is a line with what is known of the request, and without what the client sent.
    @Test func refusalsAreLogged() async throws {
        try await NotesModel.run { folder, model in
            let service = try ServiceProcess(model: model, store: folder.appendingPathComponent("Notes.sqlite"))
            let client = try await service.client()
            #expect(try await client.get("/api/Note?where=\("text == 'private'".encoded)").status == 200)
            #expect(try await client.get("/api/Note", ["Authorization": "Bearer nonsense"]).status == 401)
            service.send(SIGTERM)
            let log = try await service.end().text
            #expect(
                log.contains("refusal") && log.contains("status=401") && log.contains("route=/api/{entity}"), "\(log)")
            #expect(!log.contains("nonsense") && !log.contains("private") && !log.contains("status=200"), "\(log)")
        }
    }

    @Test func mailNeedsASenderAndAPage() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            for (arguments, word) in [
                (["--mail-command", "cat"], "--mail-from"),
                (["--mail-command", "cat", "--mail-from", "a@example.com"], "--link-page"),
                (["--mail-command", "cat", "--mail-from", "a@example.com", "--link-page", "links"], "--link-page"),
            ] {
                let refused = try await ServiceProcess(model: model, store: store, arguments + ["--check"]).end()
                #expect(refused.status == 1 && refused.text.contains(word), "\(refused.text)")
            }
        }
    }

    /// A new password by a mail, as people do it: the page, the link, the password.
    @Test func aPasswordIsResetByMail() async throws {
        try await NotesModel.run { folder, model in
            let mailbox = folder.appendingPathComponent("mailbox").path
            let service = try ServiceProcess(
                model: model, store: folder.appendingPathComponent("Notes.sqlite"),
                [
                    "--mail-command", "cat > '\(mailbox).new' && mv '\(mailbox).new' '\(mailbox)'", "--mail-from",
                    "a@example.com", "--link-page", "http://localhost/links",
                ])
            let client = try await service.client()
            func token(_ purpose: String) async throws -> String {
                for _ in 0..<10_000 {
                    let parts = (try? String(contentsOfFile: mailbox, encoding: .utf8))?.components(separatedBy: "\n\n")
                    let text = parts?.last.flatMap { Data(base64Encoded: $0.replacing("\n", with: "")) }
                        .map { String(decoding: $0, as: UTF8.self) }
                    if let text, let range = text.firstRange(of: "#\(purpose)=") {
                        return String(text[range.upperBound...].prefix(43))
                    }
                    _ = try await client.get("/health")
                }
                throw ClientFailure(description: "no mail came")
            }
            let ann: JSONValue = ["name": "ann", "password": "four plain words here", "email": "ann@example.com"]
            #expect(try await client.send("POST", "/accounts", json: ann).status == 201)
            let confirmed = try await client.send(
                "POST", "/email-confirmations", json: ["token": .string(try await token("email"))])
            #expect(confirmed.status == 204, "\(confirmed.text)")
            #expect(try await client.send("POST", "/password-resets", json: ["name": "ann"]).status == 202)
            let reset = try await client.send(
                "PUT", "/password-resets",
                json: ["token": .string(try await token("password")), "password": "four other words here"])
            #expect(reset.status == 204, "\(reset.text)")
            let signedIn = try await client.send(
                "POST", "/sessions", json: ["name": "ann", "password": "four other words here"])
            #expect(signedIn.status == 201, "\(signedIn.text)")
            let page = try await client.get("/links")
            #expect(page.status == 200 && page.text.contains("<script src=\"/links.js\"></script>"))
            #expect(page.header("Content-Security-Policy")?.contains("script-src 'self'") ?? false)
            #expect(try await client.get("/links.js").header("Content-Type") == "text/javascript; charset=utf-8")
            service.send(SIGTERM)
            _ = try await service.end()
        }
    }

    @Test func theStartSaysWhatIsWrong() async throws {
        try await NotesModel.run { folder, model in
            let store = folder.appendingPathComponent("Notes.sqlite")
            let check = try await ServiceProcess(model: model, store: store, ["--check"]).end()
            #expect(check.status == 0 && check.text.contains("the service can run"), "\(check.text)")
            try NotesModel.contents(identity: false).write(
                to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
            let refused = try await ServiceProcess(model: model, store: store, ["--check"]).end()
            #expect(refused.status == 1)
            #expect(
                refused.text.contains(
                    "Note: its objects have no ID that a client can know: add the attribute 'id' of the type UUID"
                ), "\(refused.text)")
            let missing = try await ServiceProcess(
                model: folder.appendingPathComponent("No.momd"), store: store
            ).end()
            #expect(missing.status == 1 && missing.text.contains("No.momd"), "\(missing.text)")
        }
    }
}
