import ArgumentParser
import CoreDataModel
import CoreDataModelTools

/// The command `coredata model doc`.
struct ModelDocCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doc",
        abstract: "Writes a model down as one HTML page.",
        usage: "coredata model doc [<options>] <model>",
        discussion: """
            The page needs nothing beside it: a drawing, every entity with its attributes, relationships, constraints, \
            indexes and user info, the columns that a store has for them, fetch requests, configurations, version \
            hashes, and an index of names. It follows the reader's choice of light or dark and prints well.

            EXAMPLES
              coredata model doc Library.xcdatamodeld --output Library.html
              coredata model doc Library.momd --version 'Library 2' > Library2.html
              coredata model doc Library.sqlite > Library.html
            """)

    @OptionGroup var input: ModelInput

    @Option(help: "The drawing. xcode: where Xcode has the entities, if it has all of them; auto: laid out anew.")
    var layout = ModelGraphCommand.Layout.xcode

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The file to write. Without it standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace what is there.")
    var force = false

    func run() throws {
        if let output, output != "-" { try ExportTarget.check(output, isReplacing: force) }
        let document = try input.document()
        let model = try ModelCompiler.compile(document)
        let page = ModelPage(
            document, model: model, names: ModelStoreNames(of: model), defaults: DefaultTexts.of(document),
            usesPositions: layout == .xcode)
        try TextOutput.write(page.html, to: output)
    }
}
