import CoreData
import Foundation

/// The file of a store, before it is opened as one.
enum StoreFile {
    /// - Throws: ``ToolFailure`` for a path where no store can be.
    static func checkExists(_ path: String) throws {
        guard !path.isEmpty else { throw ToolFailure("The path of the store is empty.") }
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

    /// Whether there is a database at the path.
    static func isDatabase(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
            let file = FileHandle(forReadingAtPath: path)
        else { return false }
        defer { try? file.close() }
        return (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }

    /// The version hashes of the model that the store was made with, by entity; `nil` where it does not say.
    static func versionHashes(_ path: String) throws -> [String: Data]? {
        let url = URL(fileURLWithPath: path)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: StoreTools.type(ofStoreAt: url), at: url, options: readingOptions)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Any]
        return hashes?.compactMapValues { $0 as? Data }
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
