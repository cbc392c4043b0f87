import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import CoreDataPrimitives
import Foundation

/// The command `coredata model convert`.
struct ModelConvertCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Writes a model in another form: JSON, Swift, Xcode's or compiled.",
        usage: "coredata model convert [<options>] <model> --to <to>",
        discussion: """
            JSON holds every version and everything that Xcode's files say. Swift holds what a compiled model holds, as \
            functions that make each version. Nothing is left out silently: what a form has no place for is an error.

            EXAMPLES
              coredata model convert Library.xcdatamodeld --to json --output Library.json
              coredata model convert Library.json --to xcdatamodeld \\
                --output Library.xcdatamodeld
              coredata model convert Library.momd --to swift --output LibraryModel.swift
            """)

    enum Form: String, ExpressibleByArgument, CaseIterable {
        case json, swift, xcdatamodeld, momd
    }

    @Argument(
        help: "The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json, .swift or a store.", completion: .file())
    var model: String

    @Option(help: "The form to write.")
    var to: Form

    @Option(
        name: .shortAndLong,
        help: "The file or folder to write. JSON and Swift go to standard output without it.")
    var output: String?

    @Option(help: "With --to momd: the module of the model's classes.")
    var module: String?

    @Flag(help: "Replace what is there.")
    var force = false

    func validate() throws {
        if output == nil, to == .xcdatamodeld || to == .momd {
            throw ValidationError("--to \(to.rawValue) writes a folder: give --output.")
        }
        if module != nil, to != .momd { throw ValidationError("--module goes with --to momd.") }
    }

    func run() throws {
        let versions = try ModelFile.versions(at: model)
        versions.noteWarnings()
        for version in versions.versions { try version.document.checkIsComplete() }
        let target = try output.flatMap { $0 == "-" ? nil : $0 }.map { try ModelOutput($0, isReplacing: force) }
        switch to {
        case .json: try write(ModelJSONWriter.text(of: versions), to: target)
        case .swift: try write(ModelSwiftWriter.text(of: versions), to: target)
        case .xcdatamodeld:
            let source = try ModelSource(versions: versions.asSource)
            if let target { try target.writing { try source.files.write(to: $0) } }
        case .momd:
            let compilation = try ModelCompilation(of: versions, isFolder: true, module: module)
            for warning in compilation.warnings { Terminal.note(warning.rendered) }
            if !compilation.errors.isEmpty { throw ModelFailure(diagnostics: compilation.errors) }
            if let target { try target.writing { try compilation.write(to: $0) } }
        }
        if let target { print("Wrote \(target.path), \(versions.countText)") }
    }

    private func write(_ text: String, to target: ModelOutput?) throws {
        let file = try TextOutput(path: target?.path)
        do {
            try file.write(text)
            try file.finish()
        } catch {
            file.cancel()
            throw error
        }
    }
}

extension ModelVersions {
    /// The versions in Xcode's source form; compiled models are decompiled.
    fileprivate var asSource: ModelVersions {
        var result = self
        for index in result.versions.indices where !result.versions[index].document.appliesIndexDecodingQuirk {
            let document = result.versions[index].document
            result.versions[index].document = document.decompiled()
        }
        return result
    }
}
