import ArgumentParser
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The command `coredata model compile`.
struct ModelCompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compile",
        abstract: "Compiles a model to the .momd or .mom that applications load.",
        usage: "coredata model compile [<options>] <model>",
        discussion: """
            A .xcdatamodeld becomes a .momd with every version, a .xcdatamodel one .mom. Apple's Core Data loads them \
            too. A model that is compiled already, and the same, is left alone.

            A version with errors is left out, and the others are written; if it is the current one, nothing is.

            EXAMPLES
              coredata model compile Library.xcdatamodeld --output Resources
              coredata model compile Library.xcdatamodeld --module Library

            EXIT CODES
              0  compiled
              1  compiled, but for the versions whose errors are printed
              2  nothing compiled: see the message
            """)

    @Argument(help: "The model: an .xcdatamodeld or .xcdatamodel.", completion: .file())
    var model: String

    @Option(name: .shortAndLong, help: "The folder to write to; made if it is not there.")
    var output = "."

    @Option(help: "The module of the model's classes, for those that the model names without one.")
    var module: String?

    @Flag(help: "Print what was written as JSON.")
    var json = false

    func run() throws {
        let isFolder = !["xcdatamodel", "mom"].contains(URL(fileURLWithPath: model).pathExtension)
        let versions = try ModelFile.versions(at: model)
        let compilation = try ModelCompilation(of: versions, isFolder: isFolder, module: module)
        for warning in compilation.warnings { Terminal.note(warning.rendered) }
        let path = ModelOutput.path(compilation.fileName, in: output)
        let isNew = try ModelOutput.writing(path) { try compilation.write(to: URL(fileURLWithPath: path)) }
        if json {
            print(
                try WrittenFile(path: path, isNew: isNew, versions: compilation.versions.versions.map(\.name)).json)
        } else {
            print((isNew ? "Compiled \(path), " : "\(path) is up to date, ") + compilation.versions.countText)
        }
        guard !compilation.errors.isEmpty else { return }
        Terminal.note(compilation.errors.rendered)
        Terminal.note(
            "error: \(versions.versions.count - compilation.versions.versions.count) of \(versions.countText) left out")
        throw ExitCode(1)
    }
}
