import Foundation
import LivePages

/// What a server answered.
package struct Answer: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: Data

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The words of the page, without markup.
    package var words: String {
        text.replacing(/<(script|style)[^>]*>.*?<\/\1>/.dotMatchesNewlines(), with: " ").replacing(/<[^>]*>/, with: " ")
            .replacing(/&quot;/, with: "\"").replacing(/&#39;/, with: "'").replacing(/&lt;/, with: "<")
            .replacing(/&gt;/, with: ">").replacing(/&amp;/, with: "&").replacing(/\s+/, with: " ")
    }
}

/// A browser without JavaScript, made of a socket: keeps cookies, sends forms with their tokens, follows redirects when asked.
package final class TestBrowser: @unchecked Sendable {
    // Safe because one test uses it, one step after the other.
    package let port: Int
    /// How long it waits for an answer.
    private let seconds: Int
    package private(set) var cookies: [String: String] = [:]

    package init(port: Int, seconds: Int = 30, cookies: [String: String] = [:]) {
        self.port = port
        self.seconds = seconds
        self.cookies = cookies
    }

    package func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers, Data())
    }

    /// Sends a form with this browser's token, and returns the answer itself.
    package func post(
        _ path: String, _ fields: [String: String] = [:], _ headers: [String: String] = [:]
    ) async throws -> Answer {
        var fields = fields
        if fields["token"] == nil { fields["token"] = try await token() }
        let body = fields.map { "\($0.key.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
        var headers = headers
        headers["Content-Type"] = headers["Content-Type"] ?? "application/x-www-form-urlencoded"
        return try await send("POST", path, headers, Data(body.utf8))
    }

    /// Sends a form and follows the redirect.
    package func submit(_ path: String, _ fields: [String: String] = [:]) async throws -> Answer {
        let answer = try await post(path, fields)
        guard answer.status == 303, let location = answer.header("Location") else { return answer }
        return try await get(location)
    }

    /// Sends a form with a file.
    package func upload(
        _ path: String, field: String, file: Data, named name: String = "a.png", with fields: [String: String] = [:]
    ) async throws -> Answer {
        let boundary = "x-boundary-x"
        var body = Data()
        for (name, value) in fields.merging(["token": try await token()], uniquingKeysWith: { given, _ in given }) {
            body += Data(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n".utf8)
        }
        body += Data(
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(field)\"; filename=\"\(name)\"\r\nContent-Type: image/png\r\n\r\n"
                .utf8)
        body += file + Data("\r\n--\(boundary)--\r\n".utf8)
        return try await send("POST", path, ["Content-Type": "multipart/form-data; boundary=\(boundary)"], body)
    }

    package func token() async throws -> String {
        if cookies["token"] == nil { _ = try await get(try await get("/").header("Location") ?? "/") }
        return cookies["token"] ?? ""
    }

    package func send(
        _ method: String, _ path: String, _ headers: [String: String], _ body: Data
    ) async throws -> Answer {
        let socket = try Socket(port: port, seconds: seconds)
        let request = head(method, path, headers, body.count)
        let bytes = try await waiting { [body] in
            socket.write(Data(request.utf8) + body)
            return try socket.readAnswer()
        }
        return try answer(bytes)
    }

    /// What the server sends to the page of a list, event by event.
    package func events(_ list: String, after position: String?, lastEvent: String? = nil) throws -> EventReader {
        EventReader(try openEvents(list, after: position, lastEvent: lastEvent))
    }

    package func openEvents(_ list: String, after position: String?, lastEvent: String? = nil) throws -> Socket {
        let socket = try Socket(port: port)
        let path = "/events?list=\(list)" + (position.map { "&after=\($0)" } ?? "")
        let headers = lastEvent.map { ["Last-Event-ID": $0] } ?? [:]
        socket.write(Data(head("GET", path, headers, 0).utf8))
        return socket
    }

    private func head(_ method: String, _ path: String, _ headers: [String: String], _ length: Int) -> String {
        var lines = ["\(method) \(path) HTTP/1.1"]
        var headers = headers
        if headers["Host"] == nil { headers["Host"] = "127.0.0.1:\(port)" }
        headers["Connection"] = "close"
        if length > 0, headers["Content-Length"] == nil { headers["Content-Length"] = String(length) }
        if !cookies.isEmpty { headers["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        lines += headers.map { "\($0.key): \($0.value)" }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    private func answer(_ bytes: Data) throws -> Answer {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { throw Socket.Failure(message: "no answer") }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        for header in headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
        }
        let status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
        return Answer(status: status, headers: headers, body: bytes[end.upperBound...])
    }
}

/// Reads a stream of events.
package final class EventReader: @unchecked Sendable {
    // Safe because one test uses it, one step after the other.
    package struct Event: Sendable {
        package let id: String
        package let name: String
        package let data: String
    }

    private let socket: Socket
    private var bytes = Data()
    /// Events read but not asked for yet: the events of one change arrive in any order.
    private var others: [Event] = []

    package init(_ socket: Socket) { self.socket = socket }

    /// The next event of that name; waits for it.
    package func next(_ name: String) async throws -> Event {
        if let index = others.firstIndex(where: { $0.name == name }) { return others.remove(at: index) }
        return try await waiting { [self] in
            while true {
                let event = try nextBlock()
                if event.name == name { return event }
                others.append(event)
            }
        }
    }

    private func nextBlock() throws -> Event {
        while true {
            if let end = bytes.range(of: Data("\n\n".utf8)) {
                let block = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
                bytes = Data(bytes[end.upperBound...])
                // What stands before is the head of a chunk, or of the answer.
                func field(_ name: String) -> String {
                    block.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name): ") }
                        .map { String($0.dropFirst(name.count + 2)) } ?? ""
                }
                return Event(id: field("id"), name: field("event"), data: field("data"))
            }
            bytes += try socket.readSome()
        }
    }
}
