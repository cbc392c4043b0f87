import Foundation
import Logging
import Synchronization

/// The last SQL statements of the process, for the page that shows them.
package final class SQLRecord: Sendable {
    package static let shared = SQLRecord()
    private static let kept = 200

    /// Guards the lines.
    private let lines = Mutex<[String]>([])

    /// The newest first.
    package var newest: [String] { lines.withLock { $0.reversed() } }

    package func add(_ line: String) {
        lines.withLock { lines in
            lines.append(line.count > 400 ? String(line.prefix(400)) + " …" : line)
            if lines.count > Self.kept { lines.removeFirst(lines.count - Self.kept) }
        }
    }

    /// Has the framework log its statements, and keeps them; to be called before anything is logged or opened.
    package static func begin() {
        setenv("COREDATA_SQLDEBUG", "1", 0)
        LoggingSystem.bootstrap { label -> any LogHandler in
            if label == "com.apple.CoreData.sql" { return Handler() }
            return StreamLogHandler.standardError(label: label)
        }
    }

    private struct Handler: LogHandler {
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { SQLRecord.shared.add(event.message.description) }
    }
}
