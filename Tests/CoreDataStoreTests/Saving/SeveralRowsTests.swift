import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// Saves of so many rows that a statement writes several of them.
@Suite struct SeveralRowsTests {
    private static let tagInsertion = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?, ?, ?, ?)"

    /// Tags from 1 on, every third without a name.
    private func tags(_ count: Int64 = 40) throws -> SavedLibrary {
        let library = try SavedLibrary()
        try library.save { changes in
            changes.insertions = (1...count).map { library.insertion("Tag", $0, name($0)) }
        }
        return library
    }

    private func name(_ key: Int64, _ suffix: String = "") -> [String: SQLValue] {
        key % 3 == 0 ? [:] : ["name": .text("Tag \(key)\(suffix)")]
    }

    private func renaming(_ library: SavedLibrary, _ key: Int64, version: Int32 = 1) -> ChangeSet.Update {
        library.update("Tag", key, version: version, name(key), ["name": .text("New \(key)")])
    }

    private func conflicts(_ error: (any Error)?) -> [SaveFailure.Conflict] {
        guard case .conflicts(let conflicts)? = error as? SaveFailure else { return [] }
        return conflicts
    }

    /// The number of statements that begin so, and how many values those have in all.
    private func count(_ statements: [String], _ prefix: String) -> [Int] {
        let found = statements.filter { $0.hasPrefix(prefix) }
        return [found.count, found.reduce(0) { $0 + $1.count { $0 == "?" } }]
    }

    // MARK: Inserts

    @Test func insertsFillStatementsAndTheRestGoesOneByOne() throws {
        let library = try SavedLibrary()
        let statements = try library.statements {
            try library.save { changes in
                changes.insertions = (1...40).map { library.insertion("Tag", $0, name($0)) }
            }
        }
        #expect(count(statements, "INSERT OR FAIL INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?") == [1, 128])
        #expect(statements.count { $0 == Self.tagInsertion } == 8)
        #expect(
            try library.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZTAG ORDER BY 1")
                == (1...40).map { key in
                    [.integer(key), .integer(5), .integer(1), name(key)["name"] ?? .null]
                })
    }

    @Test func aUniqueValueThatIsTakenUndoesEveryRow() throws {
        // I9
        let library = try SavedLibrary()
        try library.fill()
        let before = try library.dump()
        let error = library.failure { changes in
            changes.insertions = (11...50).map {
                library.insertion("Author", $0, ["email": .text($0 == 40 ? "bob@x" : "\($0)@x")])
            }
        }
        guard case .constraints(let violations)? = error as? SaveFailure else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(violations.map(\.changed) == [library.key("Author", 40)])
        #expect(violations.map(\.existing) == [library.key("Author", 2)])
        #expect(try library.dump() == before)
    }

    @Test func aKeyThatIsInUseUndoesEveryRow() throws {
        let library = try tags()
        let before = try library.dump()
        let error = library.failure { changes in
            changes.insertions = (30...60).map { library.insertion("Tag", $0) }
        }
        #expect((error as? SQLFailure)?.kind == .constraint)
        #expect(try library.dump() == before)
    }

    @Test func triggersSeeEveryRow() throws {
        // U1
        let library = try SavedLibrary()
        try library.save { changes in
            changes.insertions = (1...20).map { library.insertion("Author", $0) }
        }
        let outcome = try library.save { changes in
            changes.insertions = (1...40).map { library.insertion("Book", $0, ["author": .integer(1 + $0 % 20)]) }
        }
        #expect(Set(outcome.derivedRows) == Set((1...20).map { library.key("Author", $0) }))
        #expect(
            try library.rows("SELECT ZBOOKCOUNT, COUNT(*) FROM ZAUTHOR GROUP BY 1") == [[.integer(2), .integer(20)]])
    }

    @Test func externalDataIsWrittenOnceForEachRow() throws {
        let library = try SavedLibrary(inFile: true)
        let cover = Data(repeating: 7, count: 200_000)
        try library.save { changes in
            changes.insertions = (1...20).map { library.insertion("Book", $0, ["cover": .blob(cover)]) }
        }
        #expect(library.files().count == 20)
        try library.save { changes in
            changes.updates = (1...20).map {
                library.update("Book", $0, ["cover": .blob(cover)], ["cover": .blob(cover + [1])])
            }
        }
        #expect(library.files().count == 20)
        #expect(try library.rows("SELECT DISTINCT LENGTH(ZCOVER) FROM ZBOOK") == [[.integer(38)]])
        try library.save { changes in
            changes.deletions = (1...20).map { library.deletion("Book", $0, version: 2) }
        }
        #expect(library.files().isEmpty)
    }

    // MARK: Updates

    @Test func updatesFillStatementsAndTheRestGoesOneByOne() throws {
        // I1
        let library = try tags()
        let statements = try library.statements {
            try library.save { changes in changes.updates = (1...40).map { renaming(library, $0) } }
        }
        #expect(
            count(
                statements, "INSERT INTO ZTAG (Z_OPT, ZNAME, Z_PK) VALUES (?, ?, ?), (?, ?, ?)") == [1, 96])
        #expect(
            statements.first { $0.hasPrefix("INSERT") }?.hasSuffix(
                """
                (?, ?, ?) ON CONFLICT (Z_PK) DO UPDATE SET Z_OPT = excluded.Z_OPT, ZNAME = excluded.ZNAME \
                WHERE IFNULL(ZTAG.Z_OPT, 0) = excluded.Z_OPT - 1
                """) == true)
        #expect(
            statements.count { $0 == "UPDATE ZTAG SET Z_OPT = ?, ZNAME = ? WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?" }
                == 8)
        #expect(
            try library.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZTAG ORDER BY 1")
                == (1...40).map { [.integer($0), .integer(5), .integer(2), .text("New \($0)")] })
    }

    @Test func rowsOfSeveralVersionsAndRowsWithoutOneAreUpdatedTogether() throws {
        let library = try tags()
        try library.database.write { connection in
            try connection.execute("UPDATE ZTAG SET Z_OPT = 5 WHERE Z_PK % 2 = 0")
            try connection.execute("UPDATE ZTAG SET Z_OPT = NULL WHERE Z_PK = 7")
        }
        try library.save { changes in
            changes.updates = (1...40).map { renaming(library, $0, version: $0 == 7 ? 0 : $0 % 2 == 0 ? 5 : 1) }
        }
        #expect(
            try library.rows("SELECT Z_OPT, COUNT(*) FROM ZTAG WHERE ZNAME GLOB 'New *' GROUP BY 1")
                == [[.integer(1), .integer(1)], [.integer(2), .integer(19)], [.integer(6), .integer(20)]])
    }

    @Test(arguments: [[17], [16, 40], [1, 2, 33]] as [[Int64]])
    func outdatedRowsAreAConflictAndNothingIsWritten(keys: [Int64]) throws {
        // I1, I2
        let library = try tags()
        try library.save { changes in changes.updates = keys.map { renaming(library, $0) } }
        let before = try library.dump()
        let error = library.failure { changes in changes.updates = (1...40).map { renaming(library, $0) } }
        #expect(conflicts(error).map(\.key) == keys.map { library.key("Tag", $0) })
        #expect(conflicts(error).map { $0.persisted?.version } == keys.map { _ in 2 })
        #expect(try library.dump() == before)
    }

    @Test(arguments: [3, 16, 39] as [Int64])
    func aRowThatIsGoneIsAConflictAndDoesNotComeBack(key: Int64) throws {
        // I3
        let library = try tags()
        try library.save { $0.deletions = [library.deletion("Tag", key)] }
        let before = try library.dump()
        let error = library.failure { changes in changes.updates = (1...40).map { renaming(library, $0) } }
        #expect(conflicts(error).map(\.key) == [library.key("Tag", key)])
        #expect(conflicts(error).map { $0.persisted == nil } == [true])
        #expect(try library.dump() == before)
    }

    @Test func aTableThatSomebodyGaveConstraintsIsUpdatedOneByOne() throws {
        let library = try tags()
        try library.database.write { connection in
            try connection.execute(
                """
                ALTER TABLE ZTAG RENAME TO ZOLD;
                CREATE TABLE ZTAG ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER NOT NULL, Z_OPT INTEGER, ZNAME VARCHAR );
                INSERT INTO ZTAG SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZOLD; DROP TABLE ZOLD;
                """)
        }
        try library.save { changes in changes.updates = (1...40).map { renaming(library, $0) } }
        #expect(
            try library.rows("SELECT COUNT(*), MIN(Z_OPT) FROM ZTAG WHERE ZNAME GLOB 'New *'")
                == [[.integer(40), .integer(2)]])
        try library.save { $0.deletions = [library.deletion("Tag", 8, version: 2)] }
        let error = library.failure { changes in
            changes.updates = (1...40).map { renaming(library, $0, version: 2) }
        }
        #expect(conflicts(error).map(\.key) == [library.key("Tag", 8)])
    }

    @Test func rowsWithUniqueValuesExchangeThem() throws {
        let library = try SavedLibrary()
        func code(_ key: Int64) -> [String: SQLValue] { ["code": .text("\(key)")] }
        try library.save { changes in changes.insertions = (1...40).map { library.insertion("Book", $0, code($0)) } }
        try library.save { changes in
            changes.updates = (1...40).map { library.update("Book", $0, code($0), code(41 - $0)) }
        }
        #expect(
            try library.rows("SELECT ZCODE FROM ZBOOK ORDER BY Z_PK") == (1...40).map { [.text("\(41 - $0)")] })
    }

    // MARK: Deletes

    private static let rangeDeletion = "DELETE FROM ZTAG WHERE Z_PK BETWEEN ? AND ? AND IFNULL(Z_OPT, 0) = ?"
    private static let severalDeletion = "DELETE FROM ZTAG WHERE Z_PK IN (?"
    private static let singleDeletion = "DELETE FROM ZTAG WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?"

    @Test(
        arguments: [
            (Array(1...40), [1, 0, 0]),
            (Array((1...40).reversed()), [1, 0, 0]),
            ([1, 2, 3], [0, 0, 3]),
            ([1, 2, 3, 4], [1, 0, 0]),
            ([9, 1, 2, 3, 4, 7, 20, 21, 22, 23, 24], [2, 0, 2]),
            (Array(stride(from: 1, through: 79, by: 2)), [0, 1, 8]),
            (Array(stride(from: 1, through: 79, by: 2)) + [4, 6], [1, 1, 5]),
        ] as [([Int64], [Int])])
    func deletesTakeRowsThatFollowOneAnotherTogether(keys: [Int64], expected: [Int]) throws {
        let library = try tags(80)
        let statements = try library.statements {
            try library.save { changes in changes.deletions = keys.map { library.deletion("Tag", $0) } }
        }
        #expect(
            [
                statements.count { $0 == Self.rangeDeletion },
                statements.count { $0.hasPrefix(Self.severalDeletion) },
                statements.count { $0 == Self.singleDeletion },
            ] == expected)
        #expect(
            try library.rows("SELECT Z_PK FROM ZTAG ORDER BY 1")
                == (1...80).filter { !keys.contains($0) }.map { [.integer($0)] })
    }

    @Test func rowsOfSeveralVersionsAreDeletedTogether() throws {
        let library = try tags()
        func version(_ key: Int64) -> Int32 { key % 4 < 2 ? 1 : Int32(key % 4) }
        try library.database.write { connection in
            try connection.execute("UPDATE ZTAG SET Z_OPT = Z_PK % 4 WHERE Z_PK % 4 >= 2")
            try connection.execute("UPDATE ZTAG SET Z_OPT = NULL WHERE Z_PK = 40")
        }
        try library.save { changes in
            changes.deletions = (1...40).map { library.deletion("Tag", $0, version: $0 == 40 ? 0 : version($0)) }
        }
        #expect(try library.rows("SELECT COUNT(*) FROM ZTAG") == [[.integer(0)]])
    }

    @Test(arguments: [1, 2])
    func anOutdatedRowAmongDeletedOnesIsAConflict(step: Int) throws {
        // I2
        let library = try tags(80)
        try library.save { $0.updates = [renaming(library, 21)] }
        let before = try library.dump()
        let keys = Array(stride(from: Int64(1), through: 80, by: step))
        let error = library.failure { changes in changes.deletions = keys.map { library.deletion("Tag", $0) } }
        #expect(conflicts(error).map(\.key) == [library.key("Tag", 21)])
        #expect(try library.dump() == before)
    }
}
