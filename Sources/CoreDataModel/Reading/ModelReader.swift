import CoreDataPrimitives
import Foundation

/// Reads models from files in any of their formats.
///
/// | File | Content |
/// | --- | --- |
/// | `.xcdatamodeld` | versions in Xcode's format; `.xccurrentversion` names the current one |
/// | `.xcdatamodel` | one version: `contents` (XML) or, before Xcode 4, `elements` (archive) |
/// | `.momd`, `.mom` | the same, compiled by Apple's or our compiler |
package struct ModelReader: Sendable {
    /// Reads a file; tests count the calls.
    package typealias ReadFile = @Sendable (URL) throws -> Data

    private let readFile: ReadFile

    /// Finds every version. The document of a version is read on first use. An error inside a version is in its
    /// document's diagnostics and does not affect other versions.
    ///
    /// Throws if the file does not exist, cannot be read or is not a model.
    package static func read(
        contentsOf url: URL, with readFile: @escaping ReadFile = { try Data(contentsOf: $0) }
    ) throws(ModelFailure) -> ModelVersions {
        try ModelReader(readFile: readFile).read(url)
    }

    /// Reads the text of a `.xcdatamodel`'s `contents`.
    package static func document(fromContents data: Data, file: String?) -> ModelDocument {
        ContentsReader.document(from: data, file: file)
    }

    private func read(_ url: URL) throws(ModelFailure) -> ModelVersions {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isDirectory) else {
            throw Self.failure("there is no file at '\(url.relativePath)'")
        }
        switch url.pathExtension {
        case "xcdatamodeld": return try sourceVersions(url)
        case "xcdatamodel": return Self.single(url, try source(url))
        case "momd": return try compiledVersions(url)
        case "mom": return Self.single(url, try compiled(url))
        case "omo":
            // The file is an optimised copy, in a private format of Apple's, of the compiled model beside it.
            let model = url.deletingPathExtension().appendingPathExtension("mom")
            guard FileManager.default.fileExists(atPath: model.path) else {
                throw Self.failure(
                    "'\(url.relativePath)' cannot be read: only Apple's Core Data knows its format",
                    hint: "its model is in '\(model.lastPathComponent)', which is not beside it")
            }
            return Self.single(model, try compiled(model))
        default:
            if url.lastPathComponent == "contents" {
                let folder = url.deletingLastPathComponent()
                return Self.single(folder, try source(folder))
            }
            throw Self.failure(
                "'\(url.relativePath)' is not a model",
                hint: "a model is a .xcdatamodeld, .xcdatamodel, .momd or .mom")
        }
    }

    private static func single(_ url: URL, _ document: ModelDocument) -> ModelVersions {
        let name = versionName(url)
        return ModelVersions(name: name, versions: [.init(name: name, document: document)], currentName: name)
    }

    private static func versionName(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    /// Returns versions whose documents `read` reads on first use.
    private static func versions(
        at files: [URL], read: @escaping @Sendable (URL) throws(ModelFailure) -> ModelDocument
    ) -> [ModelVersions.Version] {
        files.map { file in
            ModelVersions.Version(name: versionName(file)) {
                do throws(ModelFailure) {
                    return try read(file)
                } catch {
                    var document = ModelDocument()
                    document.name = versionName(file)
                    document.diagnostics = error.diagnostics
                    return document
                }
            }
        }
    }

    // MARK: Source

    private func sourceVersions(_ url: URL) throws(ModelFailure) -> ModelVersions {
        let folders = try Self.contents(of: url, extension: "xcdatamodel")
        if folders.isEmpty { throw Self.failure("'\(url.relativePath)' has no versions: no .xcdatamodel is in it") }
        let name = Self.versionName(url)
        let names = folders.map(Self.versionName)
        let versions = Self.versions(at: folders) { folder throws(ModelFailure) in try source(folder) }
        var result = ModelVersions(
            name: name, versions: versions,
            currentName: ModelVersions.fallback(among: names) ?? name)
        let marker = url.appendingPathComponent(".xccurrentversion")
        guard let data = try? readFile(marker) else { return result }
        let problem: String
        switch Self.mark(data) {
        case .success(let current?) where names.contains(current):
            result.currentName = current
            result.namesCurrentVersion = true
            return result
        case .success(let current?): problem = "names '\(current)' as current, which is not there"
        case .success(nil):
            // Xcode writes no `.xccurrentversion` in this case; with one version, none is needed.
            if names.count == 1 { return result }
            problem = "names no current version"
        case .failure: problem = "is not a property list"
        }
        result.diagnostics.append(
            Diagnostic(
                .warning, "'\(marker.relativePath)' \(problem); '\(result.currentName)' is taken",
                hint: "choose the current version in Xcode, or name one of: \(names.joined(separator: ", "))",
                rule: LintRule.noCurrentVersion.rawValue))
        return result
    }

    /// Returns the version name in `.xccurrentversion`; `nil` if it contains none.
    private static func mark(_ data: Data) -> Result<String?, ModelFailure> {
        do {
            guard let name = try PropertyListValue(propertyList: data)["_XCCurrentVersionName"]?.string, !name.isEmpty
            else { return .success(nil) }
            return .success(
                name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name)
        } catch {
            return .failure(error)
        }
    }

    private func source(_ folder: URL) throws(ModelFailure) -> ModelDocument {
        let contents = folder.appendingPathComponent("contents")
        let elements = folder.appendingPathComponent("elements")
        var document: ModelDocument
        if let data = try? readFile(contents) {
            document = ContentsReader.document(from: data, file: contents.relativePath)
        } else if let data = try? readFile(elements) {
            document = ElementsReader.document(from: data, file: elements.relativePath)
        } else {
            throw Self.failure("'\(folder.relativePath)' has no file named contents or elements")
        }
        document.name = Self.versionName(folder)
        return document
    }

    // MARK: Compiled

    private func compiledVersions(_ url: URL) throws(ModelFailure) -> ModelVersions {
        let files = try Self.contents(of: url, extension: "mom")
        if files.isEmpty { throw Self.failure("'\(url.relativePath)' has no versions: no .mom is in it") }
        let name = Self.versionName(url)
        let names = files.map(Self.versionName)
        let info = url.appendingPathComponent("VersionInfo.plist")
        let data = try? readFile(info)
        let list = data.flatMap { try? PropertyListValue(propertyList: $0) }
        let hashes = list?["NSManagedObjectModel_VersionHashes"]
        let versions = Self.versions(at: files) { file throws(ModelFailure) in
            var document = try compiled(file)
            if let known = hashes?[Self.versionName(file)] { document.setKnownVersionHashes { known[$0]?.data } }
            return document
        }
        var result = ModelVersions(
            name: name, versions: versions,
            currentName: ModelVersions.fallback(among: names) ?? name)
        if let current = list?["NSManagedObjectModel_CurrentVersionName"]?.string {
            // If the current version is missing, another version in its place would open stores of the wrong version.
            result.currentName = current
            result.namesCurrentVersion = true
            if !names.contains(current) {
                result.diagnostics.append(
                    Diagnostic(
                        .warning, "'\(info.relativePath)' names '\(current)' as current, which is not there",
                        rule: LintRule.noCurrentVersion.rawValue))
            }
        } else if data != nil, list == nil {
            result.diagnostics.append(
                Diagnostic(
                    .warning, "'\(info.relativePath)' is not a property list; '\(result.currentName)' is taken",
                    rule: LintRule.noCurrentVersion.rawValue))
        }
        return result
    }

    private func compiled(_ file: URL) throws(ModelFailure) -> ModelDocument {
        guard let data = try? readFile(file) else { throw Self.failure("'\(file.relativePath)' cannot be read") }
        var document = ModelDocument()
        do {
            document = try ModelArchive.document(fromArchive: data)
        } catch {
            document.diagnostics = error.diagnostics
        }
        for index in document.diagnostics.indices {
            document.diagnostics[index].location = SourceLocation(file: file.relativePath, line: 1, column: 1)
        }
        document.name = Self.versionName(file)
        return document
    }

    // MARK: Files

    /// Returns the files in a folder with the extension, sorted by name with numbers by value.
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
    /// Stores Apple's version hashes of the entities, from a store's metadata or a compiled model's
    /// `VersionInfo.plist`.
    package mutating func setKnownVersionHashes(_ hash: (String) -> Data?) {
        for index in entities.indices { entities[index].knownVersionHash = hash(entities[index].name) }
    }
}
