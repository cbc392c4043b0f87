import CPostgreSQL
import CoreDataSQL
import Foundation

/// A session that listens for commits to a schema by clients that notify. If the server does not support notifications,
/// or a pooler prevents listening, it polls for commits instead.
///
/// ```
///  listening ── notification ──▶ told()
///      │  ▲  └── idle for a minute ──▶ sends a probe ── no answer ──▶ as if the connection were lost
///      │  └─────────────── answer ─────────────────┘
///      │  connection lost                ┌ unreachable: backs off ┐
///      └────────────────▶ connects again ┴─▶ listening, told(): a commit may have been missed
/// ```
final class PostgreSQLCommitWatch: SQLCommitWatch {
    private let listener: CommitListener

    /// - Throws: ``SQLFailure`` if the server cannot be reached, or does not allow listening.
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

/// The work of the listening thread. It does not use a dispatch source: after a session was lost, a source on its
/// socket would receive no events any more if the next session's socket had the same number.
private final class CommitListener: @unchecked Sendable {
    // Safe because only the thread uses the mutable state.

    private let options: PostgreSQLOptions
    private let told: @Sendable () -> Void
    private var connection: PostgreSQLConnection?
    /// A pipe; a byte in it ends the thread.
    private let end: (read: Int32, write: Int32)
    /// The result of the last poll.
    private var commits: [SQLValue]?
    /// Decides whether the listening session is still alive.
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

    /// May also be called from `told`.
    func cancel() { _ = write(end.write, [0], 1) }

    private static func newProbe(_ options: PostgreSQLOptions) -> LivenessProbe {
        LivenessProbe(interval: options.probe.interval, limit: options.probe.limit, now: options.clock.now())
    }

    func run() {
        var backoff = Backoff(first: .milliseconds(100), limit: .seconds(30))
        while true {
            if let connection {
                if connection.receivesNotifications ? read(connection) : ask(connection) {
                    let receivesNotifications = connection.receivesNotifications
                    guard
                        waits(
                            for: receivesNotifications ? PQsocket(connection.handle) : -1,
                            seconds: receivesNotifications
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
            if connection.receivesNotifications {
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

    /// Returns a value that changes with each commit; `nil` if commits cannot be recorded.
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

    /// Polls the server.
    ///
    /// - Returns: whether the session is still alive.
    private func ask(_ connection: PostgreSQLConnection) -> Bool {
        guard connection.looksAlive(), let found = try? counted(connection) else { return false }
        defer { commits = found }
        if found != commits { told() }
        return true
    }

    /// Reads the notifications that have arrived.
    ///
    /// - Returns: whether the session is still alive.
    private func read(_ connection: PostgreSQLConnection) -> Bool {
        // Call it first, since notifications that follow a result are read only after the result is taken.
        let isThere = PQconsumeInput(connection.handle) == 1 && isAlive(connection)
        var hasNotification = false
        while let news = PQnotifies(connection.handle) {
            hasNotification = true
            PQfreemem(news)
        }
        if hasNotification { told() }
        return isThere
    }

    /// Probes a session that has been idle: only a probe detects a connection that a network dropped silently.
    ///
    /// - Returns: whether the session can continue.
    private func isAlive(_ connection: PostgreSQLConnection) -> Bool {
        let now = options.clock.now()
        do {
            switch probe.step(at: now) {
            case .wait: break
            case .takeAnswer: if try connection.takeProbe() { probe.didAnswer(at: now) }
            // It has no effect on a session that already listens.
            case .sendProbe: try connection.sendProbe(ServerText.listen(options.address.schema))
            }
            return !probe.isLost(at: now)
        } catch { return false }
    }

    /// - Returns: whether to continue; false after the watch was cancelled.
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
    /// Whether the server notifies the session of commits.
    fileprivate var receivesNotifications: Bool { traits.listens && traits.keepsSessions }
}

extension PostgreSQLDatabase {
    package func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)? {
        try PostgreSQLCommitWatch(options) { [weak self] in
            // Reads from now on must find the commit that this notification reports.
            self?.waitForReplicas()
            told()
        }
    }
}
