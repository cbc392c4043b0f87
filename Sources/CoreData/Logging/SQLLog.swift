import CoreDataSQL
import Foundation
import Logging

/// What `-com.apple.CoreData.SQLDebug` prints of every statement, through the logger `com.apple.CoreData.sql`.
///
/// 1: text and time; 2: also the statements of transactions; 3: also bound values; 4: also the
/// query plan of each fetch.
final class SQLLog: SQLObserver {
    /// The observer for new stores; `nil` when nothing shall be logged.
    static let observer: SQLLog? = CoreDataLog.sqlDebugLevel > 0 ? SQLLog(level: CoreDataLog.sqlDebugLevel) : nil

    private let level: Int

    init(level: Int) { self.level = level }

    func willRun(_ sql: String, bindings: [SQLValue]) {
        guard level > 1 || !TransactionText.isHousekeeping(sql) else { return }
        CoreDataLog.sql.notice("sql: \(sql)")
        guard level > 2, !bindings.isEmpty else { return }
        CoreDataLog.sql.notice(
            "bindings: \(bindings.enumerated().map { "\($0.offset + 1) = \(Self.text($0.element))" }.joined(separator: ", "))"
        )
    }

    func didRun(_ sql: String, duration: Duration, rows: Int) {
        guard level > 1 || !TransactionText.isHousekeeping(sql) else { return }
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        CoreDataLog.sql.notice("annotation: execution time: \(String(format: "%.6f", seconds))s, \(rows) rows")
    }

    func note(_ text: String) { CoreDataLog.sql.notice("annotation: \(text)") }

    static func log(_ plan: [String]) {
        CoreDataLog.sql.notice("details: query plan:\n    \(plan.joined(separator: "\n    "))")
    }

    private static func text(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "\"\(value)\""
        case .blob(let value): "<\(value.count) bytes>"
        }
    }
}
