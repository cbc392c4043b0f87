import CoreDataModel
import CoreDataPrimitives

extension ModelLinter {
    /// A warning for several versions none of which is marked as current, of which nothing is said when they are read: the file of the mark
    /// is missing.
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
