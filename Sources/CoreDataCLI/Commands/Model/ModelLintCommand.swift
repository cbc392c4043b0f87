import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import Foundation

/// The command `coredata model lint`.
struct ModelLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint",
        abstract: "Finds what is wrong or unwise in a model.",
        usage: "coredata model lint [<options>] <model>",
        discussion: """
            Prints each finding with file, line and column, what to do about it, and the rule's name in brackets; \
            docs/model-tools.md explains every rule. An entity or property whose user info has the key \
            coredata.lint.ignore may break the rules that its value lists.

            Of a model with several versions, the version is also checked against the one before it: what is required \
            now and cannot be filled by a lightweight migration is a finding.

            EXAMPLES
              coredata model lint Library.xcdatamodeld
              coredata model lint Library.xcdatamodeld --version 'Library 2' --strict
              coredata model lint Library.momd --format json | jq '.findings[] | .rule'

            EXIT CODES
              0  no errors; with --strict, no warnings either. Notes never count.
              1  errors, or with --strict warnings
              2  the model cannot be read
            """)

    @OptionGroup var input: ModelInput

    @Option(help: "text or json.")
    var format = ReportFormat.text

    @Flag(help: "The same as --format json.")
    var json = false

    @Flag(help: "Exit with 1 for warnings, too.")
    var strict = false

    func run() throws {
        let versions = try input.versions()
        let findings =
            versions.diagnostics
            + (input.version == nil ? ModelLinter.missingCurrentVersion(in: versions, at: input.path) : [])
            + ModelLinter.findings(
                in: try versions.document(named: input.version, at: input.path),
                previous: versions.previous(to: input.version), texts: ModelTextChecker())
        let report = LintReport(model: input.path, version: input.version ?? versions.currentName, findings: findings)
        switch json ? .json : format {
        case .text: print(report.text)
        case .json: print(try JSONOutput.text(report))
        }
        if report.errorCount > 0 || strict && report.warningCount > 0 { throw ExitCode(1) }
    }
}
