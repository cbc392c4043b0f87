import ArgumentParser
import CoreDataCodeGeneration
import CoreDataModel
import Foundation

/// The command `coredata model generate`.
struct ModelGenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes the Swift classes of a model.",
        usage: "coredata model generate [<options>] <model> --output <output>",
        discussion: """
            Of the current version it writes what Xcode would: Item+CoreDataClass.swift and \
            Item+CoreDataProperties.swift for an entity whose Codegen is "Class Definition", only the latter for \
            "Category/Extension", nothing for "Manual/None" unless --all is given.

            With --human-machine every entity with a class has two files: _Item.swift, written anew each time, and its \
            subclass in Item.swift, written once and yours from then on.

            A file that was not generated is never overwritten, one that would not change is left alone.

            EXAMPLES
              coredata model generate Library.xcdatamodeld --output Sources/Library
              coredata model generate Library.xcdatamodeld --output Model \\
                --human-machine --access-level internal
            """)

    @Argument(help: "The model: an .xcdatamodeld or .xcdatamodel.", completion: .file())
    var model: String

    @Option(name: .shortAndLong, help: "The folder to write to; made if it is not there.")
    var output: String

    @Option(help: ArgumentHelp("The version of a model that has several; else the current one.", valueName: "name"))
    var modelVersion: String?

    @Option(
        help: "The module that the classes are for; those that the model puts into another one are used from there.")
    var module: String?

    @Option(help: "How visible the classes are: public, package or internal.")
    var accessLevel = GenerationOptions.AccessLevel.public

    @Flag(help: "Generate classes of all entities, whatever their Codegen says.")
    var all = false

    @Flag(help: "Write two files for each class, one for the generator and one for you.")
    var humanMachine = false

    @Flag(help: "Print the list of files as JSON.")
    var json = false

    func run() throws {
        let url = URL(fileURLWithPath: model)
        let document = try ModelFile.versions(at: model).document(named: modelVersion, at: model)
        var options = GenerationOptions()
        options.accessLevel = accessLevel
        options.includesManual = all
        options.module = module
        options.style = humanMachine ? .humanMachine : .xcode
        let generation = try ClassGeneration(document, modelName: url.lastPathComponent, options: options)
        try write(generation.files)
    }

    private func write(_ files: [GeneratedFile]) throws {
        var counts: [GeneratedFile.Outcome: Int] = [:]
        var written: [WrittenFile] = []
        for file in files {
            let path = (output as NSString).appendingPathComponent(file.name)
            let outcome = try ModelOutput.writing(path) { try file.write(into: URL(fileURLWithPath: output)) }
            counts[outcome, default: 0] += 1
            written.append(WrittenFile(path: path, isNew: outcome == .written))
            switch outcome {
            case .written: if !json { print("wrote \(path)") }
            case .kept where !file.isWrittenOnce:
                Terminal.note("warning: \(path) was not generated; it is kept, and may say something else")
            case .kept, .unchanged: break
            }
        }
        let rest = [(GeneratedFile.Outcome.unchanged, "unchanged"), (.kept, "kept")]
            .compactMap { outcome, word in counts[outcome].map { "\($0) \(word)" } }
        if json {
            print(try JSONOutput.text(written))
        } else {
            print((["\(counts[.written] ?? 0) written"] + rest).joined(separator: ", "))
        }
        if files.isEmpty {
            Terminal.note("hint: no entity asks for a class; set Codegen in the model, or give --all")
        }
    }
}

extension GenerationOptions.AccessLevel: ExpressibleByArgument {}
