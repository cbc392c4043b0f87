import CoreDataModel
import Foundation

/// A file that another program changed while it was open in an editor.
package struct FileConflict: Hashable, Sendable {
    /// The path in the bundle: `Library.xcdatamodel/contents`.
    package var path: String
    /// The editor's content; `nil` if the editor does not have the file.
    package var mine: Data?
    /// The content on disk; `nil` if the file does not exist.
    package var theirs: Data?
}

/// The result of a save.
package enum SaveOutcome: Hashable, Sendable {
    /// The paths that were written or removed.
    case saved([String])
    /// Another program changed files; nothing was written.
    case conflict([FileConflict])
}

extension EditingSession {
    /// Writes the changed files, each in one step. Files that did not change are not touched.
    ///
    /// If another program changed the model since it was read, nothing is written, and the conflicts are returned.
    package mutating func save() throws(ModelFailure) -> SaveOutcome {
        let paths = unsavedFiles
        let conflicts = try conflicts()
        if !conflicts.isEmpty { return .conflict(conflicts) }
        let files = bundle.files
        // The current version is named last: until then, applications use the former one.
        for path in paths.filter({ $0 != ".xccurrentversion" }) + paths.filter({ $0 == ".xccurrentversion" }) {
            if let data = files[path] {
                try EditedFiles.write(data, to: url, path)
            } else {
                try EditedFiles.remove(path, in: url)
            }
            disk[path] = files[path]
        }
        return .saved(paths)
    }

    /// Returns the files that another program changed since they were read or written.
    package func conflicts() throws(ModelFailure) -> [FileConflict] {
        if bundle.versions.allSatisfy({ $0.readOnlyReason != nil }) && disk.isEmpty { return [] }
        let now = try EditedFiles.read(url)
        let files = bundle.files
        return Set(now.keys).union(disk.keys).filter { now[$0] != disk[$0] && now[$0] != files[$0] }.sorted()
            .map { FileConflict(path: $0, mine: files[$0], theirs: now[$0]) }
    }
}

/// Reads and writes the files of a bundle.
enum EditedFiles {
    /// Returns the files on disk; none if the bundle does not exist.
    static func read(_ url: URL) throws(ModelFailure) -> [String: Data] {
        FileManager.default.fileExists(atPath: url.path) ? try ModelBundle.files(at: url) : [:]
    }

    /// Writes a file beside its place and then moves it there, so that readers see the old or the new content.
    static func write(_ data: Data, to bundle: URL, _ path: String) throws(ModelFailure) {
        let file = bundle.appendingPathComponent(path).resolvingSymlinksInPath()
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file, options: .atomic)
        } catch {
            throw ModelBundle.failure(
                "'\(path)' cannot be written", hint: "\(error.localizedDescription) The change is kept in the editor.")
        }
    }

    /// Removes a file, and its folder if that is empty then.
    static func remove(_ path: String, in bundle: URL) throws(ModelFailure) {
        let file = bundle.appendingPathComponent(path)
        do {
            try FileManager.default.removeItem(at: file)
            let folder = file.deletingLastPathComponent()
            let isEmpty = try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty
            if isEmpty, folder.standardizedFileURL != bundle.standardizedFileURL {
                try FileManager.default.removeItem(at: folder)
            }
        } catch {
            throw ModelBundle.failure("'\(path)' cannot be removed", hint: error.localizedDescription)
        }
    }
}
