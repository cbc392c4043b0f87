import Foundation
import Testing

@testable import CoreDataService

/// Input that would have no effect is refused, with a reason.
@Suite struct IgnoredInputTests {
    @Test func anEntityThatDiffersIsRefused() async throws {
        try await TestService.run { service in
            let client = service.client
            let item = try await service.make("Item", ["_entity": "Item", "name": "a"])
            let path = "/api/Item/\(item.id)"
            for (method, address) in [("POST", "/api/Item"), ("PATCH", path)] {
                let answer = try await client.send(method, address, json: ["_entity": "Drink", "name": "b"])
                #expect(answer.status == 422, "\(answer.text)")
                #expect(answer.json["errors"]?.array?.first?["pointer"] == "/_entity")
            }
            let drink = try await service.make("Drink", ["name": "c"])
            let same = try await client.send("PATCH", "/api/Item/\(drink.id)", json: ["_entity": "Drink", "name": "d"])
            #expect(same.status == 200, "\(same.text)")
            #expect(try await client.get("/api/Item?sort=name").json.names == ["a", "d"])
        }
    }

    @Test func onlyItsOwnAddressStandsForALargeValue() async throws {
        try await TestService.run { service in
            let client = service.client
            let (item, other) = (
                try await service.make("Item", ["name": "a"]), try await service.make("Item", ["name": "b"])
            )
            let path = "/api/Item/\(item.id)"
            #expect(try await client.send("PUT", path + "/photo", body: [1, 2, 3]).status == 204)
            for address in ["/api/Item/\(other.id)/photo", "x/photo", "https://example.com/photo", "/photo"] {
                let answer = try await client.send("PATCH", path, json: ["photo": .string(address)])
                #expect(answer.status == 422 && answer.json["property"] == "photo", "\(address): \(answer.text)")
            }
            let same = try await client.send("PATCH", path, json: ["photo": .string(path + "/photo")])
            #expect(same.status == 200, "\(same.text)")
            #expect(try await client.get(path + "/photo").body == [1, 2, 3])
        }
    }

    @Test func aValueIsNotReplacedAgainstIfNoneMatch() async throws {
        try await TestService.run { service in
            let client = service.client
            let path = "/api/Item/\(try await service.make("Item", ["name": "a"]).id)"
            let photo = path + "/photo"
            #expect(try await client.send("PUT", photo, ["If-None-Match": "*"], body: [1]).status == 204)
            let refused = try await client.send("PUT", photo, ["If-None-Match": "*"], body: [2])
            #expect(refused.status == 412 && refused.json["type"] == "urn:coredata:problem:exists", "\(refused.text)")
            let tag = try await client.get(photo).tag
            #expect(try await client.send("PUT", photo, ["If-None-Match": "\"\(tag)\""], body: [2]).status == 412)
            #expect(try await client.send("PUT", photo, ["If-None-Match": "\"x\""], body: [3]).status == 204)
            #expect(try await client.get(photo).body == [3])
            #expect(try await client.send("PATCH", path, json: ["name": "b"], ["If-None-Match": "*"]).status == 412)
            #expect(try await client.send("DELETE", path, ["If-None-Match": "*"]).status == 412)
            for (address, name) in [("/api/Item", "If-Match"), ("/api/Item", "If-None-Match"), ("/api", "If-Match")] {
                let answer = try await client.send("POST", address, json: ["name": "c"], [name: "*"])
                #expect(answer.status == 400 && answer.text.contains(name), "\(answer.text)")
            }
        }
    }

    @Test func aWeakTagChangesNothing() async throws {
        try await TestService.run { service in
            let client = service.client
            let path = "/api/Item/\(try await service.make("Item", ["name": "a"]).id)"
            let tag = try await client.get(path).tag
            let weak = try await client.send("PATCH", path, json: ["name": "b"], ["If-Match": "W/\"\(tag)\""])
            #expect(weak.status == 412 && weak.text.contains("weak"), "\(weak.text)")
            #expect(try await client.get(path, ["If-None-Match": "W/\"\(tag)\""]).status == 304)
            #expect(try await client.get(path).json["name"] == "a")
        }
    }

    @Test func aKeyThatIsNoUUIDIsNamed() async throws {
        try await TestService.run { service in
            let answer = try await service.client.send(
                "POST", "/api/Item", json: ["name": "a"], ["Idempotency-Key": "k1"])
            #expect(answer.status == 400 && answer.text.contains("UUID"), "\(answer.text)")
            #expect(try await service.client.get("/api/Item").json.names == [])
        }
    }
}
