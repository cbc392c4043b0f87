import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataSQLite

@Suite struct SQLiteStatementTests {
    static let values: [SQLValue] = [
        .null, .integer(0), .integer(-1), .integer(.max), .integer(.min), .real(0), .real(-0.5), .real(.infinity),
        .real(.leastNonzeroMagnitude), .text(""), .text("Milk"), .text("it's \"quoted\""),
        .text("Größe 🥛 e\u{301} \u{10FFFF}"),
        .text("a\u{0}b"), .blob(Data()), .blob(Data([0, 1, 255])), .blob(Data(count: 2 << 20)),
        .text(String(repeating: "ü", count: 300_000)),
    ]

    @Test(arguments: [false, true])
    func everyValueReadsBackAsItWasBound(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile)
        try database.write { connection in
            try connection.execute("CREATE TABLE ZVALUE ( Z_PK INTEGER PRIMARY KEY, ZX )")
            for (index, value) in Self.values.enumerated() {
                try connection.run("INSERT INTO ZVALUE VALUES (\(bind: .integer(Int64(index))), \(bind: value))")
            }
        }
        let rows = try database.rows("SELECT ZX FROM ZVALUE ORDER BY Z_PK")
        #expect(rows.map { $0[0] } == Self.values)
    }

    @Test func notANumberIsNull() throws {
        #expect(try makeDatabase().value("SELECT \(bind: .real(.nan))") == .null)
    }

    private static let kinds: [ColumnKind] = [.integer, .real, .text, .blob]

    private static func row(_ builder: RowBuilder, _ key: Int64, _ set: (RowBuilder) -> Void) -> RowSnapshot {
        set(builder)
        return builder.finish(primaryKey: key, version: 1, entity: 0)
    }

    @Test func rowsAreBoundAndReadWhole() throws {
        let builder = RowBuilder(columnCount: 4)
        let blob = Data((0..<(2 << 20)).map { UInt8(truncatingIfNeeded: $0) })
        let rows = [
            Self.row(builder, 1) { _ in },
            Self.row(builder, 2) {
                $0.setInteger(0, at: 0)
                $0.setReal(0, at: 1)
                $0.setText("", at: 2)
                $0.setBytes(UnsafeRawBufferPointer(start: nil, count: 0), at: 3)
            },
            Self.row(builder, 3) { builder in
                builder.setInteger(.min, at: 0)
                builder.setReal(-1.5, at: 1)
                builder.setText("Straße 🥛", at: 2)
                blob.withUnsafeBytes { builder.setBytes($0, at: 3) }
            },
        ]
        let database = try makeDatabase()
        try database.write { connection in
            try connection.execute("CREATE TABLE ZR ( Z_PK INTEGER PRIMARY KEY, A INTEGER, B FLOAT, C TEXT, D BLOB )")
            let insert = try connection.statement("INSERT INTO ZR VALUES (?, ?, ?, ?, ?)")
            defer { insert.reset() }
            for row in rows {
                try insert.bind(row.primaryKey, at: 0)
                try insert.bind(row, columns: [0, 1, 2, 3], kinds: Self.kinds, at: 1)
                #expect(try insert.run() == 1)
            }
        }
        try database.read { connection in
            let select = try connection.statement("SELECT Z_PK, A, B, C, D FROM ZR ORDER BY Z_PK")
            defer { select.reset() }
            for row in rows {
                #expect(try select.step())
                select.read(into: builder, kinds: Self.kinds, from: 1)
                let read = builder.finish(primaryKey: select.integer(0), version: 1, entity: 0)
                #expect(read.primaryKey == row.primaryKey)
                for column in 0..<4 {
                    #expect(
                        read.isEqual(to: row, at: column, kind: Self.kinds[column]),
                        "row \(row.primaryKey), column \(column)")
                }
            }
            #expect(try !select.step())
        }
    }

    @Test func columnsAreBoundInTheOrderAsked() throws {
        let row = Self.row(RowBuilder(columnCount: 4)) {
            $0.setInteger(7, at: 0)
            $0.setText("t", at: 2)
        }
        try makeDatabase().read { connection in
            let select = try connection.statement("SELECT ?, ?, ?")
            defer { select.reset() }
            try select.bind(row, columns: [2, 0, 3], kinds: Self.kinds, at: 0)
            #expect(try select.step())
            #expect((0..<3).map(select.value) == [.text("t"), .integer(7), .null])
        }
    }

    @Test func valuesOfAnotherStorageClassAreConverted() throws {
        // A date without a fraction is stored as an integer, a decimal as a number: store-format §7.
        try makeDatabase().read { connection in
            let select = try connection.statement("SELECT 1.0, 5, 10.5, 'text'")
            defer { select.reset() }
            #expect(try select.step())
            let builder = RowBuilder(columnCount: 4)
            select.read(into: builder, kinds: [.integer, .real, .text, .blob], from: 0)
            let row = builder.finish(primaryKey: 0, version: 0, entity: 0)
            #expect(row.integer(0) == 1)
            #expect(row.real(1) == 5)
            #expect(row.text(2) == "10.5")
            #expect(row.withBytes(3) { Data($0) } == Data("text".utf8))
        }
    }

    @Test func aRowStaysBoundWhenItsOwnerLetsItGo() throws {
        let database = try makeDatabase()
        try database.write { connection in
            let insert = try connection.statement("INSERT INTO ZBOOK VALUES (?, ?, ?)")
            defer { insert.reset() }
            let builder = RowBuilder(columnCount: 4)
            try insert.bind(
                Self.row(builder, 0) { $0.setText(String(repeating: "x", count: 100), at: 2) },
                columns: [2], kinds: Self.kinds, at: 2)
            // Memory that the row would have left is taken again.
            let others = (0..<100).map { _ in
                Self.row(builder, 0) { $0.setText(String(repeating: "y", count: 100), at: 2) }
            }
            try insert.bind(1, at: 0)
            try insert.run()
            // The next row binds the key alone; the text is still that of the first.
            try insert.bind(2, at: 0)
            try insert.run()
            #expect(others.count == 100)
        }
        #expect(
            try database.rows("SELECT DISTINCT ZTITLE FROM ZBOOK") == [[.text(String(repeating: "x", count: 100))]])
    }

    @Test func runCountsTheRowsThatItsStatementChanged() throws {
        try makeDatabase().write { connection in
            #expect(try connection.run("INSERT INTO ZBOOK VALUES (1, 1, 'A'), (2, 1, 'B')") == 2)
            #expect(try connection.run("UPDATE ZBOOK SET ZTITLE = 'C' WHERE Z_PK = 1") == 1)
            #expect(try connection.run("UPDATE ZBOOK SET ZTITLE = 'C' WHERE Z_PK = 9") == 0)
            #expect(try connection.run("CREATE TABLE ZX ( Z_PK INTEGER PRIMARY KEY )") == 0)
            #expect(try connection.run("SELECT * FROM ZBOOK") == 0)
            // What a trigger changes is not counted.
            try connection.execute(
                """
                CREATE TRIGGER t AFTER DELETE ON ZBOOK BEGIN INSERT INTO ZX VALUES (1), (2), (3); END;
                """)
            #expect(try connection.run("DELETE FROM ZBOOK WHERE Z_PK = 1") == 1)
        }
    }

    @Test func anUpsertThatShallOnlyUpdateTellsOfARowThatItInserted() throws {
        try makeDatabase().write { connection in
            try connection.run("INSERT INTO ZBOOK VALUES (7, 1, 'A'), (8, 1, 'B')")
            let statement = try connection.statement(
                """
                INSERT INTO ZBOOK (Z_PK, ZTITLE) VALUES (?, 'C'), (8, 'C') ON CONFLICT (Z_PK) DO UPDATE
                SET ZTITLE = excluded.ZTITLE WHERE ZTITLE <> excluded.ZTITLE
                """)
            defer { statement.reset() }
            try statement.bind(Int64(7), at: 0)
            #expect(try statement.runUpdating() == 2)
            #expect(try statement.runUpdating() == 0)
            try statement.bind(Int64(9), at: 0)
            #expect(try statement.runUpdating() == nil)
        }
    }

    @Test func aStatementInUseIsNotHandedOutAgain() throws {
        try makeDatabase().read { connection in
            let sql = "SELECT 1 UNION SELECT 2"
            let first = try connection.statement(sql)
            defer { first.reset() }
            #expect(try first.step())
            let second = try connection.statement(sql)
            defer { second.reset() }
            #expect(first !== second)
            #expect(try second.step())
            #expect(try first.step())
            #expect(second.integer(0) == 1)
            #expect(first.integer(0) == 2)
        }
    }

    @Test func aStatementIsPreparedOnceAndComesBackClean() throws {
        try makeDatabase().read { connection in
            func use() throws -> ObjectIdentifier {
                let statement = try connection.statement("SELECT ?")
                #expect(try statement.step())
                #expect(statement.value(0) == .null)
                statement.reset()
                try statement.bind([.integer(5)], at: 0)
                #expect(try statement.step())
                // Left running and bound.
                return ObjectIdentifier(statement)
            }
            let first = try use()
            #expect(try use() == first)
        }
    }

    @Test func theCacheForgetsTheLeastRecentlyUsed() throws {
        try makeDatabase { $0.statementCacheSize = 2 }.read { connection in
            func pointer(_ sql: String) throws -> OpaquePointer? {
                (try connection.statement(sql) as? SQLiteStatement)?.pointer
            }
            let kept = try pointer("SELECT 1")
            for number in 2..<40 {
                _ = try pointer("SELECT \(number)")
                #expect(try pointer("SELECT 1") == kept)
            }
        }
    }

    @Test func misuseIsAnError() throws {
        try makeDatabase().read { connection in
            #expect(failure { _ = try connection.statement("SELEC 1") }?.message.contains("syntax error") == true)
            #expect(failure { _ = try connection.statement("  ") } != nil)
            #expect(failure { _ = try connection.statement("SELECT * FROM ZNONE") }?.kind == .missingTable)
            let statement = try connection.statement("SELECT ?")
            defer { statement.reset() }
            #expect(failure { try statement.bind([.null], at: 1) }?.sql == "SELECT ?")
            #expect(try statement.step())
            #expect(failure { try statement.bind(1, at: 0) } != nil)
            #expect(failure { try statement.run() } != nil)
        }
    }

    @Test func columnsHaveNames() throws {
        try makeDatabase().read { connection in
            let statement = try connection.statement("SELECT Z_PK, ZTITLE AS title FROM ZBOOK")
            defer { statement.reset() }
            #expect((0..<statement.columnCount).map(statement.columnName) == ["Z_PK", "title"])
            #expect(try !statement.step())
        }
    }
}

extension SQLiteStatementTests {
    private static func row(_ builder: RowBuilder, _ set: (RowBuilder) -> Void) -> RowSnapshot {
        row(builder, 0, set)
    }
}
