import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import Foundation

/// The command `coredata model new`.
struct ModelNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Makes an empty model with one version, as Xcode does.",
        discussion: """
            The new .xcdatamodeld has one version of its own name, which is the current one. Xcode opens it, and so does \
            every command here. Entities are added in Xcode or by hand: see coredata help model lint.

            EXAMPLES
              coredata model new Library
              coredata model new Sources/Library/Library.xcdatamodeld
            """)

    @Argument(help: "The .xcdatamodeld to make; the ending may be left out.", completion: .file())
    var model: String

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func run() throws {
        let name = URL(fileURLWithPath: model).lastPathComponent
        guard !model.isEmpty, !model.hasSuffix("/"), name != "..", name != "." else {
            throw ToolFailure("'\(model)' is no name of a model. Write for example: coredata model new Library")
        }
        let ending = URL(fileURLWithPath: model).pathExtension
        guard ["", "xcdatamodeld"].contains(ending) else {
            throw ToolFailure("A new model is an .xcdatamodeld, not '.\(ending)'.")
        }
        let output = try ModelOutput(
            ending.isEmpty ? model + ".xcdatamodeld" : model, isReplacing: false, hint: "model new replaces nothing")
        let stem = output.url.deletingPathExtension().lastPathComponent
        try ModelVersionName.check(stem)
        var document = ModelDocument()
        document.name = stem
        // Xcode writes the version identifier even if it is empty.
        document.versionIdentifiers = [""]
        var versions = ModelVersions(name: stem, versions: [.init(name: stem, document: document)], currentName: stem)
        versions.namesCurrentVersion = true
        let source = try ModelSource(versions: versions)
        try output.writing { try source.files.write(to: $0) }
        if json {
            print(try JSONOutput.text(["path": output.path, "version": stem]))
        } else {
            print("Made \(output.path) with the version '\(stem)'")
        }
    }
}

/// Checks and makes names of versions, which are also names of folders.
enum ModelVersionName {
    /// - Throws: ``ToolFailure`` for a name that Xcode or file systems do not allow.
    static func check(_ name: String) throws {
        guard !name.isEmpty, !name.hasPrefix("."), !name.contains(where: { "/:".contains($0) || $0.isNewline }) else {
            throw ToolFailure(
                "'\(name)' is no name of a version: it must not be empty, begin with a point, or have '/' or ':' in it."
            )
        }
    }

    /// Returns Xcode's name for the next version: `Library 3` after `Library` and `Library 2`.
    static func next(after names: [String], of model: String) -> String {
        let numbers = names.map { name -> Int in
            guard name.hasPrefix(model + " ") else { return 1 }
            return Int(name.dropFirst(model.count + 1)) ?? 1
        }
        return "\(model) \((numbers.max() ?? 1) + 1)"
    }
}
