import Foundation

/// A connection to a port of this machine, with a limit for each step.
package final class Socket: Sendable {
    package struct Failure: Error {
        let message: String
    }

    package let descriptor: Int32
    private let seconds: Int

    package init(port: Int, seconds: Int = 30) throws {
        self.seconds = seconds
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
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
        guard status == 0 else { throw Failure(message: "cannot connect: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    /// Writes as much as the other end takes: it may have answered before it has read all.
    package func write(_ data: Data) {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = send(
                    descriptor, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return }
                sent += count
            }
        }
    }

    package func readSome() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            throw Failure(message: count == 0 ? "the connection ended" : "nothing came for \(seconds) seconds")
        }
        return Data(buffer[..<count])
    }

    /// Reads an answer: as much as it says it has, or up to the end.
    package func readAnswer() throws -> Data {
        var all = Data()
        while true {
            if let length = Self.length(of: all), all.count >= length { return all }
            do { all += try readSome() } catch let failure as Failure
                where !all.isEmpty && failure.message.hasSuffix("ended")
            {
                return all
            }
        }
    }

    private static func length(of answer: Data) -> Int? {
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: answer[..<end.lowerBound], as: UTF8.self)
        let length = head.firstMatch(of: /\r\ncontent-length: *(\d+)/.ignoresCase()).flatMap { Int($0.output.1) }
        return length.map { end.upperBound + $0 }
    }
}

/// Runs what waits on a thread of its own, so that the threads of tasks stay free for the server.
package func waiting<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
    }
}
