import CoreDataPrimitives
import Foundation

/// The versions of a model, as a `.xcdatamodeld` or `.momd` holds them; one for a file without versions.
package struct ModelVersions: Sendable {
    package struct Version: Sendable {
        /// The version's file name without extension, which the document's name repeats.
        package var name: String
        package var document: ModelDocument

        package init(name: String, document: ModelDocument) {
            self.name = name
            self.document = document
        }
    }

    /// The model's file name without extension.
    package var name: String
    /// By name, numbers in it as numbers: `Model`, `Model 2`, `Model 10`.
    package var versions: [Version]
    /// The name of the version that applications use.
    package var currentName: String
    /// Whether the file itself says so, even of a single version: a compiled model repeats it.
    package var namesCurrentVersion = false

    package init(name: String, versions: [Version], currentName: String) {
        self.name = name
        self.versions = versions
        self.currentName = currentName
    }

    package var current: ModelDocument? { self[currentName] }

    package subscript(name: String) -> ModelDocument? { versions.first { $0.name == name }?.document }
}

/// Reads models from files, whatever their form.
///
/// | File | What it is |
/// | --- | --- |
/// | `.xcdatamodeld` | versions as Xcode keeps them, `.xccurrentversion` names the current one |
/// | `.xcdatamodel` | one version: `contents` (XML) or, before Xcode 4, `elements` (archive) |
/// | `.momd`, `.mom` | the same compiled by Apple's or our compiler |
package enum ModelReader {
    /// Reads every version. What is wrong inside a version is in its document's diagnostics.
    ///
    /// Throws if the file is not there, cannot be read or is no model at all.
    package static func read(contentsOf url: URL) throws(ModelFailure) -> ModelVersions {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw failure("there is no file at '\(url.relativePath)'")
        }
        switch url.pathExtension {
        case "xcdatamodeld": return try readSourceVersions(url)
        case "xcdatamodel": return single(try readSource(url))
        case "momd": return try readCompiledVersions(url)
        case "mom": return single(try readCompiled(url))
        case "omo":
            // An optimised copy of the compiled model beside it, in a form of Apple's own (store-format §12.3).
            let model = url.deletingPathExtension().appendingPathExtension("mom")
            guard FileManager.default.fileExists(atPath: model.path) else {
                throw failure(
                    "'\(url.relativePath)' cannot be read: only Apple's Core Data knows its format",
                    hint: "its model is in '\(model.lastPathComponent)', which is not beside it")
            }
            return single(try readCompiled(model))
        default:
            if url.lastPathComponent == "contents" { return single(try readSource(url.deletingLastPathComponent())) }
            throw failure(
                "'\(url.relativePath)' is not a model",
                hint: "a model is a .xcdatamodeld, .xcdatamodel, .momd or .mom")
        }
    }

    /// Reads the text of a `.xcdatamodel`'s `contents`.
    package static func document(fromContents data: Data, file: String?) -> ModelDocument {
        ContentsReader.document(from: data, file: file)
    }

    private static func single(_ version: ModelVersions.Version) -> ModelVersions {
        ModelVersions(name: version.name, versions: [version], currentName: version.name)
    }

    // MARK: Source

    private static func readSourceVersions(_ url: URL) throws(ModelFailure) -> ModelVersions {
        let folders = try contents(of: url, extension: "xcdatamodel")
        if folders.isEmpty { throw failure("'\(url.relativePath)' has no versions: no .xcdatamodel is in it") }
        var versions: [ModelVersions.Version] = []
        for folder in folders { versions.append(try readSource(folder)) }
        let name = url.deletingPathExtension().lastPathComponent
        var result = ModelVersions(name: name, versions: versions, currentName: versions[0].name)
        let marker = url.appendingPathComponent(".xccurrentversion")
        if let data = try? Data(contentsOf: marker) {
            guard let current = currentVersionName(data) else {
                throw failure("'\(marker.relativePath)' names no current version")
            }
            guard result[current] != nil else {
                throw failure("'\(marker.relativePath)' names '\(current)' as current, which is not there")
            }
            result.currentName = current
            result.namesCurrentVersion = true
        } else if versions.count > 1, result[name] != nil {
            result.currentName = name
        }
        return result
    }

    private static func currentVersionName(_ data: Data) -> String? {
        guard let name = try? PropertyListValue(propertyList: data)["_XCCurrentVersionName"]?.string else { return nil }
        return name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
    }

    private static func readSource(_ folder: URL) throws(ModelFailure) -> ModelVersions.Version {
        let name = folder.deletingPathExtension().lastPathComponent
        let contents = folder.appendingPathComponent("contents")
        let elements = folder.appendingPathComponent("elements")
        var document: ModelDocument
        if let data = try? Data(contentsOf: contents) {
            document = ContentsReader.document(from: data, file: contents.relativePath)
        } else if let data = try? Data(contentsOf: elements) {
            document = ElementsReader.document(from: data, file: elements.relativePath)
        } else {
            throw failure("'\(folder.relativePath)' has no file named contents or elements")
        }
        document.name = name
        return ModelVersions.Version(name: name, document: document)
    }

    // MARK: Compiled

    private static func readCompiledVersions(_ url: URL) throws(ModelFailure) -> ModelVersions {
        let files = try contents(of: url, extension: "mom")
        if files.isEmpty { throw failure("'\(url.relativePath)' has no versions: no .mom is in it") }
        var versions: [ModelVersions.Version] = []
        for file in files { versions.append(try readCompiled(file)) }
        let name = url.deletingPathExtension().lastPathComponent
        var result = ModelVersions(name: name, versions: versions, currentName: versions[0].name)
        if result[name] != nil { result.currentName = name }

        let info = url.appendingPathComponent("VersionInfo.plist")
        guard let data = try? Data(contentsOf: info) else { return result }
        guard let list = try? PropertyListValue(propertyList: data) else {
            throw failure("'\(info.relativePath)' is not a property list")
        }
        if let current = list["NSManagedObjectModel_CurrentVersionName"]?.string {
            guard result[current] != nil else {
                throw failure("'\(info.relativePath)' names '\(current)' as current, which is not there")
            }
            result.currentName = current
            result.namesCurrentVersion = true
        }
        for index in result.versions.indices {
            guard let hashes = list["NSManagedObjectModel_VersionHashes"]?[result.versions[index].name] else {
                continue
            }
            result.versions[index].document.setKnownVersionHashes { hashes[$0]?.data }
        }
        return result
    }

    private static func readCompiled(_ file: URL) throws(ModelFailure) -> ModelVersions.Version {
        let name = file.deletingPathExtension().lastPathComponent
        guard let data = try? Data(contentsOf: file) else { throw failure("'\(file.relativePath)' cannot be read") }
        var document = ModelDocument()
        do {
            document = try ModelArchive.document(fromArchive: data)
        } catch {
            document.diagnostics = error.diagnostics
        }
        for index in document.diagnostics.indices {
            document.diagnostics[index].location = SourceLocation(file: file.relativePath, line: 1, column: 1)
        }
        document.name = name
        return ModelVersions.Version(name: name, document: document)
    }

    // MARK: Files

    /// The files in a folder that have the extension, numbers in their names sorted as numbers.
    private static func contents(of folder: URL, extension: String) throws(ModelFailure) -> [URL] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw failure("'\(folder.relativePath)' cannot be read: \(error.localizedDescription)")
        }
        let matching = names.filter { ($0 as NSString).pathExtension == `extension` }
            .map { ($0 as NSString).deletingPathExtension }
            .sorted { $0.compare($1, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        return matching.map { folder.appendingPathComponent($0 + "." + `extension`) }
    }

    private static func failure(_ message: String, hint: String? = nil) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, message, hint: hint)])
    }
}

extension ModelDocument {
    /// Tells the entities the hashes that Apple computed for them, which a store's metadata or a compiled model's
    /// `VersionInfo.plist` has.
    package mutating func setKnownVersionHashes(_ hash: (String) -> Data?) {
        for index in entities.indices { entities[index].knownVersionHash = hash(entities[index].name) }
    }
}
