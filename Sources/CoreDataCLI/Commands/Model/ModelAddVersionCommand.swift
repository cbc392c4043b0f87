import ArgumentParser
import CoreDataModel
import CoreDataModelTools
import CoreDataToolkit
import Foundation

/// The command `coredata model add-version`.
struct ModelAddVersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-version",
        abstract: "Adds a version to a model, and makes it the current one.",
        usage: "coredata model add-version [<options>] <model>",
        discussion: """
            The new version is a copy of the current one, file by file, as Xcode makes it. Change the new version, not the \
            old one: stores that were made with the old one are recognised by it, and migrated to the new one.

            EXAMPLES
              coredata model add-version Library.xcdatamodeld
              coredata model add-version Library.xcdatamodeld --name 'Library 2.1' \\
                --from 'Library 2'
            """)

    @Argument(help: "The model: an .xcdatamodeld.", completion: .file())
    var model: String

    @Option(
        help: ArgumentHelp(
            "The name of the new version. Without it the model's name and the next number.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The version to copy. Without it the current one.", valueName: "name"))
    var from: String?

    @Flag(help: "Print what was made as JSON.")
    var json = false

    func run() throws {
        guard URL(fileURLWithPath: model).pathExtension == "xcdatamodeld" else {
            throw ToolFailure("\(model) has no versions: add-version takes an .xcdatamodeld.")
        }
        let versions = try ModelFile.versions(at: model)
        let names = versions.versions.map(\.name)
        guard from != nil || versions.saysWhichIsCurrent else {
            throw ToolFailure(
                """
                \(model) has several versions, and does not say which is the current one: \
                \(names.map { "'\($0)'" }.joined(separator: ", ")).
                hint: --from names the version to copy
                """)
        }
        let source = from ?? versions.currentName
        // Include versions that cannot be read, to name them in the message.
        guard names.contains(source) else {
            throw ToolFailure("\(model) has no version '\(source)'\(Suggestion.text(for: source, among: names))")
        }
        let added = name ?? ModelVersionName.next(after: names, of: versions.name)
        try ModelVersionName.check(added)
        // Apple's file systems treat names that differ in case as equal.
        guard !names.contains(where: { $0.lowercased() == added.lowercased() }) else {
            throw ToolFailure("\(model) has a version '\(added)' already; --name gives the new one another name.")
        }
        try ModelOutput.writing(model) {
            try Self.add(added, copyOf: source, to: URL(fileURLWithPath: model, isDirectory: true))
        }
        if json {
            print(try JSONOutput.text(["path": model, "version": added, "copyOf": source]))
        } else {
            print("Added '\(added)' to \(model), a copy of '\(source)'; it is the current version now")
        }
    }

    /// Copies the version's folder to the new name, then makes it the current version. If the command is interrupted,
    /// the model keeps its old current version.
    private static func add(_ name: String, copyOf source: String, to folder: URL) throws {
        let manager = FileManager.default
        let target = folder.appendingPathComponent("\(name).xcdatamodel")
        // Use a temporary name until the copy is complete.
        let fresh = folder.appendingPathComponent(".\(UUID().uuidString)")
        defer { try? manager.removeItem(at: fresh) }
        try manager.copyItem(at: folder.appendingPathComponent("\(source).xcdatamodel"), to: fresh)
        try manager.moveItem(at: fresh, to: target)
        do {
            try Data(ModelSource.currentVersion(name).utf8)
                .write(to: folder.appendingPathComponent(".xccurrentversion"), options: .atomic)
        } catch {
            try? manager.removeItem(at: target)
            throw error
        }
    }
}
