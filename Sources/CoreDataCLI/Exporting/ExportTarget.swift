import CoreDataToolkit
import Foundation

/// Where an export goes: one text, or a folder with a file for each entity.
enum ExportTarget {
    /// A path; `nil` for standard output.
    case text(String?)
    case folder(String)

    /// - Parameters:
    ///   - output: `--output`; a folder that is there, or a path that ends in a slash, is a folder.
    ///   - isForSeveral: whether one file has no room for what there is; then a name that tells no format is a folder's.
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

    /// - Throws: ``ToolFailure`` where a file is there already, unless it may be replaced, which a store never is: it may be the one that is
    ///   read.
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
