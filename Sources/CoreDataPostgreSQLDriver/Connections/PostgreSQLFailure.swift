import CPostgreSQL
import CoreDataSQL

extension SQLFailure {
    /// Returns the failure that a result describes.
    static func of(_ result: OpaquePointer, sql: String) -> SQLFailure {
        func field(_ name: Character) -> String {
            PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
        }
        let state = field("C")
        var message = field("M")
        if message.isEmpty { message = text(PQresultErrorMessage(result)) }
        // The detail of a constraint violation contains the values.
        let hint = field("H")
        if !hint.isEmpty { message += " (\(hint))" }
        let constraint = field("n")
        if !constraint.isEmpty, !message.contains(constraint) { message += " [\(constraint)]" }
        if state == "54000", message.contains("index row") {
            message +=
                " (a text that is unique or in an index has at most some 2,700 bytes on a server, more where it compresses well)"
        }
        // Row-level security may refuse a role that has the table's permission.
        // These end the session regardless of the reason: an idle timeout, an administrator.
        if ["FATAL", "PANIC"].contains(field("V")) {
            return SQLFailure(kind: .disconnected, code: number(ofState: state), message: message, sql: sql)
        }
        guard state == "42501", !message.contains("row-level security"), !message.contains("must be owner"),
            let right = ServerText.right(toRun: sql)
        else {
            return SQLFailure(kind: kind(ofState: state), code: number(ofState: state), message: message, sql: sql)
        }
        message += " (the role needs the right to \(right), which the owner can GRANT)"
        return SQLFailure(
            kind: right == ServerText.rightToRead ? .unreadable : .readOnly, code: number(ofState: state),
            message: message, sql: sql)
    }

    /// Returns the SQLSTATE's five characters as a number that identifies it.
    static func number(ofState state: String) -> Int { Int(state, radix: 36) ?? 0 }

    /// Whether the cause is temporary, and neither the statement nor its data.
    var isTemporaryFailure: Bool {
        switch kind {
        case .serialization, .busy, .interrupted, .timedOut, .full, .cannotOpen, .disconnected, .corrupt: true
        default: false
        }
    }

    /// Whether the server does not support the statement, as on tables with rules, where no query can change rows.
    var isUnsupportedFeature: Bool { code == Self.number(ofState: "0A000") }

    /// Returns the error of the connection's last call; the connection is no longer usable.
    static func lost(_ connection: OpaquePointer?, sql: String? = nil) -> SQLFailure {
        let message = text(connection.flatMap { PQerrorMessage($0) })
        return SQLFailure(
            kind: .disconnected, code: 0, message: message.isEmpty ? "the connection to the server is lost" : message,
            sql: sql)
    }

    static func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "" }
        var text = String(cString: message)
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text.replacing("\n", with: " ")
    }

    private static func kind(ofState state: String) -> Kind {
        switch state {
        case "40001", "40P01": .serialization
        case "55P03": .busy
        // If this program did not request the cancellation.
        case "57014": .timedOut
        case "25006", "42501": .readOnly
        case "53100", "53200", "53400": .full
        case "42P01": .missingTable
        case "2201B": .pattern
        case "23503": .reference
        case "23514", "54000": .check
        case "42883", "42804", "42725", "42846", "42P18": .computation
        case "3D000", "3F000", "53300": .cannotOpen
        case "57P01", "57P02", "57P03": .disconnected
        default:
            switch state.prefix(2) {
            case "22": .computation
            case "23": .constraint
            case "08": .disconnected
            case "28": .cannotOpen
            case "XX": .corrupt
            default: .other
            }
        }
    }

    /// Returns a failure for misuse of the driver by the program.
    static func misuse(_ message: String, sql: String? = nil) -> SQLFailure {
        SQLFailure(kind: .other, code: 0, message: message, sql: sql)
    }
}
