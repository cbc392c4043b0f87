import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The model for a store: that of a file, the copy that the store keeps, or one inferred from its tables.
struct FoundModel {
    var model: StoreModel
    var notes: [String]

    /// - Throws: an error that says which model is missing or does not fit.
    static func find(store path: String, model: URL?, options: StudioOptions) throws -> FoundModel {
        if options.infersModel { return try inferred(from: path) }
        if let model {
            let versions = try ModelReader.read(contentsOf: model)
            let notes = ["The model is \(model.path)."]
            guard let name = options.modelVersion else {
                return FoundModel(model: try .fitting(path, among: versions, at: model.path), notes: notes)
            }
            guard let document = versions[name] else {
                throw ToolkitError(
                    "\(model.path) has no version '\(name)'"
                        + Suggestion.text(for: name, among: versions.versions.map(\.name)))
            }
            return FoundModel(model: try configured(document, for: path), notes: notes)
        }
        if let type = StoreFile.typeOfOneFile(path) {
            throw ToolkitError(
                "\(path) keeps no copy of its model, as no \(type) store does. Name the model before the store.")
        }
        do {
            let document = try ModelInspection.cachedModel(ofStoreAt: StoreFile.url(path))
            return FoundModel(
                model: try configured(document, for: path), notes: ["The model is the copy that the store keeps."])
        } catch let error as CocoaError where error.errorCode == NSMigrationMissingSourceModelError {
            return try inferred(from: path)
        }
    }

    private static func inferred(from path: String) throws -> FoundModel {
        let (document, doubts) = try ModelInspection.inferredModel(ofStoreAt: StoreFile.url(path))
        var notes = ["The model is inferred from the store's tables. Its names and types are approximate."]
        if !doubts.isEmpty { notes.append("The destinations of these are unknown: \(doubts.joined(separator: ", ")).") }
        return FoundModel(model: StoreModel(document: document, isInferred: true), notes: notes)
    }

    private static func configured(_ document: ModelDocument, for path: String) throws -> StoreModel {
        guard let hashes = try StoreFile.versionHashes(path) else { return StoreModel(document: document) }
        return StoreModel(document: document).configured(for: hashes)
    }
}
