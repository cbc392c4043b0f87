import CoreData
import CoreDataToolkit
import Foundation

/// Checks the file of a store before the store is opened.
package enum StoreFile {
    /// Returns the URL of a store that a command names: a file, or `postgresql://…`.
    package static func url(_ path: String) -> URL {
        if isOnServer(path), let url = URL(string: path) { return url }
        return URL(fileURLWithPath: path)
    }

    package static func isOnServer(_ path: String) -> Bool { path.prefixMatch(of: #/postgres(ql)?:\/\//#) != nil }

    /// Returns the store's path for messages, without a password.
    package static func shown(_ path: String) -> String {
        guard isOnServer(path) else { return path }
        return URL(string: path) != nil && StoreTools.isOnServer(url(path))
            ? StoreTools.shown(url(path)).absoluteString : masked(path)
    }

    /// Returns an invalid URL, or one of an unknown kind, without its password.
    private static func masked(_ path: String) -> String {
        path.replacing(#/:[^:@\/]*@/#, with: "@").replacing(#/(ssl)?password=[^&]*/#, with: "password=…")
    }

    package static func shown(_ url: URL) -> String { url.isFileURL ? url.path : StoreTools.shown(url).absoluteString }

    /// - Throws: ``ToolkitError`` for a server, if this tool was built without server support.
    package static func checkReaches(_ path: String) throws {
        guard isOnServer(path) else { return }
        guard URL(string: path) != nil else {
            throw ToolkitError(
                "\(masked(path)) is no URL: what is not a letter or a digit may have to be written as %20.")
        }
        guard StoreTools.isOnServer(url(path)) else {
            throw ToolkitError(
                "This coredata was built without PostgreSQL. One that has it: swift build --traits PostgreSQL --product coredata"
            )
        }
    }

    /// - Throws: ``ToolkitError`` for a path that cannot have a store.
    package static func checkExists(_ path: String) throws {
        guard !path.isEmpty else { throw ToolkitError("The path of the store is empty.") }
        if isOnServer(path) { return try checkReaches(path) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            if let folder = forbiddenFolder(above: path) {
                throw ToolkitError("No permission to look into \(folder), so that \(path) cannot be read.")
            }
            throw ToolkitError(
                "There is no store at \(path). Make one with: coredata store create \(path) --model MODEL")
        }
        if isFolder.boolValue { throw ToolkitError("\(path) is a folder, not a store.") }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ToolkitError("No permission to read \(path).")
        }
    }

    /// - Throws: ``ToolkitError`` if files at the path prevent a new store.
    package static func checkIsFree(_ path: String) throws {
        guard !path.isEmpty else { throw ToolkitError("The path of the new store is empty.") }
        try checkReaches(path)
        guard try StoreTools.isTaken(url(path)) else { return }
        throw ToolkitError(
            "There is \(isOnServer(path) ? "something" : "a file") at \(shown(path)) already; a store is made only where there is none."
        )
    }

    /// Returns the store type for the extension of a new file; SQLite by default.
    package static func type(named path: String) -> NSPersistentStore.StoreType {
        guard !isOnServer(path) else { return .sqlite }
        return switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "xml": .xml
        case "binary", "bin": .binary
        default: .sqlite
        }
    }

    /// Returns the type of a single-file store that is not a database; `nil` for others.
    package static func typeOfOneFile(_ path: String) -> String? {
        let type = StoreTools.type(ofStoreAt: url(path))
        return [NSXMLStoreType, NSBinaryStoreType].contains(type) ? type : nil
    }

    /// Returns whether there is a database at the path.
    package static func isDatabase(_ path: String) -> Bool {
        isOnServer(path) || StoreTools.isDatabase(path)
    }

    /// Returns the version hashes of the store's model, by entity; `nil` if the store contains none.
    package static func versionHashes(_ path: String) throws -> [String: Data]? {
        let url = url(path)
        do {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: StoreTools.type(ofStoreAt: url), at: url, options: readingOptions)
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Any]
            return hashes?.compactMapValues { $0 as? Data }
        } catch let error as CocoaError where error.code == .fileReadCorruptFile {
            // The next operation on the store reports its error.
            return nil
        }
    }

    /// The options for opening a store only to read it.
    package static var readingOptions: [AnyHashable: Any] {
        [
            NSReadOnlyPersistentStoreOption: NSNumber(value: true),
            StoreTools.leavesNothingOption: NSNumber(value: true),
        ]
    }

    private static func forbiddenFolder(above path: String) -> String? {
        var url = URL(fileURLWithPath: path).deletingLastPathComponent()
        while url.path != "/" {
            if FileManager.default.fileExists(atPath: url.path) {
                return FileManager.default.isExecutableFile(atPath: url.path) ? nil : url.path
            }
            url.deleteLastPathComponent()
        }
        return nil
    }
}
