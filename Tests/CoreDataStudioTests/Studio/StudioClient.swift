import CoreDataStudio
import Foundation
import Testing

/// A browser that has opened Studio's address: it keeps the cookie and the token of forms.
struct StudioClient: Sendable {
    let studio: Studio
    var host = "127.0.0.1:8086"
    var cookie = ""

    init(_ studio: Studio) async throws {
        self.studio = studio
        let address = studio.address(port: 8086)
        let target = try #require(address.range(of: "/?token=").map { String(address[$0.lowerBound...]) })
        let response = await studio.respond(to: request("GET", target))
        let header = try #require(response.header("Set-Cookie"))
        cookie = String(header.prefix { $0 != ";" })
    }

    func request(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], form: String? = nil
    ) -> StudioRequest {
        var all: [(name: String, value: String)] = [("Host", host), ("Cookie", cookie)] + headers
        if form != nil { all.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return StudioRequest(method: method, target: target, headers: all, body: Data((form ?? "").utf8))
    }

    /// A page, with its status.
    func get(_ address: String, headers: [(name: String, value: String)] = []) async throws -> Answer {
        try await Answer(await studio.respond(to: request("GET", address, headers: headers)))
    }

    /// Sends a form of the page, with the page's token.
    func post(_ address: String, _ fields: [(String, String)], of page: Answer) async throws -> Answer {
        let pairs = fields + [("token", try page.formToken())]
        let form = pairs.map { "\(Address.escaped($0.0))=\(Address.escaped($0.1))" }.joined(separator: "&")
        return try await Answer(await studio.respond(to: request("POST", address, form: form)))
    }

    struct Answer: Sendable {
        var status: Int
        var headers: [(name: String, value: String)]
        var data: Data

        init(_ response: StudioResponse) async throws {
            status = response.status
            headers = response.headers
            switch response.body {
            case .bytes(let bytes): data = bytes
            case .stream(let pieces):
                data = Data()
                for try await piece in pieces { data += piece }
            }
        }

        var text: String { String(decoding: data, as: UTF8.self) }

        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

        /// The token of the page's forms.
        func formToken() throws -> String {
            let match = try #require(text.firstMatch(of: #/name=token value="([^"]+)"/#))
            return String(match.1)
        }
    }
}
