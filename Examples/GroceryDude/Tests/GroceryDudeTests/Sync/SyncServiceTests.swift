import CoreDataSync
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// A household of Grocery Cloud as a place.
@Suite(.timeLimit(.minutes(3))) struct SyncServiceTests {
    private static let password = "four plain words here"

    /// A running Grocery Cloud, with the account ann and her households.
    private struct Cloud: Sendable {
        let port: Int

        var fields: [String: String] {
            [
                "kind": "service", "service": "http://127.0.0.1:\(port)", "account": "ann",
                "account-password": SyncServiceTests.password,
            ]
        }

        /// Sends JSON as a program does, and returns a value of the answer.
        @discardableResult func send(
            _ path: String, _ body: [String: String], token: String = "", value: String = ""
        ) async throws -> String {
            var headers = ["Content-Type": "application/json"]
            if token != "" { headers["Authorization"] = "Bearer \(token)" }
            let answer = try await TestBrowser(port: port).send(
                "POST", path, headers, try JSONEncoder().encode(body))
            #expect(answer.status == 201, "\(answer.text)")
            let json = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
            return json?[value] as? String ?? ""
        }

        static func run(_ test: @escaping @Sendable (Cloud, _ token: String) async throws -> Void) async throws {
            let folder = try TestServer.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let program = try OtherProcess("GroceryCloud", store: folder.appendingPathComponent("Cloud.sqlite"))
            defer { program.end() }
            let cloud = Cloud(port: try await program.port())
            let token = try await cloud.send(
                "/accounts", ["name": "ann", "password": SyncServiceTests.password], value: "token")
            try await test(cloud, token)
        }
    }

    @Test func twoListsBecomeEqualThroughAHousehold() async throws {
        try await Cloud.run { cloud, token in
            let home = try await cloud.send("/groups", ["name": "Home"], token: token, value: "groupID")
            #expect(UUID(uuidString: home) != nil)
            try await SyncedServers.run(.small, .none) { servers in
                let (kitchen, phone) = (servers.kitchen, servers.phone)
                try await kitchen.join(cloud.fields.merging(["device": "Kitchen", "keep": "1"]) { $1 })
                let page = try await kitchen.browser.get("/sync").words
                #expect(page.contains("Up to date") && page.contains("Grocery Cloud Home at "), "\(page)")
                try await phone.join(cloud.fields.merging(["device": "Phone"]) { $1 }, .merge, "household")
                try await servers.settle()
                #expect(try await phone.items() == kitchen.items())
                try await phone.setQuantity("Milk", 7)
                try await servers.settle()
                #expect(try await kitchen.items().contains("Milk: 7, Fridge, Dairy, listed"))

                // The file of secrets has the token of a session, and no password.
                let kept = kitchen.store.path + "-sync.credentials"
                let secrets = try String(contentsOfFile: kept, encoding: .utf8)
                #expect(secrets.contains("session") && !secrets.contains(Self.password))
                let mode = try FileManager.default.attributesOfItem(atPath: kept)[.posixPermissions] as? NSNumber
                #expect(mode?.intValue == 0o600)
                let settings = try String(contentsOfFile: kitchen.store.path + "-sync.json", encoding: .utf8)
                #expect(settings.contains("\"household\" : \"Home\"") && !settings.contains("token"))

                // Where the token is not kept, the next start asks for the password.
                await phone.server.end()
                try await TestServer.reopen(phone.store) { again in
                    let asked = try await again.browser.get("/sync").words
                    #expect(asked.contains("The password, please"), "\(asked)")
                    let wrong = try await again.browser.submit(
                        "/sync/unlock", ["account": "ann", "account-password": "not my password"])
                    #expect(wrong.words.contains("wrong"), "\(wrong.words)")
                    let right = try await again.browser.submit(
                        "/sync/unlock", ["account": "ann", "account-password": Self.password])
                    #expect(right.words.contains("Up to date"), "\(right.words)")
                }
            }
        }
    }

    @Test func theFormSaysWhatIsWrong() async throws {
        try await Cloud.run { cloud, token in
            try await TestServer.run { server in
                func check(_ fields: [String: String], _ field: String, _ text: String) async throws {
                    let all = cloud.fields.merging(["device": "Kitchen"]) { $1 }.merging(fields) { $1 }
                    let page = try await server.browser.post("/sync", all)
                    #expect(page.status == 422)
                    #expect(page.words.contains(text), "\(page.words)")
                    #expect(page.text.contains("aria-describedby=\"\(field)-problem\""))
                    #expect(!page.text.contains(Self.password))
                }
                try await check(["service": ""], "service", "Type the address of the service")
                try await check(["service": "http://127.0.0.1:1"], "service", "cannot be reached")
                try await check(["account": ""], "account", "Type the name of your account.")
                try await check(["account-password": ""], "account-password", "Type the password of “ann”.")
                try await check(["account-password": "not my password"], "account-password", "wrong")
                try await check([:], "household", "“ann” is a member of no household.")
                for name in ["Home", "Office"] { try await cloud.send("/groups", ["name": name], token: token) }
                try await check([:], "household", "several households. Type the name of one: Home, Office.")
                try await check(["household": "Club"], "household", "no household “Club”. Type one of: Home, Office.")
            }
        }
    }
}
