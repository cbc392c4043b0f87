import CPostgreSQL
import CoreDataSQL
import Dispatch

/// A session that listens for commits to a schema, of whoever tells of his.
///
/// ```
///  listening ── told ──▶ told()
///      │  connection lost                ┌── not to be had: waits longer ──┐
///      └────────────────▶ connects again ┴─▶ listening, told(): something may have come meanwhile
/// ```
final class PostgreSQLCommitWatch: SQLCommitWatch, @unchecked Sendable {
    // Safe because what changes is used on the queue only.

    private let queue = DispatchQueue(label: "com.apple.CoreData.remote-changes.postgresql", qos: .utility)
    private let options: PostgreSQLOptions
    private let told: @Sendable () -> Void
    private var connection: PostgreSQLConnection?
    private var source: (any DispatchSourceRead)?
    private var pause = 0.1
    private var isCancelled = false

    /// - Throws: ``SQLFailure`` where the server cannot be reached, or does not let anybody listen.
    init(_ options: PostgreSQLOptions, told: @escaping @Sendable () -> Void) throws {
        self.options = options
        self.told = told
        let connection = try Self.listening(options)
        queue.sync { begin(connection) }
    }

    deinit { source?.cancel() }

    func cancel() {
        // Also from what `told` does.
        queue.async { [weak self] in
            self?.isCancelled = true
            self?.end()
        }
    }

    private static func listening(_ options: PostgreSQLOptions) throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(options)
        do { try connection.execute(ServerText.listen(options.address.schema)) } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private func begin(_ connection: PostgreSQLConnection) {
        self.connection = connection
        let source = DispatchSource.makeReadSource(fileDescriptor: PQsocket(connection.handle), queue: queue)
        source.setEventHandler { [weak self] in self?.read() }
        // Safe because nobody else has it then; its socket must not go before.
        nonisolated(unsafe) let ended = connection
        source.setCancelHandler { ended.close() }
        self.source = source
        source.resume()
        read()
    }

    private func end() {
        connection = nil
        source?.cancel()
        source = nil
    }

    private func read() {
        guard let connection else { return }
        let isThere = PQconsumeInput(connection.handle) == 1
        var isTold = false
        while let news = PQnotifies(connection.handle) {
            isTold = true
            PQfreemem(news)
        }
        if isTold { told() }
        guard !isThere, !isCancelled else { return }
        end()
        connectAgain()
    }

    private func connectAgain() {
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self, !isCancelled else { return }
            do {
                begin(try Self.listening(options))
                pause = 0.1
                told()
            } catch {
                pause = min(pause * 2, 30)
                connectAgain()
            }
        }
    }
}

extension PostgreSQLDatabase {
    package func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)? {
        try PostgreSQLCommitWatch(options, told: told)
    }
}
