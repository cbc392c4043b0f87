import ArgumentParser
import CoreData
import CoreDataModel
import Foundation

/// The command `coredata mapping infer`.
struct MappingInferCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Infers the mapping model between two versions of a model.",
        usage: "coredata mapping infer [<options>] <model> --from <version>",
        discussion: """
            The mapping that a lightweight migration follows; with --output it is written as a .cdm. Exits with 1 \
            where none can be inferred, and says why.

            EXAMPLES
              coredata mapping infer Library.xcdatamodeld --from Library
              coredata mapping infer Library.xcdatamodeld --from 'Library 2' \\
                --output Library2to3.cdm
            """)

    @Argument(help: "The model: an .xcdatamodeld or .momd.", completion: .file())
    var model: String

    @Option(help: ArgumentHelp("The older version.", valueName: "version"))
    var from: String

    @Option(help: ArgumentHelp("The newer version. Without it the current one.", valueName: "version"))
    var to: String?

    @Option(name: .shortAndLong, help: "The .cdm to write, in the place of what is there.", completion: .file())
    var output: String?

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() throws {
        let versions = try ModelOptions.versions(model)
        let models = try [from, to].map {
            try NSManagedObjectModel(document: versions.document(named: $0, at: model))
        }
        let mapping: NSMappingModel
        do {
            mapping = try NSMappingModel.inferredMappingModel(forSourceModel: models[0], destinationModel: models[1])
        } catch let error as CocoaError where error.errorCode == NSInferredMappingModelError {
            Terminal.note("error: \(ErrorText.describe(error))")
            throw ExitCode(1)
        }
        let document = try mapping.makeDocument()
        guard let output else { return try MappingListing(document).show(asJSON: json) }
        let isNew = try ModelOutput.writing(output) { try document.write(to: URL(fileURLWithPath: output)) }
        print(isNew ? "Wrote \(output)" : "\(output) is up to date")
    }
}
