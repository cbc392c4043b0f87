import CoreDataModel
import CoreDataPrimitives
import Foundation

extension ModelBundle {
    /// Reads a bundle. Versions that cannot be edited are read for display, with the reason.
    ///
    /// - Parameter url: an `.xcdatamodeld` or `.xcdatamodel`; a compiled model (`.momd`, `.mom`) is read for display.
    package init(contentsOf url: URL) throws(ModelFailure) {
        let name = url.deletingPathExtension().lastPathComponent
        switch url.pathExtension {
        case "xcdatamodeld", "xcdatamodel":
            try self.init(
                files: try Self.files(at: url), name: name, isSingle: url.pathExtension == "xcdatamodel")
            guard let old = versions.first(where: { $0.files["contents"] == nil && $0.files["elements"] != nil }) else {
                return
            }
            let read = try ModelReader.read(contentsOf: url)
            for index in versions.indices where versions[index].files["contents"] == nil {
                versions[index].document = read[versions[index].name] ?? old.document
                versions[index].markup = Self.shownMarkup(of: versions[index].document)
            }
        default:
            let versions = try ModelReader.read(contentsOf: url)
            self.init(versions, reason: "it is a compiled model: decompile it to edit its source")
        }
    }

    /// Makes a bundle of models that have no source.
    package init(_ versions: ModelVersions, reason: String) {
        name = versions.name
        self.versions = versions.versions.map {
            Version(
                name: $0.name, markup: Self.shownMarkup(of: $0.document), files: [:], readOnlyReason: reason,
                document: $0.document)
        }
        currentName = versions.currentName
        isSingle = versions.versions.count == 1
    }

    /// Returns the text that a source of the document would have, for display.
    private static func shownMarkup(of document: ModelDocument) -> EditableMarkup? {
        let source = document.origin == .written ? document : document.decompiled()
        guard let text = try? ContentsWriter.text(of: source) else { return nil }
        return try? EditableMarkup(Data(text.utf8), file: nil)
    }

    /// Makes a bundle of the content of its files.
    ///
    /// - Parameter files: the content by path relative to the bundle.
    package init(files: [String: Data], name: String, isSingle: Bool) throws(ModelFailure) {
        self.name = name
        self.isSingle = isSingle
        var folders: [String: [String: Data]] = [:]
        for (path, data) in files {
            let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
            if isSingle {
                folders[name, default: [:]][path] = data
            } else if parts.count == 2, parts[0].hasSuffix(".xcdatamodel") {
                folders[String(parts[0].dropLast(".xcdatamodel".count)), default: [:]][parts[1]] = data
            }
        }
        if folders.isEmpty {
            throw Self.failure("'\(name)' has no versions", hint: "a model has a folder that ends in .xcdatamodel")
        }
        versions = []
        currentName = name
        marker = isSingle ? nil : files[".xccurrentversion"]
        for (folder, files) in folders { versions.append(version(folder, files)) }
        versions.sort { $0.name.compare($1.name, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        currentName = markedName ?? versions[0].name
    }

    /// The version that `.xccurrentversion` names, if it exists.
    private var markedName: String? {
        guard let marker, let name = try? PropertyListValue(propertyList: marker)["_XCCurrentVersionName"]?.string
        else { return nil }
        let stem = name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
        return versions.contains { $0.name == stem } ? stem : nil
    }

    private func version(_ name: String, _ files: [String: Data]) -> Version {
        let path = file(of: name)
        var document = ModelDocument()
        document.name = name
        guard let contents = files["contents"] else {
            let reason =
                files["elements"] == nil
                ? "its folder has no file named contents" : "it is in the format of Xcode 3, which is only read"
            return Version(name: name, markup: nil, files: files, readOnlyReason: reason, document: document)
        }
        document = ModelReader.document(fromContents: contents, file: path)
        document.name = name
        do {
            let markup = try EditableMarkup(contents, file: path)
            let isModel = markup.root.name == "model"
            return Version(
                name: name, markup: isModel ? markup : nil, files: files,
                readOnlyReason: isModel ? nil : "the root element of its file is not <model>", document: document)
        } catch {
            return Version(
                name: name, markup: nil, files: files, readOnlyReason: error.description, document: document)
        }
    }

    // MARK: Disk

    /// The files of a bundle on disk that are part of the model.
    static func files(at url: URL) throws(ModelFailure) -> [String: Data] {
        let manager = FileManager.default
        guard let paths = manager.subpaths(atPath: url.path) else {
            throw failure("'\(url.lastPathComponent)' cannot be read", hint: "check that it exists and is a folder")
        }
        var files: [String: Data] = [:]
        for path in paths where isPart(path, of: url) {
            var isFolder: ObjCBool = false
            let file = url.appendingPathComponent(path)
            guard manager.fileExists(atPath: file.path, isDirectory: &isFolder), !isFolder.boolValue else { continue }
            do {
                files[path] = try Data(contentsOf: file)
            } catch {
                throw failure("'\(path)' cannot be read", hint: error.localizedDescription)
            }
        }
        return files
    }

    private static func isPart(_ path: String, of url: URL) -> Bool {
        let names = ["contents", "elements", "layout"]
        if url.pathExtension == "xcdatamodel" { return names.contains(path) }
        let parts = path.split(separator: "/")
        return path == ".xccurrentversion"
            || parts.count == 2 && parts[0].hasSuffix(".xcdatamodel") && !parts[0].hasPrefix(".")
                && names.contains(String(parts[1]))
    }
}
