import CoreData
import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

/// Accounts and permissions as clients meet them.
@Suite struct PermissionStoryTests {
    private static let model = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "Examples/Groceries.xcdatamodeld")

    private static func run(_ test: @escaping @Sendable (PeopleService) async throws -> Void) async throws {
        try await PeopleService.run(try NSManagedObjectModel.load(contentsOf: model), test)
    }

    @Test func eachAccountSeesItsOwn() async throws {
        try await Self.run { groceries in
            let (ann, bob, admin) = (groceries.ann, groceries.bob, groceries.admin)
            let unit = try await admin.send("POST", "/api/Unit", json: ["name": "kg"])
            #expect(unit.status == 201, "\(unit.text)")
            #expect(try await ann.send("POST", "/api/Unit", json: ["name": "g"]).status == 403)
            #expect(try await groceries.anonymous.get("/api/Unit").json.names == ["kg"])

            let made = try await ann.send(
                "POST", "/api/Item",
                json: [
                    "name": "Milk", "owner": .string(groceries.annID), "unit": .string(unit.json.id),
                    "price": .number("1.5"),
                ])
            #expect(made.status == 201, "\(made.text)")
            let foreign = try await bob.send(
                "POST", "/api/Item", json: ["name": "Trap", "owner": .string(groceries.annID)])
            #expect(foreign.status == 403 && foreign.json["entity"] == "Item", "\(foreign.text)")

            let path = "/api/Item/\(made.json.id)"
            #expect(try await ann.get(path).json["name"] == "Milk")
            // Whatever another account asks: the same answer as for an object that never was.
            for client in [bob, groceries.anonymous] {
                for (method, body) in [("GET", nil), ("PATCH", ["name": "x"]), ("DELETE", nil)]
                    as [(String, JSONValue?)]
                {
                    let answers = try await [path, "/api/Item/\(UUID())"].asyncMap { path in
                        body == nil
                            ? try await client.send(method, path)
                            : try await client.send(method, path, json: body ?? .null)
                    }
                    #expect(answers[0].status == 404, "\(method) \(answers[0].text)")
                    #expect(answers[0].json["detail"] == answers[1].json["detail"])
                }
                #expect(
                    try await client.get("/api/Item?count=true").json == [
                        "items": [], "next": nil, "count": 0,
                    ])
                #expect(
                    try await client.get("/api/Item?aggregate=count,max(name)").json["groups"]?.array == [
                        ["count": 0, "max(name)": nil]
                    ])
                #expect(
                    try await client.get("/api/Unit?where=\("ANY items.name == 'Milk'".encoded)").json.names
                        == [])
                #expect(
                    try await client.get("/api/Unit?include=items").json["items"]?.array?.first?["items"]
                        == .array([]))
                #expect(try await client.send("PUT", path + "/photo", body: [1]).status == 404)
                let list = try await client.send(
                    "POST", "/api", json: ["changes": [["delete": "Item", "id": .string(made.json.id)]]])
                #expect(list.status == 404)
            }
            #expect(
                try await ann.get("/api/Unit?include=items").json["items"]?.array?.first?["items"]?.array?
                    .map(\.id) == [made.json.id])
            // The unit is used by an object that the administrator does not see.
            #expect(try await admin.send("DELETE", "/api/Unit/\(unit.json.id)").status == 403)
            #expect(try await ann.send("DELETE", path).status == 204)
        }
    }

    @Test func tokensAreChecked() async throws {
        try await Self.run { groceries in
            var wrong = groceries.anonymous
            wrong.token = "nonsense"
            let answer = try await wrong.get("/api/Unit")
            #expect(answer.status == 401 && answer.header("WWW-Authenticate") == "Bearer")
            #expect(
                try await groceries.anonymous.get("/api/Unit", ["Authorization": "Basic YTpi"]).status
                    == 401)
            #expect(try await groceries.anonymous.get("/api/Unit").status == 200)
            // A key belongs to an account: another one's request with the same key is another request.
            let key = ["Idempotency-Key": UUID().uuidString]
            let owned: JSONValue = ["name": "a", "owner": .string(groceries.annID)]
            #expect(try await groceries.ann.send("POST", "/api/Item", json: owned, key).status == 201)
            let other = try await groceries.bob.send("POST", "/api/Item", json: owned, key)
            #expect(other.status == 403 && other.header("Idempotency-Replayed") == nil)
        }
    }

    @Test func thePageShowsTheRules() async throws {
        try await Self.run { groceries in
            let page = try await groceries.anonymous.get("/")
            #expect(
                page.status == 200
                    && page.header("Content-Security-Policy")?.contains("default-src 'none'") ?? false)
            #expect(page.text.contains("<tr><th scope=\"row\">create</th><td>administrator</td></tr>"))
            #expect(!page.text.contains("<script"))
            let schema = try await groceries.anonymous.get("/schema").json
            #expect(schema["entities"]?.array?.map { $0["name"] } == ["Item", "Unit"])
        }
    }
}

extension Array {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var result: [T] = []
        for element in self { result.append(try await body(element)) }
        return result
    }
}
