import CPostgreSQL
import CoreDataSQL
import Foundation

/// A session that listens for commits to a schema, of whoever tells of his; or asks for them now and then, where a server does not tell, or a pooler
/// does not let sessions listen.
///
/// ```
///  listening ── told ──▶ told()
///      │  ▲  └── nothing for a minute ──▶ asks for a sign of life ── none ──▶ as if the connection were lost
///      │  └──────────────── comes ──────────────────┘
///      │  connection lost                ┌── not to be had: waits longer ──┐
///      └────────────────▶ connects again ┴─▶ listening, told(): something may have come meanwhile
/// ```
final class PostgreSQLCommitWatch: SQLCommitWatch {
    private let listener: CommitListener

    /// - Throws: ``SQLFailure`` where the server cannot be reached, or does not let anybody listen.
    init(_ options: PostgreSQLOptions, told: @escaping @Sendable () -> Void) throws {
        let listener = try CommitListener(options, told)
        self.listener = listener
        let thread = Thread { listener.run() }
        thread.name = "com.apple.CoreData.remote-changes.postgresql"
        thread.stackSize = 512 << 10
        thread.start()
    }

    deinit { listener.cancel() }

    func cancel() { listener.cancel() }
}

/// What the thread does that listens: a dispatch source on the socket of a session that was cut off is not told of anything any more where
/// the next one's socket has its number.
private final class CommitListener: @unchecked Sendable {
    // Safe because the thread alone uses what changes.

    private let options: PostgreSQLOptions
    private let told: @Sendable () -> Void
    private var connection: PostgreSQLConnection?
    /// A byte in it ends the thread.
    private let end: (read: Int32, write: Int32)
    /// What was found last by who has to ask.
    private var commits: [SQLValue]?
    /// Whether the session that listens is still there.
    private var probe: LivenessProbe

    init(_ options: PostgreSQLOptions, _ told: @escaping @Sendable () -> Void) throws {
        self.options = options
        self.told = told
        probe = Self.newProbe(options)
        var pipe: [Int32] = [-1, -1]
        guard Foundation.pipe(&pipe) == 0 else {
            throw SQLFailure(kind: .cannotOpen, code: Int(errno), message: "there are no more files to be had")
        }
        end = (pipe[0], pipe[1])
        for file in pipe {
            _ = fcntl(file, F_SETFD, FD_CLOEXEC)
            _ = fcntl(file, F_SETFL, O_NONBLOCK)
        }
        connection = try listening()
    }

    deinit {
        close(end.read)
        close(end.write)
    }

    /// Also from what `told` does.
    func cancel() { _ = write(end.write, [0], 1) }

    private static func newProbe(_ options: PostgreSQLOptions) -> LivenessProbe {
        LivenessProbe(interval: options.probe.interval, limit: options.probe.limit, now: options.clock.now())
    }

    func run() {
        var backoff = Backoff(first: .milliseconds(100), limit: .seconds(30))
        while true {
            if let connection {
                if connection.isTold ? read(connection) : ask(connection) {
                    let isTold = connection.isTold
                    guard
                        waits(
                            for: isTold ? PQsocket(connection.handle) : -1,
                            seconds: isTold
                                ? max(0, options.clock.now().duration(to: probe.deadline).seconds)
                                : options.address.pollInterval)
                    else { break }
                } else {
                    connection.close()
                    self.connection = nil
                }
            } else {
                guard waits(for: -1, seconds: backoff.next().seconds) else { break }
                do {
                    connection = try listening()
                    backoff.reset()
                    told()
                } catch {}
            }
        }
        connection?.close()
    }

    private func listening() throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(options)
        do {
            if connection.isTold {
                try connection.execute(ServerText.listen(options.address.schema))
                probe = Self.newProbe(options)
            } else {
                commits = try counted(connection)
            }
        } catch {
            connection.close()
            throw error
        }
        return connection
    }

    /// What differs once anybody has committed; nothing where nobody can note that.
    private func counted(_ connection: PostgreSQLConnection) throws -> [SQLValue]? {
        connection.begin(ServerText.beginReading)
        do {
            let row = try connection.rows(ServerText.countCommits).first
            connection.endReading()
            return row
        } catch let failure as SQLFailure where failure.kind == .missingTable {
            connection.rollBack()
            return nil
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// - Returns: whether the session is still there.
    private func ask(_ connection: PostgreSQLConnection) -> Bool {
        guard connection.looksAlive(), let found = try? counted(connection) else { return false }
        defer { commits = found }
        if found != commits { told() }
        return true
    }

    /// - Returns: whether the session is still there.
    private func read(_ connection: PostgreSQLConnection) -> Bool {
        // First, since messages of the server behind a result are read once that is taken.
        let isThere = PQconsumeInput(connection.handle) == 1 && isAlive(connection)
        var isTold = false
        while let news = PQnotifies(connection.handle) {
            isTold = true
            PQfreemem(news)
        }
        if isTold { told() }
        return isThere
    }

    /// Asks a session that has told nothing for a while for a sign of life: of a connection that a network has dropped without a word, nothing else tells.
    ///
    /// - Returns: whether to go on with it.
    private func isAlive(_ connection: PostgreSQLConnection) -> Bool {
        let now = options.clock.now()
        do {
            switch probe.step(at: now) {
            case .wait: break
            case .takeAnswer: if try connection.takeProbe() { probe.didAnswer(at: now) }
            // Which changes nothing for a session that listens already.
            case .sendProbe: try connection.sendProbe(ServerText.listen(options.address.schema))
            }
            return !probe.isLost(at: now)
        } catch { return false }
    }

    /// - Returns: whether to go on; false once the watch has been cancelled.
    private func waits(for socket: Int32, seconds: Double? = nil) -> Bool {
        var files = [
            pollfd(fd: end.read, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        poll(&files, 2, seconds.map { Int32(($0 * 1_000).rounded(.up)) } ?? -1)
        return files[0].revents == 0
    }
}

extension PostgreSQLConnection {
    /// Whether the server tells the session of commits.
    fileprivate var isTold: Bool { traits.listens && traits.keepsSessions }
}

extension PostgreSQLDatabase {
    package func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)? {
        try PostgreSQLCommitWatch(options) { [weak self] in
            // Who looks now is to find what this tells of.
            self?.waitForReplicas()
            told()
        }
    }
}
