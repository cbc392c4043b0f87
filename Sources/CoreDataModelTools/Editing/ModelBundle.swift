import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The files of a model source as an editor holds them: an `.xcdatamodeld` with all versions, or an `.xcdatamodel`.
///
/// A bundle is a value. ``EditingSession`` keeps the former ones for undo.
package struct ModelBundle: Sendable {
    package struct Version: Sendable {
        package var name: String
        /// The text of `contents`; of a version that cannot be edited, the text that its content would have.
        var markup: EditableMarkup?
        /// The files of the version's folder, as read.
        var files: [String: Data]
        /// The reason why the version cannot be edited; `nil` if it can.
        package var readOnlyReason: String?
        /// The content of the version, with the errors of its file.
        package internal(set) var document: ModelDocument
    }

    /// The model's file name without extension.
    package var name: String
    package internal(set) var versions: [Version]
    /// The name of the version that applications use.
    package internal(set) var currentName: String
    /// Whether the bundle is one version without a folder around it.
    package let isSingle: Bool
    /// The content of `.xccurrentversion`; `nil` if there is none.
    var marker: Data?

    package var isEditable: Bool { versions.contains { $0.readOnlyReason == nil } }

    package subscript(name: String) -> Version? { versions.first { $0.name == name } }

    /// Returns the version before another one, in the order of names.
    package func previous(to name: String) -> Version? {
        guard let index = versions.firstIndex(where: { $0.name == name }), index > 0 else { return nil }
        return versions[index - 1]
    }

    /// The bundle for the linter and other tools.
    package var modelVersions: ModelVersions {
        var result = ModelVersions(
            name: name, versions: versions.map { .init(name: $0.name, document: $0.document) },
            currentName: currentName)
        result.namesCurrentVersion = marker != nil
        return result
    }

    /// The content of every file, by path relative to the bundle: `Library 2.xcdatamodel/contents`.
    package var files: [String: Data] {
        var files: [String: Data] = [:]
        for version in versions {
            let folder = isSingle ? "" : "\(version.name).xcdatamodel/"
            for (path, data) in version.files { files[folder + path] = data }
            if let markup = version.markup, version.readOnlyReason == nil {
                files[folder + "contents"] = Data(markup.text.utf8)
            }
        }
        if let marker { files[".xccurrentversion"] = marker }
        return files
    }

    /// Makes an empty model with one version of its name, as Xcode does.
    package init(newModelNamed name: String) throws(ModelFailure) {
        try Self.checkVersionName(name)
        var document = ModelDocument()
        document.name = name
        // Xcode writes the version identifier even if it is empty.
        document.versionIdentifiers = [""]
        var versions = ModelVersions(name: name, versions: [.init(name: name, document: document)], currentName: name)
        versions.namesCurrentVersion = true
        let source = try ModelSource(versions: versions)
        try self.init(files: source.files.files, name: name, isSingle: false)
    }

    // MARK: Commands

    mutating func apply(_ edits: [ModelEdit], toVersion name: String) throws(ModelFailure) {
        guard let index = versions.firstIndex(where: { $0.name == name }) else { throw Self.missing(name) }
        guard let markup = versions[index].markup, versions[index].readOnlyReason == nil else {
            throw Self.failure(
                "version '\(name)' cannot be edited", hint: versions[index].readOnlyReason ?? "its file has errors")
        }
        var editor = VersionEditor(markup)
        for edit in edits { try editor.apply(edit) }
        versions[index].markup = editor.markup
        versions[index].document = Self.document(editor.markup.text, file: file(of: name), name: name)
    }

    mutating func addVersion(_ added: String, copyOf source: String) throws(ModelFailure) {
        if isSingle {
            throw Self.failure(
                "'\(name).xcdatamodel' has no versions", hint: "only an .xcdatamodeld can have several")
        }
        try Self.checkVersionName(added)
        guard var version = self[source] else { throw Self.missing(source) }
        // Apple's file systems treat names that differ in case as equal.
        if versions.contains(where: { $0.name.lowercased() == added.lowercased() }) {
            throw Self.failure("there is already a version '\(added)'", hint: "choose another name")
        }
        version.name = added
        version.document = Self.document(of: version, file: file(of: added))
        versions.append(version)
        versions.sort { $0.name.compare($1.name, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        try setCurrent(added)
    }

    mutating func setCurrent(_ name: String) throws(ModelFailure) {
        guard self[name] != nil else { throw Self.missing(name) }
        if isSingle || (currentName == name && marker != nil) { return }
        marker = Self.marker(marker, replacing: currentName, by: name)
        currentName = name
    }

    /// Returns Xcode's name for the next version: `Library 3` after `Library` and `Library 2`.
    package var nextVersionName: String {
        let numbers = versions.map { version -> Int in
            guard version.name.hasPrefix(name + " ") else { return 1 }
            return Int(version.name.dropFirst(name.count + 1)) ?? 1
        }
        return "\(name) \((numbers.max() ?? 1) + 1)"
    }

    // MARK: Undo

    /// Returns the bundle without the documents of editable versions, which are read from their text again: steps of
    /// undo then share nearly all of their memory.
    func withoutDocuments() -> ModelBundle {
        var bundle = self
        for index in versions.indices where versions[index].readOnlyReason == nil {
            bundle.versions[index].document = ModelDocument()
        }
        return bundle
    }

    func withDocuments() -> ModelBundle {
        var bundle = self
        for index in versions.indices where versions[index].readOnlyReason == nil {
            bundle.versions[index].document = Self.document(
                of: versions[index], file: file(of: versions[index].name))
        }
        return bundle
    }

    // MARK: Support

    private static func checkVersionName(_ name: String) throws(ModelFailure) {
        if name.isEmpty || name.hasPrefix(".") || name.contains(where: { "/:\\".contains($0) || $0.isNewline })
            || name.utf8.contains(where: { $0 < 32 }) || name.utf8.count > 200
        {
            throw failure(
                "'\(name)' cannot be the name of a version",
                hint: "a name is not empty, does not begin with a point, and has neither '/' nor ':'")
        }
    }

    private static func missing(_ name: String) -> ModelFailure {
        failure("there is no version '\(name)'", hint: "it was renamed or removed")
    }

    static func failure(_ message: String, hint: String) -> ModelFailure {
        ModelFailure(diagnostics: [Diagnostic(.error, message, hint: hint)])
    }

    /// The path of a version's file in messages.
    package func file(of version: String) -> String {
        isSingle ? "\(version).xcdatamodel/contents" : "\(name).xcdatamodeld/\(version).xcdatamodel/contents"
    }

    static func document(_ text: String, file: String, name: String) -> ModelDocument {
        var document = ModelReader.document(fromContents: Data(text.utf8), file: file)
        document.name = name
        return document
    }

    private static func document(of version: Version, file: String) -> ModelDocument {
        if let markup = version.markup { return document(markup.text, file: file, name: version.name) }
        var document = version.document
        document.name = version.name
        return document
    }

    /// Returns the content of `.xccurrentversion` for another version; only the name in it changes.
    private static func marker(_ marker: Data?, replacing old: String, by new: String) -> Data {
        let name = { (name: String) in "<string>\(MarkupWriter.escaped(name)).xcdatamodel</string>" }
        if let text = marker.flatMap({ String(validating: $0, as: UTF8.self) }), let range = text.range(of: name(old)) {
            return Data(text.replacingCharacters(in: range, with: name(new)).utf8)
        }
        return Data(ModelSource.currentVersion(new).utf8)
    }
}
