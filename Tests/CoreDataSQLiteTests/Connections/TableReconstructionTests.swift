import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite struct TableReconstructionTests {
    private static let marks = [
        TableMark(table: "ZBOOK", rows: .objects(numbers: [1, 2])),
        TableMark(table: "ZTAG", rows: .objects(numbers: [3])),
        TableMark(table: "Z_1TAGS", rows: .pairs(columns: 2)),
    ]

    /// A file with pages of that size, with books, tags and pairs of them.
    private func makeFile(pageSize: Int, count: Int) throws -> URL {
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Books.sqlite")
        var options = SQLiteOptions(.file(path: file.path))
        options.pragmas = ["page_size": "\(pageSize)", "journal_mode": "DELETE"]
        let database = try SQLiteDatabase(options)
        defer { database.close() }
        try database.write { connection in
            for sql in [
                "CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTITLE VARCHAR, ZPHOTO BLOB )",
                "CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
                "CREATE TABLE Z_1TAGS ( Z_1BOOKS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1BOOKS, Z_2TAGS) )",
                "INSERT INTO ZBOOK SELECT value * 7 - 3, 1 + value % 2, 1, 'Book ' || value, zeroblob(value % 50 * 40) FROM generate_series(1, \(count))",
            ] {
                let text = sql.replacingOccurrences(
                    of: "generate_series(1, \(count))",
                    with:
                        "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < \(count)) SELECT value FROM n)"
                )
                try connection.execute(text)
            }
            try connection.execute("INSERT INTO ZBOOK VALUES (9223372036854775807, 1, 1, 'Last', NULL)")
            try connection.execute("INSERT INTO ZTAG SELECT Z_PK, 3, 1, ZTITLE FROM ZBOOK")
            try connection.execute("INSERT INTO Z_1TAGS SELECT Z_PK, Z_PK FROM ZBOOK")
        }
        return file
    }

    private func content(_ file: URL) throws -> [[SQLValue]] {
        let database = try SQLiteDatabase(SQLiteOptions(.file(path: file.path)))
        defer { database.close() }
        return try database.rows("SELECT Z_PK, Z_ENT, ZTITLE, length(ZPHOTO) FROM ZBOOK ORDER BY Z_PK")
            + database.rows("SELECT Z_PK, ZNAME FROM ZTAG ORDER BY Z_PK")
            + database.rows("SELECT Z_1BOOKS, Z_2TAGS FROM Z_1TAGS NOT INDEXED ORDER BY rowid")
    }

    /// By hand: a page of rows begins with 13, one that leads to others with 5.
    private func pages(_ bytes: Data, _ pageSize: Int, of kind: UInt8) -> [Int] {
        (1..<(bytes.count / pageSize)).filter { bytes[$0 * pageSize] == kind }
    }

    @Test(arguments: [512, 4096, 65536])
    func allRowsAreFoundWithoutAnyPageThatLeadsToThem(pageSize: Int) throws {
        let file = try makeFile(pageSize: pageSize, count: pageSize == 65536 ? 20_000 : 4000)
        let before = try content(file)
        var bytes = try Data(contentsOf: file)
        let interior = pages(bytes, pageSize, of: 5)
        #expect(interior.count >= 2)
        for page in interior {
            bytes.replaceSubrange(
                (page * pageSize)..<((page + 1) * pageSize), with: Data(repeating: 0x5A, count: pageSize))
        }
        try bytes.write(to: file)
        let copy = file.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        let found = try SQLiteFile.regrow(Self.marks, of: DatabaseOptions(path: file.path), at: copy.path)
        #expect(Set(found.keys).isSubset(of: ["ZBOOK", "ZTAG", "Z_1TAGS"]) && found["ZBOOK"] ?? 0 > 0)
        #expect(try content(copy) == before)
        #expect(try Data(contentsOf: file) == bytes)
    }

    @Test func aSoundFileIsCopiedAsItIs() throws {
        let file = try makeFile(pageSize: 512, count: 500)
        let copy = file.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        #expect(try SQLiteFile.regrow(Self.marks, of: DatabaseOptions(path: file.path), at: copy.path) == [:])
        #expect(try content(copy) == content(file))
    }

    @Test(arguments: 0..<60)
    func noDamageStopsTheProgram(seed: Int) throws {
        let pageSize = 512
        let file = try makeFile(pageSize: pageSize, count: 300)
        var bytes = try Data(contentsOf: file)
        var numbers = SeededNumbers(seed: UInt64(seed))
        let kinds = pages(bytes, pageSize, of: 5) + pages(bytes, pageSize, of: 13)
        for _ in 0..<(1 + numbers.below(20)) {
            // Where pages say what they have, more than in their rows.
            let page = kinds[numbers.below(kinds.count)]
            let place = numbers.chance(2) ? numbers.below(12) : numbers.below(pageSize)
            bytes[page * pageSize + place] = UInt8(numbers.below(256))
        }
        try bytes.write(to: file)
        let copy = file.deletingLastPathComponent().appendingPathComponent("Copy.sqlite")
        _ = try SQLiteFile.regrow(Self.marks, of: DatabaseOptions(path: file.path), at: copy.path)
        #expect(try Data(contentsOf: file) == bytes)
    }
}
