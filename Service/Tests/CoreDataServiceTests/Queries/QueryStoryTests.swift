import CoreDataJSON
import Foundation
import Testing

@testable import CoreDataService

@Suite struct QueryStoryTests {
    @Test func pagesFollowEachOtherInEveryOrder() async throws {
        try await TestService.run { service in
            let client = service.client
            var created: [JSONValue] = []
            for number in 0..<23 {
                created.append([
                    "create": "Item",
                    "values": [
                        "name": .string("n\(number % 4)"),
                        "price": number % 5 == 0 ? .null : .number("\(number % 3).1"),
                        "day": number % 7 == 0 ? .null : .string("2024-05-0\(1 + number % 3)T10:00:00.3Z"),
                        "place": number % 2 == 0 ? .null : ["street": .string("s\(number % 3)")],
                        "weight": .number("0.\(number % 6)"), "listed": .boolean(number % 2 == 0),
                    ],
                ])
            }
            #expect(try await client.send("POST", "/api", json: ["changes": .array(created)]).status == 200)
            for sort in [
                "", "name", "-price", "price,-name", "-day,weight", "place.street,-listed", "-id", "unit.name,-price",
                "weight",
            ] {
                var seen: [String] = []
                var after = ""
                repeat {
                    let page = try await client.get(
                        "/api/Item?limit=4&sort=\(sort)&after=\(after)".replacing("&after=&", with: "&").trimmed)
                    guard page.status == 200 else { throw ClientFailure(description: "\(sort): \(page.text)") }
                    seen += page.json["items"]?.array?.map(\.id) ?? []
                    after = page.json["next"]?.string ?? ""
                } while !after.isEmpty && seen.count < 100
                let whole = try await client.get("/api/Item?limit=1000&sort=\(sort)").json["items"]?.array?.map(\.id)
                #expect(seen == whole, "\(sort)")
                #expect(Set(seen).count == 23, "\(sort)")
            }
        }
    }

    /// A page may end at a value that JSON, or ISO 8601, has no form of its own for.
    @Test func pagesEndAtInfinityAndDistantDates() async throws {
        try await TestService.run { service in
            let client = service.client
            for (quantity, weight, day) in [
                ("\"Infinity\"", "\"-Infinity\"", "\"-Infinity\""), ("1", "\"Infinity\"", "252423993600"),
                ("1e300", "0.5", "-63113904001.5"), ("null", "null", "\"2024-05-01T10:00:00Z\""),
                ("0", "1", "\"Infinity\""),
            ] {
                let body = "{\"name\":\"a\",\"quantity\":\(quantity),\"weight\":\(weight),\"day\":\(day)}"
                let made = try await client.send(
                    "POST", "/api/Item", ["Content-Type": "application/json"], body: Array(body.utf8))
                #expect(made.status == 201, "\(made.text)")
                // What was answered is taken back.
                let back = try await client.send("PATCH", "/api/Item/\(made.json.id)", json: made.json)
                #expect(back.status == 200 && back.json == made.json, "\(back.text)")
            }
            for sort in ["quantity", "-quantity", "weight", "-weight", "day", "-day"] {
                var seen: [String] = []
                var after = ""
                repeat {
                    let page = try await client.get(
                        "/api/Item?limit=1&sort=\(sort)&after=\(after)".replacing("&after=&", with: "&").trimmed)
                    guard page.status == 200 else { throw ClientFailure(description: "\(sort): \(page.text)") }
                    seen += page.json["items"]?.array?.map(\.id) ?? []
                    after = page.json["next"]?.string ?? ""
                } while !after.isEmpty && seen.count < 10
                let whole = try await client.get("/api/Item?sort=\(sort)").json["items"]?.array?.map(\.id)
                #expect(seen == whole && seen.count == 5, "\(sort)")
            }
        }
    }

    @Test func sumsBeyond64BitsKeepTheirSign() async throws {
        try await TestService.run { service in
            for _ in 0..<2 { try await service.make("Item", ["name": "a", "big": .number("9223372036854775807")]) }
            let answer = try await service.client.get("/api/Item?aggregate=sum(big)")
            #expect(answer.json["groups"]?.array == [["sum(big)": .number("1.8446744073709552e+19")]], "\(answer.text)")
        }
    }

    @Test func aPageBeginsAfterAnObjectThatWasDeleted() async throws {
        try await TestService.run { service in
            let client = service.client
            for name in ["a", "b", "c", "d"] { try await service.make("Item", ["name": .string(name)]) }
            let page = try await client.get("/api/Item?sort=name&limit=2").json
            let last = page["items"]?.array?.last?.id ?? ""
            #expect(try await client.send("DELETE", "/api/Item/\(last)").status == 204)
            try await service.make("Item", ["name": "aa"])
            let next = page["next"]?.string ?? ""
            #expect(try await client.get("/api/Item?sort=name&limit=2&after=\(next)").json.names == ["c", "d"])
            #expect(try await client.get("/api/Item?sort=-name&limit=2&after=\(next)").status == 400)
            #expect(try await client.get("/api/Item?sort=name&after=x\(next)").status == 400)
        }
    }

