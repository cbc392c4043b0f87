import CoreDataPrimitives
import Foundation

/// A model compiled to the files that applications load, as Apple's `momc` makes them:
///
///     Library.xcdatamodeld        Library.momd
///       .xccurrentversion           VersionInfo.plist
///       Library.xcdatamodel         Library.mom
///       Library 2.xcdatamodel       Library 2.mom
///
/// A `.xcdatamodel` on its own becomes one `.mom`. Nothing is written before ``write(to:)``.
package struct ModelCompilation: Sendable {
    /// The name that the compiled model has by convention: `Library.momd` or `Library.mom`.
    package let fileName: String
    /// The files of the folder by name; for a `.mom` the one file under ``fileName``.
    package let files: [String: Data]
    /// The versions that were compiled, their classes named as in the compiled model.
    package let versions: ModelVersions
    /// What is suspicious about the model, but does not stop it.
    package let warnings: [Diagnostic]
    /// Why versions are left out. A build must not go on with them; a tool may write what there is.
    package let errors: [Diagnostic]

    private let isFolder: Bool

    /// Compiles a model.
    ///
    /// - Parameter module: the module of the model's classes. It is put before names that ask for it with a leading
    ///   point, and before those whose class is generated (in that module, that is) without one.
    /// - Throws: every error of every version, with file and line, if the current version is among them.
    package init(of url: URL, module: String? = nil) throws(ModelFailure) {
        try self.init(
            of: ModelReader.read(contentsOf: url),
            isFolder: ["xcdatamodeld", "momd"].contains(url.pathExtension), module: module)
    }

    /// Compiles versions that have been read, to a `.momd` or, of a single one, a `.mom`.
    package init(of source: ModelVersions, isFolder: Bool, module: String? = nil) throws(ModelFailure) {
        var versions = source
        versions.versions = []
        self.isFolder = isFolder
        fileName = versions.name + (isFolder ? ".momd" : ".mom")

        var files: [String: Data] = [:]
        var hashes: [String: PropertyListValue] = [:]
        var checksums: [String: PropertyListValue] = [:]
        var warnings = source.diagnostics
        var errors: [Diagnostic] = []
        for original in source.versions {
            var document = original.document
            document.qualifyClassNames(with: module)
            let version = ModelVersions.Version(name: original.name, document: document)
            let found = ModelCompiler.diagnose(document)
            warnings += found.filter { $0.severity == .warning }
            do {
                let compiled = try ModelCompiler.compile(document)
                files[version.name + ".mom"] = try ModelArchive.archive(document)
                versions.versions.append(version)
                hashes[version.name] = .dictionary(
                    Dictionary(
                        compiled.entities.map { ($0.name, .data($0.versionHash)) },
                        uniquingKeysWith: { first, _ in first }))
                checksums[version.name] = .string(CompiledModel.versionChecksum(entities: compiled.entities))
            } catch {
                errors += error.diagnostics
            }
        }
        if versions.current == nil {
            throw ModelFailure(
                diagnostics: errors.isEmpty ? [Self.missing(source.currentName, in: source.name)] : errors)
        }
        if isFolder {
            var info: [String: PropertyListValue] = [
                "NSManagedObjectModel_VersionHashes": .dictionary(hashes),
                "NSManagedObjectModel_VersionChecksums": .dictionary(checksums),
            ]
            // Apple's compiler names the current version only where the source does.
            if source.versions.count > 1 || versions.namesCurrentVersion {
                info["NSManagedObjectModel_CurrentVersionName"] = .string(versions.currentName)
            }
            files["VersionInfo.plist"] = BinaryPropertyListWriter.data(.dictionary(info))
        }
        self.files = files
        self.versions = versions
        self.warnings = warnings
        self.errors = errors
    }

    private static func missing(_ version: String, in model: String) -> Diagnostic {
        Diagnostic(.error, "model '\(model)' has no version '\(version)', which is its current one")
    }

    /// Writes the compiled model, whole or not at all, in the place of what is there.
    ///
    /// What is there and the same is left alone, so that nothing that depends on it is built again.
    ///
    /// - Parameter url: where the `.momd` or `.mom` itself shall be; folders on the way are made.
    /// - Returns: whether anything was written.
    @discardableResult
    package func write(to url: URL) throws -> Bool {
        if isFolder { return try FileTree(files: files).write(to: url) }
        guard let data = files.first?.value, (try? Data(contentsOf: url)) != data else { return false }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url, options: .atomic)
        return true
    }
}

extension ModelDocument {
    /// Names each class as a compiled model does: with the module where the source asks for it (`.Item`), and where
    /// the class is generated, which makes it certain to be in the module.
    package mutating func qualifyClassNames(with module: String?) {
        for index in entities.indices {
            entities[index].className = entities[index].compiledClassName(inModule: module)
        }
    }
}

extension EntityElement {
    /// The name of the class as a model says it that is compiled for that module.
    func compiledClassName(inModule module: String?) -> String? {
        guard let name = className, name != "NSManagedObject" else { return className }
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        guard let module else { return bare }
        if codeGenerationType == "class", let last = bare.split(separator: ".").last { return "\(module).\(last)" }
        let isAsked = name.hasPrefix(".") || (codeGenerationType != nil && !bare.contains("."))
        return isAsked ? "\(module).\(bare)" : bare
    }
}
