import ArgumentParser
import CoreDataModel
import Foundation

/// A model and which of its versions, wherever a command looks at one.
struct ModelInput: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift.", valueName: "model"))
    var path: String

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "The version of a model that has several, e.g. 'Model 2'. Without it the current version.",
            valueName: "name"))
    var version: String?

    func versions() throws -> ModelVersions { try ModelFile.versions(at: path) }

    func document() throws -> ModelDocument { try versions().document(named: version, at: path) }
}

/// Models on disk, for the commands that look at them.
enum ModelFile {
    static func versions(at path: String) throws -> ModelVersions {
        if path.hasSuffix(".json") { return try ModelJSONReader.read(FileBytes(path: path, name: path)) }
        if path.hasSuffix(".swift") { return try ModelSwiftReader.read(FileBytes(path: path, name: path)) }
        return try ModelReader.read(contentsOf: URL(fileURLWithPath: path, relativeTo: nil).relativeToWorkingFolder)
    }
}

extension ModelVersions {
    /// The version of that name, or the current one.
    func document(named name: String?, at path: String) throws -> ModelDocument {
        if let document = self[name ?? currentName] { return document }
        throw ToolFailure(
            "\(path) has no version '\(name ?? currentName)'"
                + Suggestion.text(for: name ?? currentName, among: versions.map(\.name)))
    }

    /// The version before that one, in the order of their names.
    func previous(to name: String?) -> ModelDocument? {
        guard let index = versions.firstIndex(where: { $0.name == name ?? currentName }), index > 0 else { return nil }
        return versions[index - 1].document
    }
}

extension URL {
    /// The same file by a path from the working folder where it is in there, so that messages show what people typed.
    fileprivate var relativeToWorkingFolder: URL {
        let folder = FileManager.default.currentDirectoryPath + "/"
        let path = standardizedFileURL.path
        guard path.hasPrefix(folder) else { return self }
        return URL(fileURLWithPath: String(path.dropFirst(folder.count)), relativeTo: URL(fileURLWithPath: folder))
    }
}

/// What is printed for programs.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// How a command that reports tells its result.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}
