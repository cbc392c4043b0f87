import CoreDataJSON
import Foundation

@testable import CoreDataService

/// What a server answered.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }

    /// The tag of the ETag, without quotes.
    var tag: String { (header("ETag") ?? "").replacing("\"", with: "") }
}

struct ClientFailure: Error, CustomStringConvertible {
    let description: String
}

/// A client made of a socket: it sends what it is told, sound or not, on a new connection for each request.
struct RawClient: Sendable {
    let port: Int
    var token: String?
    var seconds = 20

    func send(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: [UInt8]? = nil
    ) async throws -> Answer {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if let token, headers["Authorization"] == nil { head += "Authorization: Bearer \(token)\r\n" }
        if let body { head += "Content-Length: \(body.count)\r\n" }
        return try await raw(Array((head + "\r\n").utf8) + (body ?? []), isHead: method == "HEAD")
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers)
    }

    /// Sends JSON.
    func send(
        _ method: String, _ path: String, json: JSONValue, _ headers: [String: String] = [:]
    ) async throws -> Answer {
        try await send(
            method, path, headers.merging(["Content-Type": "application/json"]) { given, _ in given },
            body: JSONWriter.bytes(json))
    }

    /// Sends bytes and reads the answer to the end of the connection.
    func raw(_ bytes: [UInt8], isHead: Bool = false) async throws -> Answer {
        let (port, seconds) = (port, seconds)
        return try await onThread {
            let socket = try Connection(port: port, seconds: seconds)
            socket.write(bytes)
            return try Self.answer(try socket.readToEnd(), isHead: isHead)
        }
    }

    private static func answer(_ bytes: [UInt8], isHead: Bool) throws -> Answer {
        let data = Data(bytes)
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
            throw ClientFailure(description: "no answer: \(String(decoding: bytes.prefix(200), as: UTF8.self))")
        }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw ClientFailure(description: "no status: \(lines.first ?? "")")
        }
        let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            let parts = line.split(separator: ":", maxSplits: 1)
            return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
        }
        return Answer(status: status, headers: headers, body: Array(data[end.upperBound...]))
    }
}

/// Runs what waits on a thread of its own, so that the threads of tasks stay free for the server.
func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// A connection to a port of this machine, with a limit for each step.
final class Connection: Sendable {
    private let descriptor: Int32

    init(port: Int, seconds: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            throw ClientFailure(description: "cannot connect: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Writes as much as the other end takes: it may answer before it has read all.
    func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }

    func readToEnd() throws -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return all }
            guard count > 0 else {
                // A server that refuses a body closes the connection while it is still being sent.
                if !all.isEmpty { return all }
                throw ClientFailure(description: "nothing came: \(String(cString: strerror(errno)))")
            }
            all += buffer[..<count]
        }
    }
}
