import Testing

@testable import CoreDataSQL

private let key = SQLExpression.column("t0", "Z_PK")

@Suite struct StatementRenderingTests {
    @Test func aSelectHasItsClausesInOrder() {
        var select = SelectStatement(
            [.init(key), .init(.aggregate(.count, .column("t1", "Z_PK"), distinct: false), as: "n")],
            from: .init("ZITEM", as: "t0"))
        select.isDistinct = true
        select.joins = [
            .init(
                .leftOuter, .init("ZUNIT", as: "t1"),
                on: .comparison(.equal, .column("t0", "ZUNIT"), .column("t1", "Z_PK"))),
            .init(.inner, .init("Z_1TAGS", as: "t2"), on: .comparison(.equal, .column("t2", "Z_1X"), key)),
        ]
        select.condition = .comparison(.equal, .column("t0", "Z_ENT"), .bind(.integer(3)))
        select.groups = [key, .column("t0", "ZNAME")]
        select.having = .comparison(.greater, .countAll, .bind(.integer(1)))
        select.orders = [.init(.collate(.column("t0", "ZNAME"), .localized)), .init(key, isAscending: false)]
        select.limit = 20
        select.offset = 40
        #expect(
            select.text.sql == """
                SELECT DISTINCT t0.Z_PK, COUNT(t1.Z_PK) AS n FROM ZITEM t0 \
                LEFT OUTER JOIN ZUNIT t1 ON t0.ZUNIT = t1.Z_PK JOIN Z_1TAGS t2 ON t2.Z_1X = t0.Z_PK \
                WHERE t0.Z_ENT = ? GROUP BY t0.Z_PK, t0.ZNAME HAVING COUNT(*) > ? \
                ORDER BY t0.ZNAME COLLATE CDLocalized, t0.Z_PK DESC LIMIT ? OFFSET ?
                """)
        #expect(select.text.bindings == [.integer(3), .integer(1), .integer(20), .integer(40)])
    }

    @Test func anOffsetWithoutALimitReadsToTheEnd() {
        var select = SelectStatement([.init(.integer(1))], from: .init("ZITEM", as: ""))
        select.offset = 5
        #expect(select.text.sql == "SELECT 1 FROM ZITEM LIMIT -1 OFFSET ?")
        #expect(select.text.bindings == [.integer(5)])
    }

    @Test func insertsRows() {
        var insert = InsertStatement(
            into: "Z_2TAGS", columns: ["Z_2ITEMS", "Z_5TAGS"],
            rows: [[.parameter, .parameter], [.bind(.integer(1)), .null]])
        #expect(insert.text.sql == "INSERT INTO Z_2TAGS (Z_2ITEMS, Z_5TAGS) VALUES (?, ?), (?, NULL)")
        insert.conflict = .ignore
        #expect(insert.text.sql.hasSuffix(") VALUES (?, ?), (?, NULL) ON CONFLICT DO NOTHING"))
        insert.conflict = .update(target: ["Z_2ITEMS", "Z_5TAGS"], set: [.init("order", .column("excluded", "order"))])
        #expect(
            insert.text.sql.hasSuffix(
                " ON CONFLICT (Z_2ITEMS, Z_5TAGS) DO UPDATE SET "
                    + "\"order\" = excluded.\"order\""))
        insert.conflict = .update(
            target: ["Z_5TAGS"], set: [.init("Z_2ITEMS", .null)], where: .isNull(.column("Z_2TAGS", "Z_2ITEMS")))
        #expect(
            insert.text.sql.hasSuffix(
                " ON CONFLICT (Z_5TAGS) DO UPDATE SET Z_2ITEMS = NULL WHERE Z_2TAGS.Z_2ITEMS IS NULL"))
        insert.conflict = .stop
        #expect(
            insert.text.sql == "INSERT OR FAIL INTO Z_2TAGS (Z_2ITEMS, Z_5TAGS) VALUES (?, ?), (?, NULL)")
    }

    @Test func insertsFromASelect() {
        var insert = InsertStatement(
            into: "ZCOPY", columns: ["Z_PK"], from: SelectStatement([.init(key)], from: .init("ZITEM", as: "t0")))
        #expect(insert.text.sql == "INSERT INTO ZCOPY (Z_PK) SELECT t0.Z_PK FROM ZITEM t0")
        insert.conflict = .stop
        #expect(insert.text.sql == "INSERT OR FAIL INTO ZCOPY (Z_PK) SELECT t0.Z_PK FROM ZITEM t0")
        insert.conflict = .ignore
        insert.returning = [.init(.column(nil, "Z_PK"))]
        #expect(
            insert.text.sql == """
                INSERT INTO ZCOPY (Z_PK) SELECT t0.Z_PK FROM ZITEM t0 WHERE 1 = 1 \
                ON CONFLICT DO NOTHING RETURNING Z_PK
                """)
    }

    @Test func insertsDefaults() {
        #expect(InsertStatement(into: "ZX", columns: [], rows: [[]]).text.sql == "INSERT INTO ZX DEFAULT VALUES")
    }

    @Test func updatesAndDeletes() {
        let guarded = SQLExpression.and([
            .comparison(.equal, .column(nil, "Z_PK"), .bind(.integer(9))),
            .comparison(.equal, .column(nil, "Z_OPT"), .bind(.integer(1))),
        ])
        var update = UpdateStatement(
            "ZITEM", set: [.init("ZNAME", .bind(.text("Milk"))), .init("Z_OPT", .bind(.integer(2)))], where: guarded)
        #expect(update.text.sql == "UPDATE ZITEM SET ZNAME = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?")
        #expect(update.text.bindings == [.text("Milk"), .integer(2), .integer(9), .integer(1)])
        update.alias = "t0"
        update.condition = nil
        update.returning = [.init(key, as: "pk")]
        #expect(update.text.sql == "UPDATE ZITEM AS t0 SET ZNAME = ?, Z_OPT = ? RETURNING t0.Z_PK AS pk")
        let delete = DeleteStatement(from: "ZITEM", where: guarded)
        #expect(delete.text.sql == "DELETE FROM ZITEM WHERE Z_PK = ? AND Z_OPT = ?")
        #expect(DeleteStatement(from: "ZITEM", as: "t0").text.sql == "DELETE FROM ZITEM AS t0")
    }
}
