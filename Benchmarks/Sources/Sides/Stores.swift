import Foundation
import Measuring
import RawSQLite

/// The files that the workloads start from: made once for each number of rows, copied for each side.
package struct Stores {
    package let folder: URL
    /// Makes an empty store with the product, so that all sides work on the same layout.
    package let makeEmpty: (URL) throws -> Void

    package init(folder: URL, makeEmpty: @escaping (URL) throws -> Void) {
        self.folder = folder
        self.makeEmpty = makeEmpty
    }

    /// Makes the file for that many rows, unless it is there.
    package func prepare(_ contents: StoreContents, rows: Int) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = original(contents, rows: rows)
        guard !FileManager.default.fileExists(atPath: url.path) else { return }
        try make(contents, at: url, rows: rows)
    }

    package func original(_ contents: StoreContents, rows: Int) -> URL {
        folder.appendingPathComponent("\(contents.rawValue)-\(rows).sqlite")
    }

    private func make(_ contents: StoreContents, at url: URL, rows: Int) throws {
        let building = folder.appendingPathComponent("building.sqlite")
        try remove(building)
        try makeEmpty(building)
        do {
            let session = try RawSession(building)
            try Schema.check(session)
            try session.check(raw_fill(session.session, Int64(rows), contents.hasItems ? 1 : 0))
            if contents == .indexed {
                try session.execute("CREATE INDEX Z_Item_byName ON ZITEM (ZNAME COLLATE BINARY ASC)")
            }
            if contents.isRecorded { try session.execute(Schema.history.joined(separator: ";")) }
            try session.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try FileManager.default.moveItem(at: building, to: url)
        try remove(building)
    }

    /// A copy for one side to work on.
    package func copy(_ contents: StoreContents, rows: Int, for name: String) throws -> URL {
        let url = folder.appendingPathComponent("work-\(ProcessInfo.processInfo.processIdentifier)-\(name).sqlite")
        try remove(url)
        try FileManager.default.copyItem(at: original(contents, rows: rows), to: url)
        return url
    }

    /// Removes a store with what SQLite keeps beside it.
    package func remove(_ url: URL) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            try FileManager.default.removeItem(atPath: url.path + suffix)
        }
    }

    /// Sums of the versions of what items refer to, and how many changes a history has, if there is one.
    package static func ownersDigest(_ url: URL) throws -> String {
        let session = try RawSession(url)
        let versions = try session.text(
            """
            SELECT (SELECT TOTAL(Z_OPT) FROM ZLOCATIONATHOME), (SELECT TOTAL(Z_OPT) FROM ZLOCATIONATSHOP),
                   (SELECT TOTAL(Z_OPT) FROM ZUNIT)
            """)
        let isRecorded = try session.text("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ACHANGE'") == "1"
        return isRecorded ? try versions + "; " + session.text("SELECT COUNT(*) FROM ACHANGE") : versions
    }

    /// Sums over the items' table.
    package static func tableDigest(_ url: URL) throws -> String {
        try RawSession(url).text(
            """
            SELECT COUNT(*), TOTAL(Z_PK), TOTAL(Z_ENT), TOTAL(Z_OPT), TOTAL(ZCOLLECTED), TOTAL(ZLISTED),
                   TOTAL(ZLOCATIONATHOME), TOTAL(ZLOCATIONATSHOP), TOTAL(ZUNIT), TOTAL(ZQUANTITY),
                   TOTAL(LENGTH(ZNAME)), COUNT(ZPHOTO),
                   (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 1) >= COALESCE(MAX(Z_PK), 0) FROM ZITEM
            """)
    }
}
