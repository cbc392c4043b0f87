import CoreDataModel
import CoreDataPrimitives

/// The linter's findings in one version of a model.
package struct LintReport: Encodable {
    package struct Finding: Encodable {
        package var rule: String
        package var severity: String
        package var entity: String?
        package var property: String?
        package var file: String?
        package var line: Int?
        package var column: Int?
        package var message: String
        package var hint: String?
    }

    package var model: String
    package var version: String
    package var errorCount: Int
    package var warningCount: Int
    package var noteCount: Int
    package var findings: [Finding]
    private let diagnostics: [Diagnostic]

    private enum CodingKeys: String, CodingKey {
        case model, version, errorCount, warningCount, noteCount, findings
    }

    package init(model: String, version: String, findings diagnostics: [Diagnostic]) {
        self.model = model
        self.version = version
        self.diagnostics = diagnostics
        errorCount = diagnostics.count { $0.severity == .error }
        warningCount = diagnostics.count { $0.severity == .warning }
        noteCount = diagnostics.count { $0.severity == .note }
        findings = diagnostics.map { diagnostic in
            let parts = (diagnostic.subject ?? "").split(separator: ".", maxSplits: 1).map(String.init)
            return Finding(
                rule: diagnostic.rule ?? LintRule.invalidModel.rawValue, severity: diagnostic.severity.rawValue,
                entity: parts.first, property: parts.count > 1 ? parts[1] : nil, file: diagnostic.location?.file,
                line: diagnostic.location?.line, column: diagnostic.location?.column, message: diagnostic.message,
                hint: diagnostic.hint)
        }
    }

    /// The findings in compiler format, and a line with their number.
    package var text: String {
        let lines = diagnostics.map { diagnostic in
            var diagnostic = diagnostic
            diagnostic.message += " [\(diagnostic.rule ?? LintRule.invalidModel.rawValue)]"
            return diagnostic.rendered
        }
        let counts = [(errorCount, "error"), (warningCount, "warning"), (noteCount, "note")].filter { $0.0 > 0 }
            .map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let summary = "\(version): " + (counts.isEmpty ? "nothing to mend" : counts.joined(separator: ", "))
        return (lines + [summary]).joined(separator: "\n")
    }
}
