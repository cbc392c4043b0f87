import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import CoreDataStoreTools
import Foundation

/// The command `coredata model diff`.
struct ModelDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Tells what changed between two models, and whether a store can be migrated.",
        usage: "coredata model diff [<options>] <old> [<new>]",
        discussion: """
            Compares entities, properties, indexes, constraints, requests and configurations; renaming identifiers tell \
            what was renamed. Says whether stores must be migrated (their version hashes differ), and whether a \
            lightweight migration can be inferred; if not, why.

            Either may be a store: the model that it keeps a copy of is compared.

            EXAMPLES
              coredata model diff Old.momd New.xcdatamodeld
              coredata model diff Library.xcdatamodeld --from 'Library 2'
              coredata model diff Library.sqlite Library.xcdatamodeld --format json

            EXIT CODES
              0  the models are alike
              1  they differ
              2  not compared: see the message
            """)

    @Argument(help: "The older model, or a store.", completion: .file())
    var old: String

    @Argument(help: "The newer model, or a store. Without it another version of the first one.", completion: .file())
    var new: String?

    @Option(help: ArgumentHelp("The older model's version. Without it the current one.", valueName: "name"))
    var from: String?

    @Option(help: ArgumentHelp("The newer model's version. Without it the current one.", valueName: "name"))
    var to: String?

    @Option(help: "text or json.")
    var format = ReportFormat.text

    @Flag(help: "The same as --format json.")
    var json = false

    func validate() throws {
        for path in [old, new].compactMap(\.self) { try ModelFile.validateIsThere(path) }
        if new == nil, from == nil { throw ValidationError("Name a second model, or a version with --from.") }
    }

    func run() throws {
        let report = try DifferenceReport(
            from: Self.side(old, version: from), to: Self.side(new ?? old, version: to))
        switch json ? .json : format {
        case .text: print(report.text)
        case .json: print(try JSONOutput.text(report))
        }
        if !report.isSame { throw ExitCode(1) }
    }

    private static func side(_ path: String, version: String?) throws -> (title: String, document: ModelDocument) {
        let isStore = StoreFile.isDatabase(path)
        if isStore, version != nil { throw ToolFailure("\(StoreFile.shown(path)) is a store, which has no versions.") }
        let versions = try ModelFile.versions(at: path)
        let title = isStore ? StoreFile.shown(path) : version ?? versions.currentName
        return (title, try versions.document(named: version, at: path))
    }
}
