import CoreDataPrimitives
import Foundation

/// A model compiled to the files that applications load, in the format of Apple's `momc`:
///
///     Library.xcdatamodeld        Library.momd
///       .xccurrentversion           VersionInfo.plist
///       Library.xcdatamodel         Library.mom
///       Library 2.xcdatamodel       Library 2.mom
///
/// A single `.xcdatamodel` becomes one `.mom`. Only ``write(to:)`` writes files.
package struct ModelCompilation: Sendable {
    /// The conventional name of the compiled model: `Library.momd` or `Library.mom`.
    package let fileName: String
    /// The files of the folder by name; for a `.mom`, the one file under ``fileName``.
    package let files: [String: Data]
    /// The versions that were compiled, with class names as in the compiled model.
    package let versions: ModelVersions
    /// Warnings about the model.
    package let warnings: [Diagnostic]
    /// The errors of versions that were omitted. A build must stop; a tool may write the other versions.
    package let errors: [Diagnostic]

    private let isFolder: Bool

    /// Compiles a model.
    ///
    /// - Parameter module: the module of the model's classes. It is added to class names with a leading dot, and to
    ///   generated classes (which are in that module) whose names have no module.
    /// - Throws: every error of every version, with file and line, if the current version has errors.
    package init(of url: URL, module: String? = nil) throws(ModelFailure) {
        try self.init(
            of: ModelReader.read(contentsOf: url),
            isFolder: ["xcdatamodeld", "momd"].contains(url.pathExtension), module: module)
    }

    /// Compiles versions that were read: to a `.momd`, or for a single version to a `.mom`.
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
            // Apple's compiler names the current version only if the source does.
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

    /// Writes the compiled model completely or not at all, and replaces an existing one.
    ///
    /// Identical files are not changed, so that a build does not rebuild their dependents.
    ///
    /// - Parameter url: the location of the `.momd` or `.mom` itself; missing parent folders are made.
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
    /// Qualifies class names as in a compiled model: with the module if the source asks for it (`.Item`), and for
    /// generated classes, which are in the module.
    package mutating func qualifyClassNames(with module: String?) {
        for index in entities.indices {
            entities[index].className = entities[index].compiledClassName(inModule: module)
        }
    }
}

extension EntityElement {
    /// Returns the name of the class in a model that is compiled for the module.
    func compiledClassName(inModule module: String?) -> String? {
        guard let name = className, name != "NSManagedObject" else { return className }
        let bare = name.hasPrefix(".") ? String(name.dropFirst()) : name
        guard let module else { return bare }
        if codeGenerationType == "class", let last = bare.split(separator: ".").last { return "\(module).\(last)" }
        let isAsked = name.hasPrefix(".") || (codeGenerationType != nil && !bare.contains("."))
        return isAsked ? "\(module).\(bare)" : bare
    }
}