    @Test func predicatesSelectObjects() async throws {
        try await TestService.run { service in
            let client = service.client
            let unit = try await service.make("Unit", ["name": "kg"]).id
            let tag = try await service.make("Tag", ["name": "new"]).id
            try await service.make(
                "Item", ["name": "Milk", "price": .number("1.5"), "unit": .string(unit), "day": "2024-05-01T10:00:00Z"])
            try await service.make(
                "Item", ["name": "Éclair", "price": .number("3"), "tags": [.string(tag)], "place": ["number": 7]])
            try await service.make("Drink", ["name": "Wine", "listed": true])
            for (text, names) in [
                ("price >= '1.5'", ["Milk", "Éclair"]), ("name ==[cd] 'eclair'", ["Éclair"]),
                ("unit == '\(unit)'", ["Milk"]),
                ("unit.name == 'kg' AND day > '2024-04-30'", ["Milk"]), ("unit == nil", ["Wine", "Éclair"]),
                ("ANY tags.name == 'new'", ["Éclair"]), ("tags CONTAINS '\(tag)'", ["Éclair"]),
                ("tags.@count == 0", ["Milk", "Wine"]),
                ("SUBQUERY(tags, $t, $t.name BEGINSWITH 'n').@count > 0", ["Éclair"]),
                ("place.number == 7", ["Éclair"]),
                ("listed == YES OR price < 2", ["Milk", "Wine"]), ("name IN {'Milk', 'Wine'}", ["Milk", "Wine"]),
                ("name LIKE '*i*'", ["Milk", "Wine", "Éclair"]), ("FALSEPREDICATE", []),
                ("lowercase(name) == 'wine'", ["Wine"]),
                ("SELF == '\(unit)'", []), ("price * 2 > 5", ["Éclair"]), ("folded BEGINSWITH 'm'", ["Milk"]),
                ("photo == nil", ["Milk", "Wine", "Éclair"]),
            ] as [(String, [String])] {
                let answer = try await client.get("/api/Item?sort=name&count=true&where=\(text.encoded)")
                #expect(answer.json.names == names, "\(text): \(answer.text)")
                #expect(answer.json["count"] == .integer(names.count), "\(text)")
            }
            let arguments = try await client.get(
                "/api/Item?where=\("name IN $n".encoded)&arg.n=Milk&arg.n=Wine&sort=name")
            #expect(arguments.json.names == ["Milk", "Wine"])
            let wrong = try await client.get("/api/Item?where=\("nam == 1".encoded)")
            #expect(wrong.status == 400 && wrong.json["position"] == 1)
        }
    }

    @Test func aggregatesAnswerNumbers() async throws {
        try await TestService.run { service in
            let client = service.client
            let unit = try await service.make("Unit", ["name": "kg"]).id
            try await service.make(
                "Item",
                [
                    "name": "a", "price": .number("1.25"), "stock": 3, "unit": .string(unit),
                    "day": "2024-05-01T10:00:00Z",
                ])
            try await service.make("Item", ["name": "b", "price": .number("2.5"), "stock": 4, "unit": .string(unit)])
            try await service.make("Item", ["name": "c"])
            let all = try await client.get("/api/Item?aggregate=count,sum(price),max(name),min(day),average(stock)")
            #expect(
                all.json["groups"]?.array == [
                    [
                        "count": 3, "sum(price)": .number("3.75"), "max(name)": "c", "min(day)": "2024-05-01T10:00:00Z",
                        "average(stock)": .number("3.5"),
                    ]
                ], "\(all.text)")
            let groups = try await client.get("/api/Item?aggregate=count&group=unit")
            #expect(
                groups.json["groups"]?.array == [["unit": nil, "count": 1], ["unit": .string(unit), "count": 2]],
                "\(groups.text)")
            let some = try await client.get("/api/Item?aggregate=count&where=\("stock > 3".encoded)")
            #expect(some.json["groups"]?.array == [["count": 1]], "\(some.text)")
            for wrong in ["sum(name)", "count,count", "nothing", "sum(items)", "max(place)", "sum(secret)", ""] {
                #expect(try await client.get("/api/Item?aggregate=\(wrong.encoded)").status == 400, "\(wrong)")
            }
        }
    }

    @Test func aQueryThatTakesTooLongIsStopped() async throws {
        try await TestService.run { service in
            let client = service.client
            let tags = (0..<100).map { number -> JSONValue in
                ["create": "Tag", "values": ["name": .string("\(number)" + String(repeating: "a", count: 200))]]
            }
            let made = try await client.send("POST", "/api", json: ["changes": .array(tags)])
            let ids = made.json["results"]?.array?.map { JSONValue.string($0.id) } ?? []
            let items = (0..<40).map { number -> JSONValue in
                ["create": "Item", "values": ["name": .string("\(number)"), "tags": .array(Array(ids.prefix(60)))]]
            }
            #expect(try await client.send("POST", "/api", json: ["changes": .array(items)]).status == 200)
            // 144,000 names are compared; the same query with the usual limit answers.
            let text =
                "SUBQUERY(items, $i, SUBQUERY($i.tags, $t, $t.name LIKE '*b*c*' OR $t.name LIKE '*d*e*').@count > 0).@count > 0"
            var limits = ServiceLimits()
            limits.statementTime = .milliseconds(2)
            let impatient = try await TestService.open(service.url, limits)
            try await TestService.serve(ServiceResponder(store: impatient)) { port in
                let answer = try await RawClient(port: port).get("/api/Tag?where=\(text.encoded)")
                #expect(
                    answer.status == 422 && answer.json["type"] == "urn:coredata:problem:too-expensive",
                    "\(answer.text.prefix(200))")
            }
            #expect(try await client.get("/api/Tag?where=\(text.encoded)").json.names == [])
        }
    }
}

extension String {
    /// Without an empty parameter at the end.
    fileprivate var trimmed: String { hasSuffix("&after=") ? String(dropLast(7)) : self }
}
