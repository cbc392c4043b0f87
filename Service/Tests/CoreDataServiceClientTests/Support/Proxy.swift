import Foundation
import Glibc
import Synchronization

/// A proxy between a store and its service, on a port of its own: passes requests on, or fails as a network does.
final class Proxy: Sendable {
    enum Mode: Sendable {
        case open
        /// Connections are closed before anything is read.
        case offline
        /// Requests reach the service, and their answers are lost: this number of times, then the proxy is open.
        case losesAnswers(Int)
        /// Every request is answered with these bytes.
        case answers(String)
        /// Requests are read, and never answered.
        case silent
    }

    let port: Int
    private let listener: Int32
    private let target: Mutex<Int>
    private let state = Mutex((mode: Mode.open, requests: 0, sockets: Set<Int32>()))

    init(to port: Int) throws {
        target = Mutex(port)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard status else { throw ClientTestFailure("the proxy cannot listen") }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                Thread.detachNewThread { self.serve(client) }
            }
        }
    }

    var url: URL { URL(string: "http://127.0.0.1:\(port)") ?? URL(fileURLWithPath: "/") }

    /// The number of connections with which the proxy did not end at once.
    var requests: Int { state.withLock { $0.requests } }

    var mode: Mode {
        get { state.withLock { $0.mode } }
        set {
            // Open connections would pass what the mode forbids.
            let sockets = state.withLock { state in
                state.mode = newValue
                return state.sockets
            }
            for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    func close() {
        mode = .offline
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
        // The service is stopped next: its connections have ended then.
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        while !state.withLock(\.sockets.isEmpty), ContinuousClock.now < deadline { usleep(2000) }
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private func serve(_ client: Int32) {
        defer { end(client) }
        state.withLock { _ = $0.sockets.insert(client) }
        if case .offline = mode { return }
        var server: Int32?
        let done = DispatchSemaphore(value: 0)
        var isFirst = true
        loop: while let bytes = Self.read(client) {
            if isFirst { state.withLock { $0.requests += 1 } }
            isFirst = false
            switch mode {
            case .offline: break loop
            case .open, .losesAnswers:
                if server == nil { server = answering(client, done) }
                guard let server, Self.write(bytes, server) else { break loop }
            case .answers(let text):
                _ = Self.write(Array(text.utf8), client)
                break loop
            case .silent: continue
            }
        }
        shutdown(client, Int32(SHUT_RDWR))
        guard let server else { return }
        shutdown(server, Int32(SHUT_RDWR))
        done.wait()
        end(server)
    }

    /// Connects to the service, and passes its answers on.
    private func answering(_ client: Int32, _ done: DispatchSemaphore) -> Int32? {
        guard let server = connectToService() else { return nil }
        state.withLock { _ = $0.sockets.insert(server) }
        Thread.detachNewThread { [self] in
            defer {
                shutdown(client, Int32(SHUT_RDWR))
                done.signal()
            }
            while let bytes = Self.read(server) {
                let losesAnswer = state.withLock { state in
                    guard case .losesAnswers(let count) = state.mode else { return false }
                    state.mode = count > 1 ? .losesAnswers(count - 1) : .open
                    return true
                }
                if losesAnswer || !Self.write(bytes, client) { return }
            }
        }
        return server
    }

    private func end(_ socket: Int32) {
        state.withLock { _ = $0.sockets.remove(socket) }
        Glibc.close(socket)
    }

    private func connectToService() -> Int32? {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.address(target.withLock { $0 })
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else {
            Glibc.close(server)
            return nil
        }
        return server
    }

    private static func read(_ socket: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(socket, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private static func write(_ bytes: [UInt8], _ socket: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }
}

struct ClientTestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension Proxy.Mode {
    /// A whole answer with a status and a body.
    static func answers(_ status: Int, _ type: String, _ body: String) -> Self {
        .answers(
            "HTTP/1.1 \(status) X\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        )
    }
}
