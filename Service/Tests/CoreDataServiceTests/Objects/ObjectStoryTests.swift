import CoreData
import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

@Suite struct ObjectStoryTests {
    @Test func anObjectOfEveryTypeIsMadeReadChangedAndDeleted() async throws {
        try await TestService.run { service in
            let client = service.client
            let unit = try await service.make("Unit", ["name": "kg"]).id
            let tags = [
                try await service.make("Tag", ["name": "b"]).id, try await service.make("Tag", ["name": "a"]).id,
            ]
            let values: JSONValue = [
                "name": "Flour", "price": .number("12345678901.1234"), "quantity": .number("0.1"),
                "weight": .number("0.1"),
                "listed": true, "day": "2024-05-01T10:00:00.25Z", "stock": -32768,
                "big": .number("9223372036854775807"),
                "code": "6F997B6B-0000-4000-8000-000000000001", "site": "https://example.com/a", "data": "AQID",
                "place": ["street": "High", "number": 7], "unit": .string(unit),
                "tags": .array(tags.map { .string($0) }),
            ]
            let made = try await client.send("POST", "/api/Item", json: values)
            #expect(made.status == 201)
            let item = made.json
            #expect(made.header("Location") == "/api/Item/\(item.id)")
            #expect(made.tag.hasPrefix(item.version + "-") && item.version.count == 16)
            guard case .object(let members) = values else { return }
            for member in members where member.name != "tags" {
                #expect(item[member.name] == member.value, "\(member.name)")
            }
            #expect(item["folded"] == "flour")
            #expect(item["tags"] == nil)
            #expect(item["secret"] == nil && item["color"] == nil)

            let read = try await client.get("/api/Item/\(item.id)?include=unit&fields=name,tags")
            #expect(read.json["unit"]?["name"] == "kg")
            #expect(read.json["tags"]?.array == tags.map { .string($0) })
            #expect(read.json["price"] == nil)
            let again = try await client.get("/api/Item/\(item.id)")
            #expect(again.text == made.text)
            #expect(again.tag == made.tag)

            let changed = try await client.send(
                "PATCH", "/api/Item/\(item.id)",
                json: ["price": nil, "tags": ["remove": [.string(tags[0])]], "unit": nil, "name": "Rye"])
            #expect(changed.status == 200)
            #expect(changed.json["price"] == .null && changed.json["unit"] == .null && changed.json["folded"] == "rye")
            #expect(changed.tag != made.tag)
            #expect(try await client.get("/api/Item/\(item.id)?fields=tags").json["tags"]?.array == [.string(tags[1])])

            #expect(try await client.send("DELETE", "/api/Item/\(item.id)").status == 204)
            let gone = try await client.get("/api/Item/\(item.id)")
            #expect(gone.status == 404)
            let never = try await client.get("/api/Item/\(UUID())")
            #expect(gone.json["detail"] == never.json["detail"])
        }
    }

    @Test func entitiesThatInheritAreReadTogether() async throws {
        try await TestService.run { service in
            let wine = try await service.make("Drink", ["name": "Wine", "strength": 12])
            try await service.make("Item", ["name": "Bread"])
            let all = try await service.client.get("/api/Item?sort=name").json
            #expect(all.names == ["Bread", "Wine"])
            #expect(all["items"]?.array?.last?["_entity"] == "Drink")
            #expect(all["items"]?.array?.last?["strength"] == 12)
            #expect(try await service.client.get("/api/Item/\(wine.id)").json == wine)
            #expect(try await service.client.get("/api/Drink").json.names == ["Wine"])
            let changed = try await service.client.send("PATCH", "/api/Item/\(wine.id)", json: ["strength": 13])
            #expect(changed.json["strength"] == 13)
        }
    }

    @Test func mistakesNameEntityPropertyAndCode() async throws {
        try await TestService.run { service in
            let client = service.client
            let missing = try await client.send("POST", "/api/Item", json: ["price": 1])
            #expect(missing.status == 422)
            #expect(missing.header("Content-Type") == "application/problem+json")
            #expect(
                missing.json["code"] == 1570 && missing.json["entity"] == "Item" && missing.json["property"] == "name")

            let several = try await client.send(
                "POST", "/api/Item",
                json: [
                    "name": 1, "stock": 99999, "place": ["number": "x"], "folded": "x", "photo": "AQID", "nothing": 1,
                    "unit": "6F997B6B-0000-4000-8000-000000000001", "tags": ["x"], "temporary": "x", "secret": nil,
                ])
            #expect(several.status == 422)
            let pointers = several.json["errors"]?.array?.compactMap { $0["pointer"]?.string } ?? []
            #expect(
                pointers == [
                    "/name", "/stock", "/place/number", "/folded", "/photo", "/nothing", "/unit", "/tags/0",
                    "/temporary", "/secret",
                ])

            let rule = try await client.send("POST", "/api/Item", json: ["name": "a", "quantity": -1])
            #expect(rule.status == 422 && rule.json["property"] == "quantity")
            // Values of clients do not come back in messages of the store.
            #expect(!rule.text.contains("-1"))

