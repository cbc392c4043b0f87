import CoreDataJSON

#if PostgreSQL
    import Foundation
    import PostgreSQLServer
    import Testing

    @testable import CoreDataService

    /// The program with its stores on a server: build with `--traits PostgreSQL`.
    @Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
    struct PostgreSQLTests {
        /// The arguments of a store and a store of accounts, in schemas of their own.
        private static func places() throws -> (store: String, accounts: [String]) {
            let name = "s" + UUID().uuidString.filter { $0 != "-" }.lowercased()
            let urls = try ["", "_accounts"].map { try PostgreSQLServer.shared.url(schema: name + $0).absoluteString }
            return (urls[0], ["--accounts", urls[1]])
        }

        @Test func aKilledProcessLosesNothing() async throws {
            try await NotesModel.run { _, model in
                let (store, accounts) = try Self.places()
                try await KillStory(model: model, store: store, arguments: accounts).run(
                    kills: PythonTools.isLong ? 30 : 3)
            }
        }

        /// Two processes make one store; each sees the other's accounts, sessions and changes at once.
        @Test func twoProcessesServeOneDatabase() async throws {
            try await NotesModel.run { _, model in
                let (store, accounts) = try Self.places()
                let processes = try (0..<2).map { _ in try ServiceProcess(model: model, store: store, accounts) }
                let clients = [try await processes[0].client(), try await processes[1].client()]

                let ann: JSONValue = ["name": "ann", "password": "four plain words here"]
                let made = try await withThrowingTaskGroup(of: Answer.self) { group in
                    for client in clients { group.addTask { try await client.send("POST", "/accounts", json: ann) } }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(made.map(\.status).sorted() == [201, 409], "\(made.map(\.text))")
                let token = made.first { $0.status == 201 }?.json["token"]?.string ?? ""
                let signedIn = clients.map { RawClient(port: $0.port, token: token) }
                for client in signedIn {
                    #expect(try await client.get("/accounts/me").json["account"]?["isAdministrator"] == true)
                }

                // Both count up the same row under a condition.
                let note = try await clients[0].send("POST", "/api/Note", json: ["text": "a", "value": 0])
                #expect(note.status == 201, "\(note.text)")
                let path = "/api/Note/\(note.json.id)"
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for client in clients {
                        group.addTask {
                            for _ in 0..<10 { try await Self.increment(path, client) }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await clients[1].get(path).json["value"] == 20)

                // A key of one process is known to the other; an ended session, too.
                let key = ["Idempotency-Key": UUID().uuidString]
                let first = try await clients[0].send("POST", "/api/Note", json: ["text": "b"], key)
                let again = try await clients[1].send("POST", "/api/Note", json: ["text": "b"], key)
                #expect(first.json.id == again.json.id && again.header("Idempotency-Replayed") == "true")
                #expect(try await signedIn[0].send("DELETE", "/sessions/current").status == 204)
                #expect(try await signedIn[1].get("/accounts/me").status == 401)
                for process in processes { process.send(SIGTERM) }
                for process in processes { #expect(try await process.end().status == 0) }
            }
        }

        private static func increment(_ path: String, _ client: RawClient) async throws {
            while true {
                let read = try await client.get(path)
                guard case .number(let text)? = read.json["value"], let number = Int(text) else {
                    throw ClientFailure(description: read.text)
                }
                let answer = try await client.send(
                    "PATCH", path, json: ["value": .integer(number + 1)], ["If-Match": "\"\(read.tag)\""])
                if answer.status == 200 { return }
                guard answer.status == 412 else { throw ClientFailure(description: answer.text) }
            }
        }

        @Test func filesOfGroupsAreInTheDatabase() async throws {
            try await NotesModel.run { _, model in
                let (store, accounts) = try Self.places()
                let process = try ServiceProcess(model: model, store: store, accounts)
                var client = try await process.client()
                let ann = try await client.send(
                    "POST", "/accounts", json: ["name": "ann", "password": "four plain words here"])
                client.token = ann.json["token"]?.string
                let group = try await client.send("POST", "/groups", json: ["name": "Home"])
                let path = "/groups/\(group.json["groupID"]?.string ?? "")/files/device/segment-1"
                let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                #expect(try await client.send("PUT", path, body: bytes).status == 201)
                #expect(try await client.send("PUT", path, body: [1]).status == 412)
                #expect(try await client.get(path).body == bytes)
                process.send(SIGKILL)
                let again = try ServiceProcess(model: model, store: store, accounts)
                var second = try await again.client()
                second.token = client.token
                #expect(try await second.get(path).body == bytes)
                again.send(SIGTERM)
                #expect(try await again.end().status == 0)
            }
        }

        /// The address of the start has no password.
        @Test func theStartHidesThePassword() async throws {
            try await NotesModel.run { _, model in
                let (store, accounts) = try Self.places()
                let check = try await ServiceProcess(
                    model: model, store: store + "&password=hushed", accounts + ["--check"]
                ).end()
                #expect(check.status == 0 && !check.text.contains("hushed"), "\(check.text)")
            }
        }
    }
#endif
