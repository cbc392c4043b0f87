import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Testing

/// Triggers keep derived attributes, whatever changes first (store-format §6, U1, U2).
@Suite struct DerivedAttributeTests {
    /// The derived values of items 1 and 2 after each statement.
    @Test(
        arguments: [
            // Parts that come before and after their item, that move, and that go.
            (
                "parts.@count",
                [
                    ("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM) VALUES (1, 2, 1)", "nil nil"),
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)", "1 0"),
                    ("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM) VALUES (2, 2, 1)", "2 0"),
                    ("UPDATE ZPART SET ZITEM = 2 WHERE Z_PK = 1", "1 1"),
                    ("UPDATE ZPART SET ZITEM = NULL WHERE Z_PK = 1", "1 0"),
                    ("DELETE FROM ZPART", "0 0"),
                ]
            ),
            (
                "parts.@sum.price",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)", "0 0"),
                    ("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM, ZPRICE) VALUES (1, 2, 1, 10), (2, 2, 1, 5)", "15.0 0"),
                    ("UPDATE ZPART SET ZPRICE = 7 WHERE Z_PK = 2", "17.0 0"),
                    ("UPDATE ZPART SET ZITEM = 2 WHERE Z_PK = 1", "7.0 10.0"),
                    ("DELETE FROM ZPART WHERE Z_PK = 1", "7.0 0"),
                ]
            ),
            (
                "max:(parts.price)",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)", "nil nil"),
                    ("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM, ZPRICE) VALUES (1, 2, 1, 10), (2, 2, 1, 5)", "10.0 nil"),
                    ("UPDATE ZPART SET ZITEM = NULL WHERE Z_PK = 1", "5.0 nil"),
                ]
            ),
            (
                "parts.price.@min",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)", "nil nil"),
                    ("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM, ZPRICE) VALUES (1, 2, 2, 10), (2, 2, 2, 5)", "nil 5.0"),
                ]
            ),
            (
                "tags.@count",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1), (2, 1)", "0 0"),
                    ("INSERT INTO Z_1TAGS VALUES (1, 5), (1, 6), (2, 5)", "2 1"),
                    ("DELETE FROM Z_1TAGS WHERE Z_3TAGS = 5", "1 0"),
                ]
            ),
            (
                "unit.name",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT, ZUNIT) VALUES (1, 1, 1), (2, 1, NULL)", "nil nil"),
                    ("INSERT INTO ZUNIT (Z_PK, Z_ENT, ZNAME) VALUES (1, 4, 'kg')", "kg nil"),
                    ("UPDATE ZUNIT SET ZNAME = 'g'", "g nil"),
                    ("UPDATE ZITEM SET ZUNIT = 1 WHERE Z_PK = 2", "g g"),
                    ("UPDATE ZITEM SET ZUNIT = NULL", "nil nil"),
                ]
            ),
            (
                "canonical:(name)",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT, ZNAME) VALUES (1, 1, 'Crème'), (2, 1, NULL)", "creme nil"),
                    ("UPDATE ZITEM SET ZNAME = 'ÉCLAIR' WHERE Z_PK = 2", "creme eclair"),
                ]
            ),
            (
                "uppercase:(unit.name)",
                [
                    ("INSERT INTO ZUNIT (Z_PK, Z_ENT, ZNAME) VALUES (1, 4, 'kg')", "nil nil"),
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT, ZUNIT) VALUES (1, 1, 1), (2, 1, NULL)", "KG nil"),
                    ("UPDATE ZUNIT SET ZNAME = 'oz'", "OZ nil"),
                ]
            ),
            ("lowercase:(name)", [("INSERT INTO ZITEM (Z_PK, Z_ENT, ZNAME) VALUES (1, 1, 'Tea')", "tea nil")]),
            (
                "name",
                [
                    ("INSERT INTO ZITEM (Z_PK, Z_ENT, ZNAME) VALUES (1, 1, 'Tea')", "Tea nil"),
                    ("UPDATE ZITEM SET ZNAME = NULL", "nil nil"),
                ]
            ),
        ] as [(String, [(String, String)])])
    func valueFollowsEveryChange(expression: String, changes: [(String, String)]) throws {
        let engine = try open(expression)
        for (statement, expected) in changes {
            try engine.database.write { try $0.execute(statement) }
            #expect(try values(engine) == expected, "after \(statement)")
        }
    }

    @Test func nowIsTheMomentOfTheLastSave() throws {
        let engine = try open("now()", type: .date)
        try engine.database.write {
            try $0.execute("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1)")
            try $0.execute("UPDATE ZITEM SET ZDERIVED = 0")
        }
        #expect(try values(engine) == "0 nil")
        // A save raises the version; a column that a trigger sets does not.
        try engine.database.write { try $0.execute("UPDATE ZITEM SET Z_OPT = 2") }
        guard case .real(let seconds)? = try raw(engine).first else {
            Issue.record("no date: \(try raw(engine))")
            return
        }
        #expect(seconds > 700_000_000)
    }

    @Test func affectedRowsAreReported() throws {
        let engine = try open("parts.@count")
        let reports = try engine.database.write { connection in
            try connection.execute("INSERT INTO ZITEM (Z_PK, Z_ENT) VALUES (1, 1)")
            try connection.execute("INSERT INTO ZPART (Z_PK, Z_ENT, ZITEM) VALUES (1, 2, 1)")
            return connection.derivedAttributeReports
        }
        #expect(reports.map(\.isInsertion) == [true, false])
        #expect(reports.map(\.table) == ["ZITEM", "ZITEM"])
        #expect(reports.map(\.entityNumber) == [1, 1])
        #expect(reports.map(\.attribute) == ["derived", "derived"])
        #expect(reports.map(\.value) == [.integer(0), .integer(1)])
    }

    /// Item 1, Part 2, Tag 3, Unit 4.
    private func open(_ expression: String, type: AttributeType = .undefined) throws -> StoreEngine {
        let shop = try model(
            Entity("Item").string("name").attribute(
                "derived", type == .undefined ? .transformable : type, derived: expression
            )
            .toOne("unit", "Unit", inverse: "items").toMany("parts", "Part", inverse: "item")
            .toMany("tags", "Tag", inverse: "items"),
            Entity("Part").attribute("price", .double).toOne("item", "Item", inverse: "parts"),
            Entity("Tag").string("name").toMany("items", "Item", inverse: "tags"),
            Entity("Unit").string("name").toMany("items", "Item", inverse: "unit"))
        return try StoreEngine.open(model: shop, options: StoreOptions(path: nil), makeDatabase: makeDatabase)
    }

    private func raw(_ engine: StoreEngine) throws -> [SQLValue] {
        try engine.database.read { connection in
            try ([1, 2] as [Int64]).map { key in
                try connection.rows("SELECT ZDERIVED FROM ZITEM WHERE Z_PK = \(integer: key)").first?.first ?? .null
            }
        }
    }

    private func values(_ engine: StoreEngine) throws -> String {
        try raw(engine).map { value in
            switch value {
            case .null: "nil"
            case .integer(let value): String(value)
            case .real(let value): String(value)
            case .text(let value): value
            case .blob: "blob"
            }
        }.joined(separator: " ")
    }
}