            try await service.make("Unit", ["name": "kg"])
            let taken = try await client.send("POST", "/api/Unit", json: ["name": "kg"])
            #expect(taken.status == 409 && taken.json["property"] == "name")
            let item = try await service.make("Item", ["name": "a"])
            let changedID = try await client.send(
                "PATCH", "/api/Item/\(item.id)", json: ["id": .string(UUID().uuidString)])
            #expect(changedID.status == 422)
            let twice = try await client.send("POST", "/api/Item", json: ["_id": .string(item.id), "name": "b"])
            #expect(twice.status == 409)
            // The store would round it.
            let long = try await client.send(
                "PATCH", "/api/Item/\(item.id)", json: ["price": .number("1234567890.123456")])
            #expect(long.status == 422 && long.text.contains("up to 15 digits"))
        }
    }

    @Test func aDeniedDeletionChangesNothing() async throws {
        try await TestService.run { service in
            let unit = try await service.make("Unit", ["name": "kg"]).id
            let item = try await service.make("Item", ["name": "a", "unit": .string(unit)]).id
            let denied = try await service.client.send("DELETE", "/api/Unit/\(unit)")
            #expect(denied.status == 409 && denied.json["code"] == 1600 && denied.json["property"] == "items")
            #expect(try await service.client.send("DELETE", "/api/Item/\(item)").status == 204)
            #expect(try await service.client.send("DELETE", "/api/Unit/\(unit)").status == 204)
        }
    }

    @Test func aListOfChangesIsOneTransaction() async throws {
        try await TestService.run { service in
            let client = service.client
            let (unit, item) = (UUID().uuidString, UUID().uuidString)
            let done = try await client.send(
                "POST", "/api",
                json: [
                    "changes": [
                        ["create": "Item", "values": ["_id": .string(item), "name": "a", "unit": .string(unit)]],
                        ["create": "Unit", "values": ["id": .string(unit), "name": "kg"]],
                    ]
                ])
            #expect(done.status == 200)
            #expect(done.json["results"]?.array?.map { $0["status"] } == [201, 201])
            #expect(try await client.get("/api/Item/\(item)").json["unit"] == .string(unit))

            let failed = try await client.send(
                "POST", "/api",
                json: [
                    "changes": [
                        ["update": "Item", "id": .string(item), "values": ["name": "b"]],
                        ["create": "Item", "values": ["name": "c", "stock": "x"]],
                    ]
                ])
            #expect(failed.status == 422)
            #expect(failed.json["errors"]?.array?.first?["pointer"] == "/changes/1/values/stock")
            #expect(try await client.get("/api/Item").json.names == ["a"])

            let version = try await client.get("/api/Item/\(item)").json.version
            let stale = try await client.send(
                "POST", "/api",
                json: [
                    "changes": [
                        ["delete": "Item", "id": .string(item), "if": .string(version)],
                        ["update": "Unit", "id": .string(unit), "if": "0", "values": ["name": "g"]],
                    ]
                ])
            #expect(stale.status == 412)
            #expect(try await client.get("/api/Item").json.names == ["a"])
        }
    }

    @Test func largeValuesHaveAddressesOfTheirOwn() async throws {
        try await TestService.run { service in
            let client = service.client
            let item = try await service.make("Item", ["name": "a"])
            let path = "/api/Item/\(item.id)/photo"
            #expect(item["photo"] == .string(path))
            #expect(try await client.get(path).status == 404)
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let put = try await client.send("PUT", path, ["If-Match": "\"\(item.version)\""], body: bytes)
            #expect(put.status == 204)
            #expect(try await client.send("PUT", path, ["If-Match": "\"\(item.version)\""], body: [1]).status == 412)

            let whole = try await client.get(path)
            #expect(whole.body == bytes && whole.header("Content-Type") == "image/png")
            #expect(whole.header("Content-Disposition") == "attachment")
            let part = try await client.get(path, ["Range": "bytes=299990-"])
            #expect(part.status == 206 && part.body == Array(bytes.suffix(10)))
            #expect(part.header("Content-Range") == "bytes 299990-299999/300000")
            #expect(try await client.get(path, ["Range": "bytes=300000-"]).status == 416)
            #expect(try await client.get(path, ["Range": "bytes=0-1", "If-Range": "\"old\""]).status == 200)
            #expect(try await client.get(path, ["If-None-Match": "\"\(whole.tag)\""]).status == 304)
            #expect(try await client.send("DELETE", path).status == 204)
            #expect(try await client.get(path).status == 404)
        }
    }

    @Test func valuesAndBodiesHaveALimit() async throws {
        var limits = ServiceLimits()
        limits.bodySize = 1000
        limits.valueSize = 2000
        limits.bodyTime = .milliseconds(300)
        try await TestService.run(limits) { service in
            let client = service.client
            let item = try await service.make("Item", ["name": "a"])
            let path = "/api/Item/\(item.id)/photo"
            #expect(try await client.send("PUT", path, body: Array(repeating: 1, count: 2000)).status == 204)
            #expect(try await client.send("PUT", path, body: Array(repeating: 1, count: 2001)).status == 413)
            let long = try await client.send(
                "POST", "/api/Item", json: ["name": .string(String(repeating: "x", count: 1000))])
            #expect(long.status == 413)
            // Chunked, so that no length is stated before.
            let chunk = String(repeating: "x", count: 900)
            let chunked =
                "POST /api/Item HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "384\r\n\(chunk)\r\n384\r\n\(chunk)\r\n0\r\n\r\n"
            #expect(try await client.raw(Array(chunked.utf8)).status == 413)
            let slow =
                "POST /api/Item HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"
            #expect(try await client.raw(Array(slow.utf8)).status == 408)
        }
    }
}
