import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataToolkit
import Foundation

/// A model and which of its versions, wherever a command looks at one.
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

/// Models on disk, for the commands that look at them.
enum ModelFile {
    /// - Parameters:
    ///   - infers: whether a store's tables tell its model, instead of the copy that it keeps.
    ///   - hint: what else to do where a store keeps none.
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

    /// - Throws: ``ValidationError`` where there is no such file: before anything else is said of it.
    static func validateIsThere(_ path: String) throws {
        // Whether it can be reached shows when it is read.
        guard !StoreFile.isOnServer(path), !FileManager.default.fileExists(atPath: path) else { return }
        throw ValidationError(path.isEmpty ? "The path of the model is empty." : "There is no file at \(path).")
    }

    /// A model of a store's tables, with a remark of what it is worth.
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
    /// The version of that name, or the current one.
    func document(named name: String?, at path: String) throws -> ModelDocument {
        if let document = self[name ?? currentName] { return document }
        throw ToolFailure(
            "\(StoreFile.shown(path)) has no version '\(name ?? currentName)'"
                + Suggestion.text(for: name ?? currentName, among: versions.map(\.name)))
    }

    /// The version of that name, or the current one if the model says which that is: nothing is migrated to one that was guessed.
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

    /// Whether there is one version only, or the model names its current one.
    var saysWhichIsCurrent: Bool { versions.count < 2 || namesCurrentVersion }

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
