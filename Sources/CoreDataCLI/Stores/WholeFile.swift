import CoreData
import Foundation

/// A store's file as long as it says of itself: one that was cut off is copied, with nothing where its end was.
///
/// SQLite does not read a file that is shorter than its first page says, not even what is there.
struct WholeFile {
    /// The store's own file, or the copy, which lies beside it and so has the same external data.
    let path: String
    private let isCopy: Bool

    init(of store: String) throws {
        // Beside a link lies nothing that is the store's.
        let store = StoreTools.file(of: URL(fileURLWithPath: store)).path
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: store))
        defer { try? file.close() }
        let size = Int(try file.seekToEnd())
        try file.seek(toOffset: 0)
        let header = [UInt8](try file.read(upToCount: 100) ?? Data())
        guard let wanted = Self.size(in: header), wanted > size else {
            (path, isCopy) = (store, false)
            return
        }
        path = URL(fileURLWithPath: store).deletingPathExtension().path + ".recovering"
        isCopy = true
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure("There is a file at \(path), where a copy of the store is to be made: move it away.")
        }
        try FileManager.default.copyItem(atPath: store, toPath: path)
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            let copy = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? copy.close() }
            // What is added takes no room on the disk.
            try copy.truncate(atOffset: UInt64(wanted))
        } catch {
            remove()
            throw error
        }
    }

    func remove() {
        guard isCopy else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    /// The number of pages times their size, as SQLite's first page has them; `nil` for what is no such page.
    private static func size(in header: [UInt8]) -> Int? {
        guard header.count == 100, header.starts(with: Array("SQLite format 3\0".utf8)) else { return nil }
        let pageSize = Int(header[16]) << 8 | Int(header[17])
        let pages = header[28..<32].reduce(0) { $0 << 8 | Int($1) }
        // No more than a store can be expected to have lost.
        guard pages > 0, pages < 1 << 28 else { return nil }
        return pages * (pageSize == 1 ? 65_536 : pageSize)
    }
}
