import Foundation
import Synchronization

/// A small HTTP server on a port of this machine: one request for each connection, on a thread of its own.
package final class LoopbackServer: Sendable {
    package struct Request: Sendable {
        package let method: String
        /// As it was sent, encoded, without the query.
        package let path: String
        package let query: String
        /// By name, in lower case.
        package let headers: [String: String]
        package let body: Data
    }

    package struct Answer: Sendable {
        package var status = 200
        package var headers: [String: String] = [:]
        package var body = Data()
        /// How many bytes less than it says are sent before the connection ends.
        package var missing = 0
        /// How long nothing comes.
        package var delay = 0.0
        /// Whether the connection ends without an answer.
        package var isLost = false

        package init(
            status: Int = 200, headers: [String: String] = [:], body: Data = Data(), missing: Int = 0,
            delay: Double = 0,
            isLost: Bool = false
        ) {
            (self.status, self.headers, self.body) = (status, headers, body)
            (self.missing, self.delay, self.isLost) = (missing, delay, isLost)
        }
    }

    package struct Failure: Error {
        package let message: String
    }

    package let port: Int
    private let descriptor: Int32
    private let answer: @Sendable (Request) -> Answer
    /// Guards what has been asked for.
    private let seen = Mutex<[Request]>([])

    package var requests: [Request] { seen.withLock { $0 } }

    package init(_ answer: @escaping @Sendable (Request) -> Answer) throws {
        self.answer = answer
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard status else { throw Failure(message: String(cString: strerror(errno))) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                if connection < 0 { return }
                Thread.detachNewThread { [self] in
                    serve(connection)
                    close(connection)
                }
            }
        }
    }

    package func end() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    package var url: URL {
        get throws {
            guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw Failure(message: "no address") }
            return url
        }
    }

    private func serve(_ connection: Int32) {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes = Data()
        while bytes.range(of: Data("\r\n\r\n".utf8)) == nil { guard read(connection, &bytes) else { return } }
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let first = lines[0].split(separator: " ")
        guard first.count == 3 else { return }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count == 2 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
        }
        var body = Data(bytes[end.upperBound...])
        if headers["expect"] != nil { write(connection, Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while body.count < length { guard read(connection, &body) else { break } }
        let target = first[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let request = Request(
            method: String(first[0]), path: target[0], query: target.count == 2 ? target[1] : "", headers: headers,
            body: body)
        seen.withLock { $0.append(request) }
        send(answer(request), request, connection)
    }

    private func send(_ answer: Answer, _ request: Request, _ connection: Int32) {
        // A slow server is what the test asks for.
        if answer.delay > 0 { Thread.sleep(forTimeInterval: answer.delay) }
        if answer.isLost { return }
        var head = "HTTP/1.1 \(answer.status) Status\r\nConnection: close\r\n"
        for (name, value) in answer.headers { head += "\(name): \(value)\r\n" }
        if answer.headers["Content-Length"] == nil { head += "Content-Length: \(answer.body.count)\r\n" }
        var all = Data((head + "\r\n").utf8)
        if request.method != "HEAD" { all += answer.body.dropLast(answer.missing) }
        write(connection, all)
    }

    private func read(_ connection: Int32, _ bytes: inout Data) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(connection, &buffer, buffer.count, 0)
        if count > 0 { bytes.append(contentsOf: buffer[..<count]) }
        return count > 0
    }

    private func write(_ connection: Int32, _ data: Data) {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Foundation.send(
                    connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }
}
