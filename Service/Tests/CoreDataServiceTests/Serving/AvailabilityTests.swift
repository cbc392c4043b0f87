import CoreDataJSON
import Foundation
import Synchronization
import Testing

@testable import CoreDataService

@Suite struct AvailabilityTests {
    private final class EndCount: Sendable {
        let number = Mutex(0)
    }

    /// A service must not go on with a file that is no longer the store.
    @Test func aStoreThatIsMovedIsReported() async throws {
        try await TestService.run { service in
            let client = service.client
            let item = try await service.make("Item", ["name": "a"])
            let other = service.folder.appendingPathComponent("Moved.sqlite")
            try FileManager.default.moveItem(at: service.url, to: other)
            #expect(try await client.get("/health").status == 503)
            for (method, path) in [
                ("GET", "/api/Item"), ("GET", "/api/Item/\(item.id)"), ("DELETE", "/api/Item/\(item.id)"),
            ] {
                let answer = try await client.send(method, path)
                #expect(answer.status == 503 && answer.json["type"] == "urn:coredata:problem:store", "\(answer.text)")
            }
            #expect(try await client.send("POST", "/api/Item", json: ["name": "b"]).status == 503)
            // A restored backup at the same place is another file.
            try FileManager.default.copyItem(at: other, to: service.url)
            #expect(try await client.get("/health").status == 503)
            try FileManager.default.removeItem(at: service.url)
            try FileManager.default.moveItem(at: other, to: service.url)
            #expect(try await client.get("/health").status == 200)
            #expect(try await client.get("/api/Item").json.names == ["a"])
        }
    }

    /// As many statements as there are processors run to their limit; other requests are answered meanwhile.
    @Test func longStatementsLeaveTimeForOthers() async throws {
        var limits = ServiceLimits()
        limits.statementTime = .seconds(5)
        let count = min(ProcessInfo.processInfo.activeProcessorCount, limits.readers - 1)
        try await TestService.run(limits) { service in
            let client = service.client
            let tags = (0..<100).map { number -> JSONValue in
                ["create": "Tag", "values": ["name": .string("\(number)" + String(repeating: "a", count: 200))]]
            }
            let made = try await client.send("POST", "/api", json: ["changes": .array(tags)])
            let ids = made.json["results"]?.array?.map { JSONValue.string($0.id) } ?? []
            let items = (0..<100).map { number -> JSONValue in
                ["create": "Item", "values": ["name": .string("\(number)"), "tags": .array(ids)]]
            }
            #expect(try await client.send("POST", "/api", json: ["changes": .array(items)]).status == 200)
            let text =
                "SUBQUERY(items, $i, SUBQUERY($i.tags, $t, $t.name LIKE '*b*c*' OR $t.name LIKE '*d*e*').@count > 0).@count > 0"
            let ended = EndCount()
            var patient = client
            patient.seconds = 60
            let slow = patient
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        _ = try await slow.get("/api/Tag?where=\(text.encoded)")
                        ended.number.withLock { $0 += 1 }
                    }
                }
                while try await client.get("/metrics").text.firstMatch(of: /in_flight (\d+)/)
                    .flatMap({ Int($0.output.1) }) ?? 0 <= count
                { await Task.yield() }
                #expect(try await client.get("/api/Item?limit=1").status == 200)
                #expect(try await client.get("/health").status == 200)
                #expect(ended.number.withLock { $0 } == 0)
                try await group.waitForAll()
            }
        }
    }
}
