import CoreDataModel
import CoreDataStore
import Foundation

/// The versions of a model that the program has; a store's own copy of its model is not one of them.
///
/// ```
///  models that the caller names ──▶ the folder of the model's file ──▶ the files of models that it was merged from ──▶ bundles
/// ```
struct KnownVersions {
    /// The model that stores are opened with.
    let model: NSManagedObjectModel
    /// Files of versions beside the model's own, the first to be searched.
    var files: [URL]
    /// Models that the caller names, for example those of custom stages.
    var models: [NSManagedObjectModel] = []
    /// Checksums of versions whose models are not named, for example those of lightweight stages.
    var checksums: Set<String> = []

    init(_ model: NSManagedObjectModel, files: [URL] = [], models: [NSManagedObjectModel] = []) {
        (self.model, self.files, self.models) = (model, files, models)
    }

    /// Returns the version with these hashes, by entity; `nil` if the program has none.
    func document(_ hashes: [String: Data]) -> ModelDocument? {
        for model in models where model.has(hashes) { return model.makeDocument() }
        for file in (files + [model.fileURL].compactMap { $0 }).map(Self.folder(of:)) {
            guard let versions = try? NSManagedObjectModel.versions(at: file) else { continue }
            for version in versions.versions.reversed() {
                guard let compiled = try? ModelCompiler.compile(version.document) else { continue }
                if hashes.allSatisfy({ compiled.entity(named: $0.key)?.hasVersionHash($0.value) == true }) {
                    return version.document
                }
            }
        }
        let metadata: [String: Any] = [NSStoreModelVersionHashesKey: hashes]
        if let parts = model.partURLs, !parts.isEmpty {
            let models = parts.flatMap(Self.models(at:))
            if let model = NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata) {
                return model.makeDocument()
            }
        }
        let bundles: [[Bundle]?] = [nil, Bundle.allBundles + Bundle.allFrameworks]
        for bundles in bundles {
            if let model = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata) {
                return model.makeDocument()
            }
        }
        return nil
    }

    func has(_ hashes: [String: Data]) -> Bool {
        checksums.contains(VersionHash.checksum(hashes)) || model.has(hashes) || document(hashes) != nil
    }

    /// Whether the model, unchanged since it was read, is in a folder of versions, or merged from such models: then the
    /// program has every version.
    ///
    /// A model in code and a file without versions have no former versions beside them: only stores know these.
    var isComplete: Bool {
        let urls = (model.fileURL.map { [$0] } ?? model.partURLs ?? []).map(Self.folder(of:))
        guard !urls.isEmpty, urls.allSatisfy(Self.isFolderOfVersions) else { return false }
        let known = urls.flatMap(Self.models(at:)).map(\.entityVersionHashesByName)
        return model.entityVersionHashesByName.allSatisfy { name, hash in known.contains { $0[name] == hash } }
    }

    private static func isFolderOfVersions(_ url: URL) -> Bool { ["momd", "xcdatamodeld"].contains(url.pathExtension) }

    /// The folder of versions that the file of a single version lies in; else the file itself.
    private static func folder(of file: URL) -> URL {
        let folder = file.deletingLastPathComponent()
        return isFolderOfVersions(folder) ? folder : file
    }

    private static func models(at url: URL) -> [NSManagedObjectModel] {
        guard let versions = try? NSManagedObjectModel.versions(at: folder(of: url)) else { return [] }
        return versions.versions.compactMap { try? NSManagedObjectModel(document: $0.document) }
    }
}

extension NSManagedObjectModel {
    /// Whether the model has these entities, just so; also by the hashes that earlier versions of this framework gave
    /// entities with composite attributes.
    func has(_ hashes: [String: Data]) -> Bool {
        let own = entityVersionHashesByName
        if hashes.allSatisfy({ own[$0.key] == $0.value }) { return true }
        guard entities.contains(where: { $0.properties.contains { $0 is NSCompositeAttributeDescription } }),
            let compiled = try? ModelCompiler.compile(makeDocument())
        else { return false }
        return hashes.allSatisfy { compiled.entity(named: $0.key)?.hasVersionHash($0.value) == true }
    }
}

extension LossRule {
    /// Creates the rule of a store's options; `nil` if they allow every loss.
    init?(_ options: [AnyHashable: Any]?, _ versions: KnownVersions) {
        let wish = (options?[NSMigratePersistentStoresAllowingLossOption] as? NSNumber)?.boolValue
        guard wish != true else { return nil }
        self.init(knowsAll: wish == false || !versions.checksums.isEmpty || versions.isComplete, knows: versions.has)
    }
}
