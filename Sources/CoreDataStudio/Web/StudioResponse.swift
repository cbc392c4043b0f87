import Foundation

/// The answer to a ``StudioRequest``.
public struct StudioResponse: Sendable {
    /// The content of an answer.
    public enum Body: Sendable {
        /// All bytes at once.
        case bytes(Data)
        /// Pieces that are made while they are sent, such as an export or a stream of events.
        case stream(AsyncThrowingStream<Data, any Error>)
    }

    /// The status code.
    public var status: Int
    /// The header fields, without the length.
    public var headers: [(name: String, value: String)]
    /// The content.
    public var body: Body

    /// Makes an answer.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes(Data())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of a header field.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

extension StudioResponse {
    package init(_ status: Int, type: String, _ data: Data) {
        self.init(status: status, headers: [("Content-Type", type)], body: .bytes(data))
    }

    /// Makes the answer to a form: the browser reads another page.
    package static func redirect(to address: Address) -> StudioResponse {
        StudioResponse(status: 303, headers: [("Location", address.text)])
    }

    package static func html(_ html: HTML, status: Int = 200) -> StudioResponse {
        StudioResponse(status, type: "text/html; charset=utf-8", Data(html.text.utf8))
    }

    package static func json(_ value: some Encodable, status: Int = 200) throws -> StudioResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return StudioResponse(status, type: "application/json; charset=utf-8", try encoder.encode(value))
    }

    /// Makes an answer that the browser saves as a file.
    package static func download(_ body: Body, type: String, name: String) -> StudioResponse {
        // Other characters than these could end the quoted name or the header.
        let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "_" })
        let exact = Address.escaped(name)
        return StudioResponse(
            status: 200,
            headers: [
                ("Content-Type", type),
                ("Content-Disposition", "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(exact)"),
            ], body: body)
    }
}
