import CoreDataModel
import CoreDataPrimitives

extension ModelLinter {
    /// Returns a warning if there are several versions and none is marked as current because the mark's file is
    /// missing; the reader accepts this silently.
    package static func missingCurrentVersion(in versions: ModelVersions, at path: String) -> [Diagnostic] {
        let rule = LintRule.noCurrentVersion.rawValue
        guard versions.versions.count > 1, !versions.namesCurrentVersion,
            !versions.diagnostics.contains(where: { $0.rule == rule })
        else { return [] }
        return [
            Diagnostic(
                .warning,
                "'\(path)' has several versions and names none of them as current; '\(versions.currentName)' is taken",
                hint: "choose the current version in Xcode: that makes the file .xccurrentversion", rule: rule)
        ]
    }
}
