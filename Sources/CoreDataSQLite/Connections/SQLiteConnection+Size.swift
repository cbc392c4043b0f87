import CSQLite
import CoreDataSQL
import Foundation

// Detects a file that another program truncated. SQLite would continue with cached pages and, in WAL mode, treat the
// log as the file's length: a save would report success and be lost.
//
//  size equal or larger ──▶ nothing to do                 one system call per transaction
//  size smaller ──▶ the header counts no more pages than the file has ──▶ the file was vacuumed
//               └──▶ it counts more ──▶ the log has them ──▶ a checkpoint will write them
//                                   └──▶ the log lacks them ──▶ refused
extension SQLiteConnection {
    /// - Throws: ``SQLFailure`` for a file with missing pages.
    func checkSize(isOpening: Bool = false) throws {
        guard let file = Self.file(of: handle, SQLITE_FCNTL_FILE_POINTER), let size = Self.size(of: file) else {
            return
        }
        if !isOpening, size >= knownSize { return knownSize = size }
        if size < Self.smallestPage {
            guard knownSize > 0 else { return }
            throw SQLFailure(
                kind: .moved, code: Int(SQLITE_CORRUPT),
                message: "the file was cut off to \(size) bytes while it was open")
        }
        var last: Int64?
        for _ in 0..<20 {
            guard let now = Self.size(of: file) else { return }
            guard let missing = missingPages(of: file, size: now) else { return knownSize = now }
            // The size is stable: no checkpoint is in progress.
            if last == now { throw cutOff(now, missing: missing, isOpening) }
            last = now
            usleep(5_000)
        }
    }

    private func cutOff(_ size: Int64, missing: Int64, _ isOpening: Bool) -> SQLFailure {
        SQLFailure(
            kind: .corrupt, code: Int(SQLITE_CORRUPT),
            message:
                "the file was cut off\(isOpening ? "" : " while it was open"): it has \(size) bytes, and \(missing) of the pages that it counts are missing"
        )
    }

    /// Returns the number of pages that the file's header counts but neither the file nor the log contains; `nil` for
    /// none.
    private func missingPages(of file: OpenFile, size: Int64) -> Int64? {
        guard let header = Self.bytes(of: file, at: 0, count: 100) else { return nil }
        func number(_ offset: Int) -> Int64 { Self.number(header, offset) }
        // The count is valid only if the last writer of the file maintained it.
        guard number(24) == number(92), number(28) > 0 else { return nil }
        let pageSize = header[16] == 0 && header[17] == 1 ? 65536 : Int64(header[16]) << 8 | Int64(header[17])
        guard pageSize >= Self.smallestPage else { return nil }
        let (has, wants) = (size / pageSize, number(28))
        guard has < wants else { return nil }
        guard let path = sqlite3_db_filename(handle, "main").map({ String(cString: $0) }) else { return nil }
        // The rollback of the interrupted transaction restores the file.
        if access(path + "-journal", F_OK) == 0 { return nil }
        // The page of the file locks is never written.
        let lockPage = 0x4000_0000 / pageSize + 1
        let needed = wants - has - (lockPage > has && lockPage <= wants ? 1 : 0)
        let missing = needed - Int64(loggedPages(from: has + 1, to: wants))
        return missing > 0 ? missing : nil
    }

    /// Returns the number of different pages of a range in the write-ahead log.
    private func loggedPages(from first: Int64, to last: Int64) -> Int {
        guard let log = Self.file(of: handle, SQLITE_FCNTL_JOURNAL_POINTER),
            let head = Self.bytes(of: log, at: 0, count: 32), Self.isLog(head)
        else { return 0 }
        let frameSize = Self.number(head, 8) + 24
        var pages: Set<Int64> = []
        var offset: Int64 = 32
        while let frame = Self.bytes(of: log, at: offset, count: 24), frame[8..<16] == head[16..<24] {
            let page = Self.number(frame, 0)
            if page >= first, page <= last { pages.insert(page) }
            offset += frameSize
        }
        return pages.count
    }

    /// A rollback journal starts with other bytes ("WAL-mode File Format", 4.1).
    private static func isLog(_ head: [UInt8]) -> Bool { number(head, 0) | 1 == 0x377F_0683 }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int64 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int64($1) }
    }

    private static var smallestPage: Int64 { 512 }
}
