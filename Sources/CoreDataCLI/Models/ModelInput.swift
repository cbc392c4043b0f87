import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The arguments of a command that reads a model: its path and version.
struct ModelInput: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            """
            The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift, or a store, of which the copy of \
            its model is taken.
            """, valueName: "model"), completion: .file())
    var path: String

    @Flag(help: "Of a store that keeps no copy of its model, take what its tables tell.")
    var infer = false

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp(
            "The version of a model that has several, e.g. 'Model 2'. Without it the current version.",
            valueName: "name"))
    var version: String?

    func versions() throws -> ModelVersions {
        try ModelFile.versions(at: path, infers: infer, hint: "\n--infer makes one of its tables.")
    }

    func document() throws -> ModelDocument { try versions().document(named: version, at: path) }
}

/// Reads models from disk for commands.
enum ModelFile {
    /// - Parameters:
    ///   - infers: whether to infer the model from a store's tables instead of reading its cached model.
    ///   - hint: an alternative to name in the message if a store has no cached model.
    static func versions(at path: String, infers: Bool = false, hint: String = "") throws -> ModelVersions {
        guard !path.isEmpty else { throw ToolFailure("The path of the model is empty.") }
        if path.hasSuffix(".json") { return try ModelJSONReader.read(FileBytes(path: path, name: path)) }
        if path.hasSuffix(".swift") { return try ModelSwiftReader.read(path: path) }
        if StoreFile.isDatabase(path) { return try versions(ofStoreAt: path, infers: infers, hint) }
        if infers {
            throw ToolFailure("\(StoreFile.shown(path)) is no store: --infer makes a model of a store's tables.")
        }
        let url = URL(fileURLWithPath: path, relativeTo: nil).relativeToWorkingFolder
        guard !FileManager.default.fileExists(atPath: path) || isNamedAsModel(url) else {
            throw ToolFailure(
                """
                '\(path)' is neither a model nor a store.
                hint: a model is an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift; a store is a database of SQLite
                """)
        }
        return try ModelReader.read(contentsOf: url)
    }

    private static func isNamedAsModel(_ url: URL) -> Bool {
        ["xcdatamodeld", "xcdatamodel", "momd", "mom", "omo"].contains(url.pathExtension)
            || url.lastPathComponent == "contents"
    }

    /// - Throws: ``ValidationError`` if the file does not exist; call it before other checks.
    static func validateIsThere(_ path: String) throws {
        // Whether a server is reachable is found out when it is read.
        guard !StoreFile.isOnServer(path), !FileManager.default.fileExists(atPath: path) else { return }
        throw ValidationError(path.isEmpty ? "The path of the model is empty." : "There is no file at \(path).")
    }

    /// Returns the model inferred from a store's tables, and prints a warning about its limits.
    static func inferred(from store: String) throws -> ModelDocument {
        let (document, doubts) = try ModelInspection.inferredModel(ofStoreAt: StoreFile.url(store))
        Terminal.note("note: the model was made of the store's tables; names and types are as near as these tell")
        if !doubts.isEmpty {
            Terminal.note("note: nothing tells what these lead to: \(doubts.joined(separator: ", "))")
        }
        return document
    }

    private static func versions(ofStoreAt path: String, infers: Bool, _ hint: String) throws -> ModelVersions {
        try StoreFile.checkReaches(path)
        let url = StoreFile.url(path)
        var document: ModelDocument
        do {
            document = try infers ? inferred(from: path) : ModelInspection.cachedModel(ofStoreAt: url)
        } catch let error as CocoaError where error.errorCode == NSMigrationMissingSourceModelError {
            throw ToolFailure(ErrorText.describe(error) + hint)
        }
        let name = url.deletingPathExtension().lastPathComponent
        document.name = name
        return ModelVersions(name: name, versions: [.init(name: name, document: document)], currentName: name)
    }
}

extension ModelVersions {
    /// Returns the version with the name, or the current one.
    func document(named name: String?, at path: String) throws -> ModelDocument {
        if let document = self[name ?? currentName] { return document }
        throw ToolFailure(
            "\(StoreFile.shown(path)) has no version '\(name ?? currentName)'"
                + Suggestion.text(for: name ?? currentName, among: versions.map(\.name)))
    }

    /// Returns the version with the name, or the current one if the model names it: a migration never uses a guessed
    /// version.
    func target(named name: String?, at path: String) throws -> ModelDocument {
        if name == nil, !saysWhichIsCurrent {
            throw ToolFailure(
                """
                \(StoreFile.shown(path)) has several versions, and does not say which is the current one: \
                \(versions.map { "'\($0.name)'" }.joined(separator: ", ")).
                hint: --to names the version to migrate to
                """)
        }
        return try document(named: name, at: path)
    }

    /// Whether there is only one version, or the model names its current one.
    var saysWhichIsCurrent: Bool { versions.count < 2 || namesCurrentVersion }

    /// Returns the previous version, in the order of names.
    func previous(to name: String?) -> ModelDocument? {
        guard let index = versions.firstIndex(where: { $0.name == name ?? currentName }), index > 0 else { return nil }
        return versions[index - 1].document
    }
}

extension URL {
    /// The same file relative to the working folder, if it is inside, so that messages show the path that users typed.
    fileprivate var relativeToWorkingFolder: URL {
        let folder = FileManager.default.currentDirectoryPath + "/"
        let path = standardizedFileURL.path
        guard path.hasPrefix(folder) else { return self }
        return URL(fileURLWithPath: String(path.dropFirst(folder.count)), relativeTo: URL(fileURLWithPath: folder))
    }
}

/// Prints JSON output.
enum JSONOutput {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// The output format of a command with a report.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}
