import CoreData
import Foundation

/// The file of a store, before it is opened as one.
enum StoreFile {
    /// Where a store is that a command names: a file, or `postgresql://…`.
    static func url(_ path: String) -> URL {
        if isOnServer(path), let url = URL(string: path) { return url }
        return URL(fileURLWithPath: path)
    }

    static func isOnServer(_ path: String) -> Bool { path.prefixMatch(of: #/postgres(ql)?:\/\//#) != nil }

    /// As a store's place is printed: without a password.
    static func shown(_ path: String) -> String {
        guard isOnServer(path) else { return path }
        return URL(string: path) != nil && StoreTools.isOnServer(url(path))
            ? StoreTools.shown(url(path)).absoluteString : masked(path)
    }

    /// The text of what is no URL, or of a kind that this tool does not know.
    private static func masked(_ path: String) -> String {
        path.replacing(#/:[^:@\/]*@/#, with: "@").replacing(#/(ssl)?password=[^&]*/#, with: "password=…")
    }

    static func shown(_ url: URL) -> String { url.isFileURL ? url.path : StoreTools.shown(url).absoluteString }

    /// - Throws: ``ToolFailure`` where this tool reaches no servers.
    static func checkReaches(_ path: String) throws {
        guard isOnServer(path) else { return }
        guard URL(string: path) != nil else {
            throw ToolFailure(
                "\(masked(path)) is no URL: what is not a letter or a digit may have to be written as %20.")
        }
        guard StoreTools.isOnServer(url(path)) else {
            throw ToolFailure(
                "This coredata was built without PostgreSQL. One that has it: swift build --traits PostgreSQL --product coredata"
            )
        }
    }

    /// - Throws: ``ToolFailure`` for a path where no store can be.
    static func checkExists(_ path: String) throws {
        guard !path.isEmpty else { throw ToolFailure("The path of the store is empty.") }
        if isOnServer(path) { return try checkReaches(path) }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            if let folder = forbiddenFolder(above: path) {
                throw ToolFailure("No permission to look into \(folder), so that \(path) cannot be read.")
            }
            throw ToolFailure(
                "There is no store at \(path). Make one with: coredata store create \(path) --model MODEL")
        }
        if isFolder.boolValue { throw ToolFailure("\(path) is a folder, not a store.") }
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw ToolFailure("No permission to read \(path).")
        }
    }

    /// - Throws: ``ToolFailure`` where something is in the way of a new store.
    static func checkIsFree(_ path: String) throws {
        guard !path.isEmpty else { throw ToolFailure("The path of the new store is empty.") }
        try checkReaches(path)
        guard try StoreTools.isTaken(url(path)) else { return }
        throw ToolFailure(
            "There is \(isOnServer(path) ? "something" : "a file") at \(shown(path)) already; a store is made only where there is none."
        )
    }

    /// The type that the name of a file to be made says, by its ending; SQLite for others.
    static func type(named path: String) -> NSPersistentStore.StoreType {
        guard !isOnServer(path) else { return .sqlite }
        return switch URL(fileURLWithPath: path).pathExtension.lowercased() {
        case "xml": .xml
        case "binary", "bin": .binary
        default: .sqlite
        }
    }

    /// The type of a store that is one file and no database; `nil` for others.
    static func typeOfOneFile(_ path: String) -> String? {
        let type = StoreTools.type(ofStoreAt: url(path))
        return [NSXMLStoreType, NSBinaryStoreType].contains(type) ? type : nil
    }

    /// Whether there is a database at the path.
    static func isDatabase(_ path: String) -> Bool {
        isOnServer(path) || StoreTools.isDatabase(path)
    }

    /// The version hashes of the model that the store was made with, by entity; `nil` where it does not say.
    static func versionHashes(_ path: String) throws -> [String: Data]? {
        let url = url(path)
        do {
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: StoreTools.type(ofStoreAt: url), at: url, options: readingOptions)
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Any]
            return hashes?.compactMapValues { $0 as? Data }
        } catch let error as CocoaError where error.code == .fileReadCorruptFile {
            // What is done with the store next tells what is wrong with it.
            return nil
        }
    }

    /// Options with which a store is only looked at.
    static var readingOptions: [AnyHashable: Any] {
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
