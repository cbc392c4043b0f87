import Foundation
import Synchronization

/// Stands between clients and a server, and does to what they say what networks do: delays, halves, loses it.
///
///     let relay = try PacketRelay(to: server) { packet in packet.isCommit ? .cut(after: 0) : .pass }
///     let url = server.url(schema: "shop", folder: relay.folder)
package final class PacketRelay: Sendable {
    /// What came from one side at once.
    package struct Packet: Sendable {
        package var isFromServer: Bool
        package var count: Int
        /// Whether a transaction that writes is committed by it, or the server says what came of that.
        package var isCommit = false
        package var isAnswerToCommit = false
        /// Whether it asks the server to cancel what another connection runs.
        package var isCancelRequest = false
    }

    package enum Fate: Sendable {
        case pass
        /// Comes in two parts, with a pause between them.
        case halved(after: Int, pause: Double)
        /// So many bytes come, and then nothing more, in neither direction.
        case cut(after: Int)
        /// The client is cut off at once; the server gets it nevertheless, later.
        case late(Double)
        /// From now on nothing comes, in neither direction, and both sides keep the connection: neither is told.
        case lost
        /// The client is cut off; the server does not hear of that for a while, and gets nothing.
        case silence(Double)
    }

    /// Where the socket is.
    package let folder: String
    private let server: String
    private let listener: Int32
    private let fate: @Sendable (Packet) -> Fate

    package struct Failure: Error {
        package var call: String
        package var code: Int32
    }

    package init(to server: PostgreSQLServer, fate: @escaping @Sendable (Packet) -> Fate) throws {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        folder = "\(base)/relay-\(UInt32.random(in: 0...UInt32.max))"
        self.server = server.folder + "/.s.PGSQL.5432"
        self.fate = fate
        // A write to who has gone is told by its result.
        signal(SIGPIPE, SIG_IGN)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        listener = try Self.socketAt(folder + "/.s.PGSQL.5432") { bind($0, $1, $2) }
        guard listen(listener, 64) == 0 else { throw Failure(call: "listen", code: errno) }
        let listener = self.listener
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    return
                }
                connect(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func socketAt(
        _ path: String, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            place.copyBytes(from: path.utf8.prefix(place.count - 1))
        }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw Failure(call: path, code: errno)
        }
        return descriptor
    }

    /// Two sockets, and what is known of what goes over them.
    private final class Line: Sendable {
        struct State {
            var isWriting = false
            var isCommitting = false
            var ends = 0
            var isDead = false
        }

        let client: Int32
        let server: Int32
        /// Guards what is known.
        let state = Mutex(State())

        init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }

        func end(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

        /// Closes both when nobody reads from either any more.
        func leave() {
            end(client)
            end(server)
            guard
                state.withLock({ state in
                    state.ends += 1
                    return state.ends == 2
                })
            else { return }
            close(client)
            close(server)
        }
    }

    private func connect(_ client: Int32) {
        guard let server = try? Self.socketAt(server, { Glibc.connect($0, $1, $2) }) else {
            close(client)
            return
        }
        let (line, fate) = (Line(client: client, server: server), fate)
        Thread.detachNewThread { Self.pass(line, fromServer: false, fate) }
        Thread.detachNewThread { Self.pass(line, fromServer: true, fate) }
    }

    private static func pass(_ line: Line, fromServer: Bool, _ fate: (Packet) -> Fate) {
        defer { line.leave() }
        let (from, to) = fromServer ? (line.server, line.client) : (line.client, line.server)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { return }
            if line.state.withLock({ $0.isDead }) { continue }
            let bytes = buffer[..<count]
            // The pauses are what a network does: nothing is waited for.
            switch fate(packet(bytes, fromServer, line)) {
            case .pass: guard send(bytes, to) else { return }
            case .halved(let first, let pause):
                guard send(bytes.prefix(first), to) else { return }
                Thread.sleep(forTimeInterval: pause)
                guard send(bytes.dropFirst(first), to) else { return }
            case .lost: line.state.withLock { $0.isDead = true }
            case .cut(let first):
                // An answer that comes whole must not bring the next request, which would still find the server.
                line.end(from)
                _ = send(bytes.prefix(first), to)
                return
            case .late(let pause):
                line.end(line.client)
                Thread.sleep(forTimeInterval: pause)
                _ = send(bytes, to)
                // The server does what it was told, and then finds that nobody is there.
                Thread.sleep(forTimeInterval: pause)
                return
            case .silence(let pause):
                line.end(line.client)
                Thread.sleep(forTimeInterval: pause)
                return
            }
        }
    }

    private static func packet(_ bytes: ArraySlice<UInt8>, _ isFromServer: Bool, _ line: Line) -> Packet {
        var packet = Packet(isFromServer: isFromServer, count: bytes.count)
        // The length and the code of the request; behind them are the session and its key.
        packet.isCancelRequest = bytes.count == 16 && bytes.starts(with: [0, 0, 0, 16, 0x04, 0xD2, 0x16, 0x2E])
        line.state.withLock { state in
            if isFromServer {
                packet.isAnswerToCommit = state.isCommitting
                state.isCommitting = false
                return
            }
            let text = String(decoding: bytes, as: UTF8.self)
            // Who only reads says so.
            if text.contains("BEGIN\0") || text.contains("READ COMMITTED READ WRITE") { state.isWriting = true }
            if text.contains("ROLLBACK\0") { state.isWriting = false }
            if state.isWriting, text.contains("COMMIT\0") {
                packet.isCommit = true
                (state.isWriting, state.isCommitting) = (false, true)
            }
        }
        return packet
    }

    private static func send(_ bytes: ArraySlice<UInt8>, _ to: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(to, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// What a relay does once, to the first packet of its kind.
///
///     let relay = try PacketRelay(to: server) { trap.fate($0) }
///     trap.set(.cut(after: 0)) { $0.isCommit }
package final class PacketTrap: Sendable {
    private let armed = Mutex<(fate: PacketRelay.Fate, isMeant: @Sendable (PacketRelay.Packet) -> Bool)?>(nil)

    package init() {}

    package func set(_ fate: PacketRelay.Fate, _ isMeant: @escaping @Sendable (PacketRelay.Packet) -> Bool) {
        armed.withLock { $0 = (fate, isMeant) }
    }

    package var hasSprung: Bool { armed.withLock { $0 == nil } }

    package func fate(_ packet: PacketRelay.Packet) -> PacketRelay.Fate {
        armed.withLock { armed in
            guard let (fate, isMeant) = armed, isMeant(packet) else { return .pass }
            armed = nil
            return fate
        }
    }
}
