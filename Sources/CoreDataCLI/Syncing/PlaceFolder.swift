import CoreDataSync
import Foundation

/// The folder that a command's `--place` names.
enum PlaceFolder {
    /// Opens a folder as a place, sealed or not.
    ///
    /// - Parameter mustExist: whether the command only reads, so that a folder that does not exist is a mistake.
    static func open(_ path: String, passphraseFile: String?, mustExist: Bool) throws -> any SyncPlace {
        guard !path.isEmpty else { throw ToolFailure("The path of the place is empty.") }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if exists, !isFolder.boolValue { throw ToolFailure("\(path) is a file; a place is a folder.") }
        if !exists, mustExist { throw ToolFailure("There is no folder at \(path).") }
        let url = URL(fileURLWithPath: path)
        let folder = FolderPlace(url)
        let keys = url.appendingPathComponent(SealedPlace.keyFolder).path
        let isSealed = FileManager.default.fileExists(atPath: keys)
        guard let passphraseFile else {
            guard !isSealed else {
                throw ToolFailure(
                    "The place \(path) is sealed: --passphrase-file names the file that has its passphrase.")
            }
            return folder
        }
        if mustExist, !isSealed {
            throw ToolFailure("The place \(path) is not sealed: leave --passphrase-file out.")
        }
        return SealedPlace(folder, passphrase: try passphrase(passphraseFile))
    }

    /// The first line of a file.
    private static func passphrase(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ToolFailure("The passphrase cannot be read: there is no readable file at \(path).")
        }
        guard let text = String(data: data, encoding: .utf8),
            let line = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first
        else { throw ToolFailure("The passphrase cannot be read: \(path) is no text in UTF-8.") }
        let passphrase = line.last == "\r" ? line.dropLast() : line
        guard !passphrase.isEmpty else {
            throw ToolFailure("The first line of \(path) is empty; it is the passphrase.")
        }
        return String(passphrase)
    }
}
