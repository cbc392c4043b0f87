import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import Foundation

/// The command `coredata model decompile`.
struct ModelDecompileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decompile",
        abstract: "Writes the source of a compiled model: an .xcdatamodeld that Xcode opens.",
        discussion: """
            Every version of a .momd comes back, and which of them is current. What a compiled model does not hold gets \
            Xcode's defaults: no class is generated, numbers are scalars, the diagram is empty.

            EXAMPLES
              coredata model decompile Library.momd
              coredata model decompile Old.mom --output Models
              coredata model decompile Library.sqlite
            """)

    @Argument(
        help: "The compiled model: a .momd or .mom, or a store, of which the copy of its model is taken.",
        completion: .file())
    var model: String

    @Option(name: .shortAndLong, help: "The folder to write to; made if it is not there.")
    var output = "."

    @Flag(help: "Replace an .xcdatamodeld that is there.")
    var force = false

    @Flag(help: "Print what was written as JSON.")
    var json = false

    func validate() throws {
        try ModelFile.validateIsThere(model)
        if ["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: model).pathExtension) {
            throw ValidationError("\(model) is the source of a model already; decompile takes a .momd or .mom.")
        }
    }

    func run() throws {
        var versions = try ModelFile.versions(at: model)
        versions.noteWarnings()
        for index in versions.versions.indices {
            let document = versions.versions[index].document
            versions.versions[index].document = document.decompiled()
        }
        let target = try ModelOutput(
            ModelOutput.path(versions.name + ".xcdatamodeld", in: output), isReplacing: force)
        let files = try ModelSource(versions: versions).files
        try target.writing { try files.write(to: $0) }
        if json {
            return print(
                try WrittenFile(path: target.path, isNew: true, versions: versions.versions.map(\.name)).json)
        }
        print("Wrote \(target.path), \(versions.countText), current: \(versions.currentName)")
    }
}
