import Foundation
import Testing

@testable import CoreDataService

/// Requests that the server refuses before the service sees them.
@Suite struct EarlyRefusalTests {
    private static let host = "Host: 127.0.0.1\r\n"

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\(host)X-Long: \(String(repeating: "x", count: 100_000))\r\n\r\n", 431),
        (
            "GET / HTTP/1.1\r\n\(host)" + (0..<200).map { "X-\($0): 1\r\n" }.joined() + "\r\n", 431
        ),
        ("GET / HTTP/9.9\r\n\r\n", 400), ("\0\0\0\0\r\n\r\n", 400), ("GET\r\n\r\n", 400),
        ("POST /api HTTP/1.1\r\n\(host)Content-Length: -5\r\n\r\n", 400),
        ("POST /api HTTP/1.1\r\n\(host)Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1", 400),
        ("GET / HTTP/1.1\r\n\(host)Bad Header: 1\r\n\r\n", 400), ("G\u{E9}T / HTTP/1.1\r\n\(host)\r\n", 400),
    ])
    func areProblems(_ text: String, _ status: Int) async throws {
        try await TestService.run { service in
            let answer = try await service.client.raw(Array(text.utf8))
            #expect(answer.status == status, "\(answer.status) \(answer.text)")
            #expect(answer.header("Content-Type") == "application/problem+json")
            #expect(answer.json["status"] == .integer(status) && answer.json["detail"] != nil, "\(answer.text)")
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
            #expect(try await service.client.get("/health").status == 200)
        }
    }

    /// The parser finds the mistake while the service reads the body.
    @Test func aBodyWithWrongFramingIsAProblem() async throws {
        try await TestService.run { service in
            let head = "POST /api/Item HTTP/1.1\r\n\(Self.host)Content-Type: application/json\r\n"
            let text = head + "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"nam\r\nzz\r\n"
            let answer = try await service.client.raw(Array(text.utf8))
            #expect(answer.status == 400, "\(answer.status)")
            #expect(answer.header("Content-Type") == "application/problem+json", "\(answer.text)")
            #expect(try await service.client.get("/api/Item").json.names == [])
        }
    }
}
