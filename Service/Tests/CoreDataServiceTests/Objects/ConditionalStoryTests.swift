import CoreData
import Foundation
import Testing

@testable import CoreDataService

@Suite struct ConditionalStoryTests {
    private enum Keys {
        static let k1 = "11111111-0000-4000-8000-000000000001"
        static let k2 = "11111111-0000-4000-8000-000000000002"
        static let k3 = "11111111-0000-4000-8000-000000000003"
        static let once = "11111111-0000-4000-8000-000000000004"
    }

    @Test func anUnchangedObjectIsNotSentAgain() async throws {
        try await TestService.run { service in
            let client = service.client
            let unit = try await service.make("Unit", ["name": "kg"])
            let item = try await service.make("Item", ["name": "a", "unit": .string(unit.id)])
            let path = "/api/Item/\(item.id)"
            let tag = try await client.get(path).tag
            let again = try await client.get(path, ["If-None-Match": "\"\(tag)\""])
            #expect(again.status == 304 && again.body.isEmpty && again.tag == tag)

            // The answer contains another object: that one's change counts, too.
            let with = try await client.get(path + "?include=unit").tag
            #expect(with != tag)
            #expect(try await client.get(path + "?include=unit", ["If-None-Match": "\"\(with)\""]).status == 304)
            _ = try await client.send("PATCH", "/api/Unit/\(unit.id)", json: ["name": "g"])
            #expect(try await client.get(path + "?include=unit", ["If-None-Match": "\"\(with)\""]).status == 200)
            // Its own row has not changed, so the tag still admits a change of it.
            let changed = try await client.send("PATCH", path, json: ["name": "b"], ["If-Match": "\"\(with)\""])
            #expect(changed.status == 200)
            #expect(
                try await client.send("PATCH", path, json: ["name": "c"], ["If-Match": "\"\(with)\""]).status == 412)
            #expect(try await client.send("DELETE", path, ["If-Match": "\"\(tag)\""]).status == 412)
            #expect(try await client.send("DELETE", path, ["If-Match": "tag"]).status == 400)
            #expect(try await client.send("DELETE", path, ["If-Match": "\"\(changed.tag)\""]).status == 204)
        }
    }

    /// Each of many writers reads, adds one, and writes under the condition that no other writer did meanwhile.
    @Test func noConditionalChangeIsLost() async throws {
        try await TestService.run { service in
            let client = service.client
            let item = try await service.make("Item", ["name": "a", "big": 0])
            let path = "/api/Item/\(item.id)"
            let (writers, rounds) = (6, 5)
            let conflicts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<writers {
                    group.addTask {
                        var conflicts = 0
                        for _ in 0..<rounds {
                            while true {
                                let read = try await client.get(path)
                                guard case .number(let text)? = read.json["big"], let number = Int(text) else {
                                    throw ClientFailure(description: read.text)
                                }
                                let answer = try await client.send(
                                    "PATCH", path, json: ["big": .integer(number + 1)], ["If-Match": "\"\(read.tag)\""])
                                if answer.status == 200 { break }
                                guard answer.status == 412 else { throw ClientFailure(description: answer.text) }
                                conflicts += 1
                            }
                        }
                        return conflicts
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(try await client.get(path).json["big"] == .integer(writers * rounds))
            #expect(conflicts > 0)
        }
    }

    /// Without a condition, changes of different properties by different writers are both kept.
    @Test func unconditionalChangesOfDifferentPropertiesAreKept() async throws {
        try await TestService.run { service in
            let client = service.client
            let path = "/api/Item/\(try await service.make("Item", ["name": "a"]).id)"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...8 {
                    group.addTask {
                        let property = number % 2 == 0 ? "stock" : "big"
                        let answer = try await client.send(
                            "PATCH", path, json: .object([.init(property, .integer(number))]))
                        #expect(answer.status == 200, "\(answer.text)")
                    }
                }
                try await group.waitForAll()
            }
            let end = try await client.get(path).json
            #expect(end["stock"] != .null && end["big"] != .null)
        }
    }

    @Test func aRetryWithTheSameKeyChangesNothing() async throws {
        try await TestService.run { service in
            let client = service.client
            let key = ["Idempotency-Key": Keys.k1]
            let first = try await client.send("POST", "/api/Item", json: ["name": "a"], key)
            let again = try await client.send("POST", "/api/Item", json: ["name": "a"], key)
            #expect(first.status == 201 && again.status == 201)
            #expect(first.header("Idempotency-Replayed") == nil && again.header("Idempotency-Replayed") == "true")
            #expect(again.json == first.json && again.header("Location") == first.header("Location"))
            #expect(try await client.get("/api/Item").json.names == ["a"])
            let other = try await client.send("POST", "/api/Item", json: ["name": "b"], key)
            #expect(other.status == 422 && other.json["type"] == "urn:coredata:problem:idempotency-key")
            #expect(
                try await client.send("POST", "/api/Item", json: ["name": "b"], ["Idempotency-Key": ""]).status == 400)

            // A change that failed wrote no note: the corrected request may use the key.
            #expect(try await client.send("POST", "/api/Unit", json: [:], ["Idempotency-Key": Keys.k2]).status == 422)
            #expect(
                try await client.send("POST", "/api/Unit", json: ["name": "kg"], ["Idempotency-Key": Keys.k2]).status
                    == 201)

            let path = "/api/Item/\(first.json.id)"
            let delete = ["Idempotency-Key": Keys.k3]
            #expect(try await client.send("DELETE", path, delete).status == 204)
            #expect(try await client.send("DELETE", path, delete).status == 204)
            #expect(try await client.send("DELETE", path).status == 404)
        }
    }

    @Test func theSameRequestSentManyTimesAtOnceIsDoneOnce() async throws {
        try await TestService.run { service in
            let client = service.client
            // Two processes on one store.
            let other = try await TestService.open(service.url)
            try await TestService.serve(ServiceResponder(store: other)) { port in
                let clients = [client, RawClient(port: port)]
                let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                    for number in 0..<10 {
                        group.addTask {
                            try await clients[number % 2].send(
                                "POST", "/api",
                                json: [
                                    "changes": [
                                        ["create": "Item", "values": ["name": "a"]],
                                        ["create": "Tag", "values": ["name": "t"]],
                                    ]
                                ],
                                ["Idempotency-Key": Keys.once])
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.map(\.text))")
                #expect(answers.filter { $0.header("Idempotency-Replayed") == nil }.count == 1)
                let ids = Set(answers.map { $0.json["results"]?.array?.map(\.id) ?? [] })
                #expect(ids.count == 1)
            }
            #expect(try await client.get("/api/Item").json.names == ["a"])
            #expect(try await client.get("/api/Tag").json.names == ["t"])
        }
    }
}
