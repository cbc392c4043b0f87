import SwiftDiagnostics

/// An error or a warning of a macro: what is wrong with which declaration, and what to do.
struct MacroMessage: DiagnosticMessage, FixItMessage {
    let message: String
    let severity: DiagnosticSeverity
    private let name: String

    /// - Parameter name: tells the kinds of messages apart.
    init(_ name: String, _ message: String, severity: DiagnosticSeverity = .error) {
        self.name = name
        self.message = message
        self.severity = severity
    }

    var diagnosticID: MessageID { MessageID(domain: "SwiftData", id: name) }
    var fixItID: MessageID { diagnosticID }
}
