import Foundation
import Testing

@testable import CoreDataService

@Suite struct HostileRequestTests {
    /// Each of these requests is answered by a problem of the client's, and the service goes on.
    @Test func noRequestStopsTheService() async throws {
        try await TestService.run { service in
            let client = service.client
            let id = try await service.make("Item", ["name": "a"]).id
            let json = ["Content-Type": "application/json"]
            let bodies: [[UInt8]] = [
                [], Array("null".utf8), Array("[]".utf8), Array("\"x\"".utf8), [0xFF, 0xFE], [0x22, 0xC3, 0x28, 0x22],
                Array(String(repeating: "[", count: 200_000).utf8),
                Array(String(repeating: "{\"a\":", count: 50_000).utf8),
                Array(("{\"name\":" + String(repeating: "9", count: 100_000) + "}").utf8),
                Array("{\"big\":1e999999999}".utf8),
                Array("{\"price\":1e-999999}".utf8), Array("{\"quantity\":1e999}".utf8),
                Array("{\"name\":\"\\u0000\"}".utf8),
                Array("{\"tags\":[[[[]]]]}".utf8), Array("{\"tags\":{\"add\":5}}".utf8),
                Array("{\"unit\":{\"_id\":{}}}".utf8),
                Array("{\"place\":{\"street\":{\"a\":1}}}".utf8),
                Array("{\"day\":\"9999999999-01-01T00:00:00Z\"}".utf8),
                Array(("{\"name\":\"" + String(repeating: "e\u{301}", count: 100_000) + "\",\"x\":1}").utf8),
                Array(("{" + (0..<60_000).map { "\"a\($0)\":1" }.joined(separator: ",") + "}").utf8),
                Array("{\"name\":\"a\",\"name\":\"b\"}".utf8),
                Array("{\"id\":\"x\"}".utf8), Array("{\"_id\":5}".utf8),
                Array("{\"changes\":[{\"create\":\"Item\",\"delete\":\"Item\"}]}".utf8),
                Array("{\"changes\":5}".utf8), Array("{\"changes\":[{\"update\":\"Nothing\",\"id\":\"x\"}]}".utf8),
            ]
            for body in bodies {
                for (method, path) in [("POST", "/api/Item"), ("PATCH", "/api/Item/\(id)"), ("POST", "/api")] {
                    let answer = try await client.send(method, path, json, body: body)
                    let isEmptyChange = method == "PATCH" && body == Array("null".utf8)
                    #expect(
                        (400..<500).contains(answer.status) || isEmptyChange,
                        "\(method) \(String(decoding: body.prefix(60), as: UTF8.self)): \(answer.status)")
                    #expect(answer.json["status"] == .integer(answer.status))
                }
            }
            #expect(try await client.get("/api/Item").json.names == ["a"])
        }
    }

    @Test func addressesAndHeadersAreBounded() async throws {
        try await TestService.run { service in
            let client = service.client
            let many = (0..<5000).map { "p\($0)=1" }.joined(separator: "&")
            for (path, status) in [
                ("/api/Item?\(many)", 400), ("/api/Item?where=" + String(repeating: "a", count: 9000), 400),
                ("/api/Item?where=%FF", 400),
                ("/api/Item?where=%00", 400), ("/api/Item?limit=-1", 400),
                ("/api/Item?limit=99999999999999999999", 400), ("/api/Item?limit=1001", 400),
                ("/api/Item?limit=1&limit=2", 400), ("/api/Item?whre=1", 400), ("/api/Item?sort=photo", 400),
                ("/api/Item?sort=tags.name", 400),
                ("/api/Item?sort=a,b,c,d,e,f", 400), ("/api/Item?include=unit.items.unit", 400),
                ("/api/Item?include=nothing", 400),
                ("/api/Item?fields=nothing", 400), ("/api/Item?after=AAAA", 400), ("/api/Item?count=maybe", 400),
                ("/api/Item?group=name&aggregate=", 400),
                ("/api/Nothing", 404), ("/api/Secret", 404), ("/api/Item/x", 404), ("/api/Item/%2e%2e", 404),
                ("/api//", 404), ("/api/Item/a/b/c", 404),
                ("/nothing", 404), ("/api/%FF", 404), ("/" + String(repeating: "a", count: 3000), 414),
                ("/api/Item/\(UUID())/name", 404),
                ("/api/Item/\(UUID())/photo", 404),
            ] {
                let answer = try await client.get(path)
                #expect(answer.status == status, "\(path.prefix(60)): \(answer.status) \(answer.text.prefix(200))")
                #expect(answer.header("Content-Type") == "application/problem+json")
                #expect(answer.header("X-Content-Type-Options") == "nosniff")
            }
            let huge = try await client.get("/health", ["X-Long": String(repeating: "x", count: 100_000)])
            #expect((400..<500).contains(huge.status))
            for bytes in [
                "GET / HTTP/9.9\r\n\r\n", "\0\0\0\0", "GET /\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n",
                "POST /api HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
            ] {
                _ = try? await RawClient(port: client.port, seconds: 2).raw(Array(bytes.utf8))
            }
            #expect(try await client.get("/health").status == 200)
        }
    }

    @Test func methodsThatARouteDoesNotHaveAreNamed() async throws {
        try await TestService.run { service in
            for (method, path, allowed) in [
                ("DELETE", "/api/Item", "GET, HEAD, POST"), ("POST", "/schema", "GET, HEAD"), ("GET", "/api", "POST"),
                ("PUT", "/api/Item/\(UUID())", "GET, HEAD, PATCH, DELETE"), ("TRACE", "/health", "GET, HEAD"),
                ("OPTIONS", "/api/Item", "GET, HEAD, POST"),
            ] {
                let answer = try await service.client.send(method, path)
                #expect(answer.status == 405 && answer.header("Allow") == allowed, "\(method) \(path) \(answer.status)")
            }
            let item = try await service.make("Item", ["name": "a"])
            let head = try await service.client.send("HEAD", "/api/Item/\(item.id)")
            #expect(head.status == 200 && head.body.isEmpty && head.tag.hasPrefix(item.version))
            let text = try await service.client.send(
                "POST", "/api/Item", ["Content-Type": "text/plain"], body: [0x7B, 0x7D])
            #expect(text.status == 415)
        }
    }

    @Test func requestsHaveIDsAndMetrics() async throws {
        var settings = ServiceResponder.Settings()
        settings.metricsToken = "token"
        try await TestService.run(settings: settings) { service in
            let client = service.client
            #expect(try await client.get("/health", ["X-Request-Id": "my-ID_1"]).header("X-Request-Id") == "my-ID_1")
            let odd = try await client.get("/nothing", ["X-Request-Id": "<script>"])
            #expect(odd.header("X-Request-Id") != "<script>")
            #expect(odd.json["instance"] == .string("urn:request:" + (odd.header("X-Request-Id") ?? "")))
            #expect(try await client.get("/metrics").status == 404)
            #expect(try await client.get("/metrics", ["Authorization": "Bearer tokem"]).status == 404)
            let metrics = try await client.get("/metrics", ["Authorization": "Bearer token"])
            #expect(metrics.status == 200 && metrics.text.contains("route=\"/health\",status=\"200\"} 1\n"))
            #expect(!metrics.text.contains("nothing"))
        }
    }

    @Test func moreRequestsThanTheLimitAreToldToComeBack() async throws {
        let limiter = WorkLimiter(count: 1, maximumWaiting: 1, patience: .milliseconds(50))
        let (open, gate) = AsyncStream<Void>.makeStream()
        let (began, begin) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await limiter.run {
                begin.yield()
                for await _ in open { break }
            }
        }
        for await _ in began { break }
        await #expect(throws: Problem.busy) { try await limiter.run {} }
        gate.yield()
        try await first.value
        try await limiter.run {}
    }

    /// An account whose requests work already waits, and others do not.
    @Test func oneAccountHasAShareOfThePlaces() async throws {
        let limiter = WorkLimiter(count: 2, maximumWaiting: 4, patience: .milliseconds(50), share: 1)
        let (open, gate) = AsyncStream<Void>.makeStream()
        let (began, begin) = AsyncStream<Void>.makeStream()
        let first = Task {
            try await limiter.run(for: "ann") {
                begin.yield()
                for await _ in open { break }
            }
        }
        for await _ in began { break }
        await #expect(throws: Problem.busy) { try await limiter.run(for: "ann") {} }
        try await limiter.run(for: "bob") {}
        try await limiter.run {}
        gate.yield()
        try await first.value
        try await limiter.run(for: "ann") {}
    }

    /// A place that becomes free goes to the first request whose account has not used up its share.
    @Test func aFreePlaceGoesToAnotherAccount() async throws {
        let limiter = WorkLimiter(count: 1, maximumWaiting: 100, patience: .seconds(60), share: 1)
        let order = await withTaskGroup(of: Int.self) { group in
            for number in 0..<50 {
                group.addTask { (try? await limiter.run(for: number % 2 == 0 ? "ann" : "bob") { number }) ?? -1 }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(order.sorted() == Array(0..<50))
    }
}
