import CoreDataModel
import Foundation

/// A command of a model editor.
package enum ModelCommand: Hashable, Sendable {
    /// Edits that are one step of undo; if one cannot be applied, none is.
    case edit(version: String, [ModelEdit])
    case addVersion(String, copyOf: String)
    case setCurrentVersion(String)

    /// The command in a menu.
    package var title: String {
        switch self {
        case .edit(_, let edits): edits.first?.title ?? "Edit"
        case .addVersion(let name, _): "Add version '\(name)'"
        case .setCurrentVersion(let name): "Make '\(name)' the current version"
        }
    }
}

/// The state of an editor of one model: the bundle, what can be undone, and the content of the files on disk.
///
///     var session = try EditingSession(url)
///     try session.perform(.edit(version: "Library", [.addEntity("Book")]), revision: session.revision)
///     try session.save()          // writes only changed files
///     session.undo()
///
/// Each change has a revision. A form carries the revision that it shows; a command for a former revision is not
/// applied.
package struct EditingSession: Sendable {
    private struct Step: Sendable {
        var title: String
        var bundle: ModelBundle
    }

    /// The number of steps that can be undone.
    private static let longest = 1000

    package let url: URL
    package private(set) var bundle: ModelBundle
    /// Counts changes, undo and redo included.
    package private(set) var revision = 1
    private var undone: [Step] = []
    private var done: [Step] = []
    /// The content of the files when they were last read or written.
    var disk: [String: Data]

    /// Opens a model.
    package init(_ url: URL) throws(ModelFailure) {
        self.url = url
        bundle = try ModelBundle(contentsOf: url)
        disk = bundle.files
    }

    /// Makes a model that is not written yet.
    package init(newModelAt url: URL) throws(ModelFailure) {
        guard url.pathExtension == "xcdatamodeld" else {
            throw ModelBundle.failure(
                "'\(url.lastPathComponent)' cannot be the name of a new model", hint: "use a name.xcdatamodeld")
        }
        if FileManager.default.fileExists(atPath: url.path) {
            throw ModelBundle.failure(
                "'\(url.lastPathComponent)' exists already", hint: "open it, or choose another name")
        }
        self.url = url
        bundle = try ModelBundle(newModelNamed: url.deletingPathExtension().lastPathComponent)
        disk = [:]
    }

    /// Shows models that have no source to edit.
    package init(showing versions: ModelVersions, at url: URL, reason: String) {
        self.url = url
        bundle = ModelBundle(versions, reason: reason)
        disk = [:]
    }

    // MARK: Commands

    /// Applies a command completely or not at all.
    ///
    /// - Parameter revision: the revision that the command was made for; `nil` applies it to any.
    /// - Returns: whether it was applied; `false` for a command of a former revision.
    @discardableResult
    package mutating func perform(_ command: ModelCommand, revision: Int? = nil) throws(ModelFailure) -> Bool {
        if let revision, revision != self.revision { return false }
        var changed = bundle
        switch command {
        case .edit(let version, let edits): try changed.apply(edits, toVersion: version)
        case .addVersion(let name, let source): try changed.addVersion(name, copyOf: source)
        case .setCurrentVersion(let name): try changed.setCurrent(name)
        }
        if changed.files == bundle.files { return true }
        record(command.title, changed)
        return true
    }

    private mutating func record(_ title: String, _ changed: ModelBundle) {
        done.append(Step(title: title, bundle: bundle.withoutDocuments()))
        if done.count > Self.longest { done.removeFirst() }
        undone = []
        bundle = changed
        revision += 1
    }

    /// The title of the command that ``undo()`` reverts.
    package var undoTitle: String? { done.last?.title }
    package var redoTitle: String? { undone.last?.title }

    /// Undoes the last command, and returns whether there was one.
    @discardableResult
    package mutating func undo() -> Bool {
        guard let step = done.popLast() else { return false }
        undone.append(Step(title: step.title, bundle: bundle.withoutDocuments()))
        bundle = step.bundle.withDocuments()
        revision += 1
        return true
    }

    @discardableResult
    package mutating func redo() -> Bool {
        guard let step = undone.popLast() else { return false }
        done.append(Step(title: step.title, bundle: bundle.withoutDocuments()))
        bundle = step.bundle.withDocuments()
        revision += 1
        return true
    }

    // MARK: Disk

    /// The files whose content differs from that on disk when it was last read.
    package var unsavedFiles: [String] {
        let files = bundle.files
        return Set(files.keys).union(disk.keys).filter { files[$0] != disk[$0] }.sorted()
    }

    /// Takes the files that are on disk now; the former content can be restored by undo.
    package mutating func reload() throws(ModelFailure) {
        let changed = try ModelBundle(contentsOf: url)
        record("Take the files on disk", changed)
        disk = changed.files
    }

    /// Treats the files that are on disk now as known, so that the next save replaces them. Versions that another
    /// program added are kept.
    package mutating func acceptReplacing() throws(ModelFailure) {
        let now = try EditedFiles.read(url)
        let own = bundle.files
        let added = now.filter { own[$0.key] == nil && disk[$0.key] == nil }
        if !added.isEmpty {
            let files = own.merging(added) { own, _ in own }
            record(
                "Keep the editor's files", try ModelBundle(files: files, name: bundle.name, isSingle: bundle.isSingle))
        }
        disk = now
    }
}
