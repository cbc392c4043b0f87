import CoreData
import CoreDataPrimitives
import Foundation

/// A store's file with the length in its header: a truncated file is copied and extended with zeros.
///
/// SQLite does not read a file that is shorter than its header says, not even the existing pages.
struct WholeFile {
    /// The store's own file, or the copy; the copy is next to it and so has the same external data.
    let path: String
    private let isCopy: Bool

    init(of store: String) throws {
        // For a symbolic link, the store's other files are next to its target.
        let store = StoreTools.file(of: URL(fileURLWithPath: store)).path
        let header = [UInt8](StoreTools.start(ofFileAt: store, count: 100) ?? Data())
        let size = (try FileManager.default.attributesOfItem(atPath: store)[.size] as? NSNumber)?.intValue ?? 0
        guard let wanted = Self.size(in: header), wanted > size else {
            (path, isCopy) = (store, false)
            return
        }
        path = URL(fileURLWithPath: store).deletingPathExtension().path + ".recovering"
        isCopy = true
        guard let file = StoreFileDescriptor(store, O_RDONLY) else {
            throw ToolFailure("Cannot read \(store): \(String(cString: strerror(errno))).")
        }
        // Create the file exclusively and without following links, so that no existing file is changed.
        guard let copy = StoreFileDescriptor(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600) else {
            guard errno == EEXIST else {
                throw ToolFailure("Cannot write \(path): \(String(cString: strerror(errno))).")
            }
            throw ToolFailure("There is a file at \(path), where a copy of the store is to be made: move it away.")
        }
        do {
            try file.copy(to: copy)
            // The extension is sparse and uses no disk space.
            guard ftruncate(copy.number, off_t(wanted)) == 0 else {
                throw ToolFailure("Cannot write \(path): \(String(cString: strerror(errno))).")
            }
        } catch {
            remove()
            throw error
        }
    }

    func remove() {
        guard isCopy else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// Returns the number of pages times their size, from SQLite's first page; `nil` if the page is not valid.
    private static func size(in header: [UInt8]) -> Int? {
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
        let pageSize = Int(header[16]) << 8 | Int(header[17])
        let pages = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
        // Limit it to a plausible size.
        guard pages > 0, pages < 1 << 28 else { return nil }
        return pages * (pageSize == 1 ? 65_536 : pageSize)
    }
}
