import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataStoreTools
import Foundation

/// The options `--model` and `--model-version` of commands that need a model.
struct ModelOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The model: an .xcdatamodeld, .xcdatamodel, .momd, .mom, .json or .swift, or another store. Without it the \
            model that the store keeps a copy of.
            """,
            valueName: "model"), completion: .file())
    var model: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The version of a model that has several, e.g. 'Model 2'. Without it the one that fits the store.",
            valueName: "name"))
    var modelVersion: String?

    func validate() throws {
        if modelVersion != nil, model == nil {
            throw ValidationError("--model-version chooses a version of the model that --model names; give both.")
        }
    }

    /// Returns the model that the options name, or else the store's cached model.
    ///
    /// - Parameter hint: an alternative to `--model` to name in the message if the store has no cached model.
    func resolved(for store: String, hint: String = "") throws -> StoreModel {
        if let model {
            let versions = try Self.versions(model)
            guard modelVersion == nil else {
                let document = try versions.document(named: modelVersion, at: model)
                guard let hashes = try StoreFile.versionHashes(store) else { return StoreModel(document: document) }
                return StoreModel(document: document).configured(for: hashes)
            }
            let found = try StoreModel.fitting(store, among: versions, at: model)
            for note in found.notes { Terminal.note("note: \(note)") }
            return found
        }
        if let type = StoreFile.typeOfOneFile(store) {
            throw ToolFailure("\(store) keeps no copy of its model, as no \(type) store does: --model names it.")
        }
        do {
            let document = try ModelInspection.cachedModel(ofStoreAt: StoreFile.url(store))
            guard let hashes = try StoreFile.versionHashes(store) else { return StoreModel(document: document) }
            return StoreModel(document: document).configured(for: hashes)
        } catch let error as CocoaError where error.errorCode == NSMigrationMissingSourceModelError {
            throw ToolFailure("\(ErrorText.describe(error))\n--model names it\(hint).")
        }
    }

    static func versions(_ path: String) throws -> ModelVersions {
        try StoreFile.checkReaches(path)
        guard path.isEmpty || StoreFile.isOnServer(path) || FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure("There is no model at \(path).")
        }
        return try ModelFile.versions(at: path)
    }
}

/// The same options and `--infer`, for commands that only read.
struct ReadingModelOptions: ParsableArguments {
    @OptionGroup var options: ModelOptions

    @Flag(help: "Make a model of the store's tables, for a store whose model nobody has.")
    var infer = false

    func validate() throws {
        if infer, options.model != nil { throw ValidationError("Choose one of --model and --infer.") }
    }

    func resolved(for store: String) throws -> StoreModel {
        guard infer else {
            return try options.resolved(
                for: store, hint: "; --infer reads the store without, with a model made of its tables")
        }
        if let type = StoreFile.typeOfOneFile(store) {
            throw ToolFailure(
                "--infer makes a model of a store's tables, and \(store), a store of type \(type), has none: --model names its model."
            )
        }
        return StoreModel(document: try ModelFile.inferred(from: store), isInferred: true)
    }
}
