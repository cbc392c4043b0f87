import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The target of an export: one text, or a folder with a file for each entity.
enum ExportTarget {
    /// A path; `nil` for standard output.
    case text(String?)
    case folder(String)

    /// - Parameters:
    ///   - output: `--output`; an existing folder, or a path that ends in a slash, is a folder.
    ///   - isForSeveral: whether one file cannot contain everything; a name without a known format is then a folder.
    init(_ output: String?, isForSeveral: Bool) {
        guard let output, output != "-" else {
            self = .text(nil)
            return
        }
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: output, isDirectory: &isFolder)
        let isNamedAsFolder = output.hasSuffix("/") || isForSeveral && !exists && RecordFormat(fileName: output) == nil
        self = isNamedAsFolder || (exists && isFolder.boolValue) ? .folder(output) : .text(output)
    }

    static func path(of entity: String, _ format: RecordFormat, in folder: String) -> String {
        ModelOutput.path("\(entity).\(format.rawValue)", in: folder)
    }

    /// - Throws: ``ToolFailure`` if a file exists, unless it may be replaced. A store is never replaced: it may be the
    ///   one that is being exported.
    static func check(_ path: String, isReplacing: Bool) throws {
        if isReplacing { return try checkIsNoStore(path) }
        guard !FileManager.default.fileExists(atPath: path) || !TextOutput.isReplaceable(path) else {
            throw ToolFailure("There is something at \(path) already; --force replaces it.")
        }
    }

    static func checkIsNoStore(_ path: String) throws {
        guard !StoreFile.isDatabase(path), StoreFile.typeOfOneFile(path) == nil else {
            throw ToolFailure(
                "At \(path) there is a store, which --force does not replace: name another file, or remove the store first."
            )
        }
    }
}
