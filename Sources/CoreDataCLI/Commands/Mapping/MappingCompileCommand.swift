import ArgumentParser
import CoreDataModel
import Foundation

/// The command `coredata mapping compile`.
struct MappingCompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Compiles a mapping model to the .cdm that applications load.",
        discussion: """
            Apple's Core Data loads it too. One that is compiled already, and the same, is left alone.

            EXAMPLES
              coredata mapping compile Library1to2.xcmappingmodel --output Resources
            """)

    @Argument(help: "The mapping model: an .xcmappingmodel.", completion: .file())
    var mapping: String

    @Option(name: .shortAndLong, help: "The folder to write to; made if it is not there.")
    var output = "."

    @Flag(help: "Print what was written as JSON.")
    var json = false

    func run() throws {
        let document = try MappingListing.read(mapping)
        let name = URL(fileURLWithPath: mapping).deletingPathExtension().lastPathComponent
        let path = ModelOutput.path(name + ".cdm", in: output)
        let isNew = try ModelOutput.writing(path) { try document.write(to: URL(fileURLWithPath: path)) }
        if json { return print(try WrittenFile(path: path, isNew: isNew).json) }
        let count = Grouped.text(document.entities.count, "entity mapping")
        print(isNew ? "Compiled \(path), \(count)" : "\(path) is up to date, \(count)")
    }
}
