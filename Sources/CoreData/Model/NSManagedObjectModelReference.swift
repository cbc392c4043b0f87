import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Names a version of a model that a migration needs, and loads it only then.
///
///     NSManagedObjectModelReference(name: "Library 2", in: .module, versionChecksum: "VDE…=")
///
/// The checksum, which ``NSManagedObjectModel/versionChecksum`` prints, ensures that the right model was found.
open class NSManagedObjectModelReference: NSObject {
    private enum Source {
        case model(NSManagedObjectModel)
        case file(URL)
        case hashes([String: Data], Bundle?)
        case name(String, Bundle?)
    }

    private let source: Source
    private var resolved: NSManagedObjectModel?
    private let lock = NSLock()
    private let storedVersionChecksum: String

    /// The checksum that the model has to have.
    open var versionChecksum: String { storedVersionChecksum }

    /// A reference to a model that is loaded already.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        source = .model(model)
        storedVersionChecksum = versionChecksum
    }

    /// Creates a placeholder: a reference to a model without entities.
    public convenience override init() {
        let model = NSManagedObjectModel()
        self.init(model: model, versionChecksum: model.versionChecksum)
    }

    /// Creates a reference to a model in a file of any form; of several versions, the one with the checksum is used.
    public init(fileURL: URL, versionChecksum: String) {
        source = .file(fileURL)
        storedVersionChecksum = versionChecksum
    }

    /// Creates a reference to the model in a bundle, the main one for `nil`, whose entities have these version hashes.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (key, value) in versionHash {
            if let name = key.base as? String, let hash = value as? Data { hashes[name] = hash }
        }
        source = .hashes(hashes, bundle)
        storedVersionChecksum = versionChecksum
    }

    /// A reference to a model in a bundle, the main one for `nil`, by the name of its file or version.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        source = .name(modelName, bundle)
        storedVersionChecksum = versionChecksum
    }

    /// The model. The program stops if it cannot be found; ``resolve()`` throws instead.
    open var resolvedModel: NSManagedObjectModel {
        do {
            return try resolve()
        } catch {
            fatalError(error.localizedDescription)
        }
    }

    /// Finds the model, once.
    ///
    /// - Throws: a `CocoaError` with code 134504 if there is none or if it has another checksum, or the problem with
    ///   its file.
    open func resolve() throws -> NSManagedObjectModel {
        try lock.withLock {
            if let resolved { return resolved }
            let model = try find()
            resolved = model
            return model
        }
    }

    private func find() throws -> NSManagedObjectModel {
        let found: NSManagedObjectModel?
        let what: String
        switch source {
        case .model(let model):
            what = "a model"
            found = model.versionChecksum == versionChecksum ? model : nil
        case .file(let url):
            what = "a version of '\(url.relativePath)'"
            guard FileManager.default.fileExists(atPath: url.path) else {
                throw CoreDataErrors.modelNotFound("Cannot find \(what): there is no such file.")
            }
            found = try version(in: [url]) { _, _ in true }
        case .hashes(let hashes, let bundle):
            what = "a model with the entity version hashes given"
            found = NSManagedObjectModel.mergedModel(
                from: bundle.map { [$0] }, forStoreMetadata: ["NSStoreModelVersionHashes": hashes])
        case .name(let name, let bundle):
            what = "a model or version named '\(name)'"
            found = try version(in: ModelFiles.models(in: bundle.map { [$0] })) { file, version in
                version == name || file.deletingPathExtension().lastPathComponent == name
            }
        }
        guard let found, found.versionChecksum == versionChecksum else {
            throw CoreDataErrors.modelNotFound("Cannot find \(what) with version checksum '\(versionChecksum)'.")
        }
        return found
    }

    /// Returns the version with the checksum among those of the files that `isMeant` accepts.
    ///
    /// - Throws: the problem of a version, if no other version has the checksum.
    private func version(in files: [URL], where isMeant: (URL, String) -> Bool) throws -> NSManagedObjectModel? {
        var problem: (any Error)?
        for file in files {
            for version in try NSManagedObjectModel.versions(at: file).versions where isMeant(file, version.name) {
                do {
                    let compiled = try NSManagedObjectModel.compile(version.document)
                    if CompiledModel.versionChecksum(entities: compiled.entities) == versionChecksum {
                        return try NSManagedObjectModel(document: version.document)
                    }
                } catch {
                    problem = problem ?? error
                }
            }
        }
        if let problem { throw problem }
        return nil
    }
}
