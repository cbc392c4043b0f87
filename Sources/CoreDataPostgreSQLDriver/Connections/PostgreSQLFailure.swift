import CPostgreSQL
import CoreDataSQL

extension SQLFailure {
    /// What a result says went wrong.
    static func of(_ result: OpaquePointer, sql: String) -> SQLFailure {
        func field(_ name: Character) -> String {
            PQresultErrorField(result, Int32(name.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
        }
        let state = field("C")
        var message = field("M")
        if message.isEmpty { message = text(PQresultErrorMessage(result)) }
        // The detail of a constraint has the values.
        let hint = field("H")
        if !hint.isEmpty { message += " (\(hint))" }
        let constraint = field("n")
        if !constraint.isEmpty, !message.contains(constraint) { message += " [\(constraint)]" }
        if state == "54000", message.contains("index row") {
            message +=
                " (a text that is unique or in an index has at most some 2,700 bytes on a server, more where it compresses well)"
        }
        // A policy of rows refuses who has the right.
        // With the session ends whatever the reason is: a time for idle ones, an administrator.
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

    /// The state's five characters as a number by which they can be told again.
    static func number(ofState state: String) -> Int { Int(state, radix: 36) ?? 0 }

    /// Whether it is not the statement that is to blame, or what it met.
    var isOfTheMoment: Bool {
        switch kind {
        case .serialization, .busy, .interrupted, .timedOut, .full, .cannotOpen, .disconnected, .corrupt: true
        default: false
        }
    }

    /// Whether the server has nothing of the kind, as where tables have rules that no query may change rows by.
    var isOfAnUnknownFeature: Bool { code == Self.number(ofState: "0A000") }

    /// What the last call on the connection said; the connection is of no more use.
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
        // Where it was not this program that asked for it.
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

    /// A misuse of the driver by the program.
    static func misuse(_ message: String, sql: String? = nil) -> SQLFailure {
        SQLFailure(kind: .other, code: 0, message: message, sql: sql)
    }
}
