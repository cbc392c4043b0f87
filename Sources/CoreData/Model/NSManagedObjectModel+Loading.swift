import CoreDataModel
import CoreDataPrimitives
import Foundation

extension NSManagedObjectModel {
    /// Reads a model from a `.momd` or `.mom`, or (Apple's initialiser does not) from its source: a `.xcdatamodeld` or
    /// `.xcdatamodel`. Of several versions it reads the current one.
    ///
    /// Returns `nil` and logs the problem if the model cannot be used; ``load(contentsOf:version:)`` throws it.
    public convenience init?(contentsOf url: URL) {
        self.init()
        do {
            try adopt(Self.document(at: url, version: nil))
            fileURL = url
        } catch {
            modelLogger.error(
                "cannot load the model at \(url.isFileURL ? url.path : url.absoluteString): \(error.localizedDescription)"
            )
            return nil
        }
    }

    /// Reads a model, or one version of it by name. Of a folder with many versions only that one is read, so a damaged
    /// version does not affect the others.
    ///
    ///     let old = try NSManagedObjectModel.load(contentsOf: url, version: "Library 2")
    ///
    /// - Throws: a `CocoaError` whose description lists every problem with file, line and what to do about it.
    public static func load(contentsOf url: URL, version: String? = nil) throws -> NSManagedObjectModel {
        let model = try NSManagedObjectModel(document: document(at: url, version: version))
        model.fileURL = url
        return model
    }

    /// Returns the names of a model's versions in ascending order: `Library`, `Library 2`, `Library 10`. Reads none of
    /// them.
    public static func versionNames(at url: URL) throws -> [String] { try versions(at: url).versions.map(\.name) }

    /// Returns the version checksum of each version of a model, by the version's name. Reads all of them, and throws if
    /// one is damaged.
    public static func versionChecksums(at url: URL) throws -> [String: String] {
        var checksums: [String: String] = [:]
        for version in try versions(at: url).versions {
            checksums[version.name] = CompiledModel.versionChecksum(entities: try compile(version.document).entities)
        }
        return checksums
    }

    /// Apple's name for ``versionChecksums(at:)``.
    public class func __checksumsForVersionedModel(at url: URL) throws -> [String: String] {
        try versionChecksums(at: url)
    }

    static func versions(at url: URL) throws -> ModelVersions {
        try CoreDataErrors.checkIsFile(url)
        do {
            return try ModelReader.read(contentsOf: url)
        } catch {
            throw CoreDataErrors.modelInvalid(error.diagnostics)
        }
    }

    static func compile(_ document: ModelDocument) throws -> CompiledModel {
        do {
            return try ModelCompiler.compile(document)
        } catch {
            throw CoreDataErrors.modelInvalid(error.diagnostics)
        }
    }

    private static func document(at url: URL, version: String?) throws -> ModelDocument {
        let versions = try versions(at: url)
        for warning in versions.diagnostics { modelLogger.warning("\(warning.rendered)") }
        // Classes without a module in their name are looked for in the module that the model is a resource of.
        if let module = ModelFiles.module(ofModelAt: url) { ManagedObjectClasses.shared.note(module: module) }
        if let document = versions[version ?? versions.currentName] { return document }
        let names = versions.versions.map { "'\($0.name)'" }.joined(separator: ", ")
        throw CoreDataErrors.modelInvalid([
            Diagnostic(
                .error, "'\(url.relativePath)' has no version '\(version ?? versions.currentName)'",
                hint: "its versions are \(names)")
        ])
    }
}

extension NSManagedObjectModel {
    /// Does the same as ``init(contentsOf:)-(URL)`` for a URL as `Bundle.urls(forResourcesWithExtension:subdirectory:)`
    /// returns it here.
    public convenience init?(contentsOf url: NSURL) { self.init(contentsOf: url as URL) }
}
