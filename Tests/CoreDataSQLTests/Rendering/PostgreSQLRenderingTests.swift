import Foundation
import Testing

@testable import CoreDataSQL

private let name = SQLExpression.column("t0", "ZNAME")
private let count = SQLExpression.column("t0", "ZCOUNT")
private let one = SQLExpression.integer(1)

extension SQLRenderable {
    fileprivate var postgres: SQLText { text(in: .postgreSQL) }
}

/// Every kind of statement as a server would be told it: no driver speaks the dialect yet.
@Suite struct PostgreSQLRenderingTests {
    @Test(
        arguments: [
            (.comparison(.equal, name, .bind(.text("Milk"))), #""t0"."ZNAME" = $1"#),
            (.comparison(.identical, name, count), #""t0"."ZNAME" IS NOT DISTINCT FROM "t0"."ZCOUNT""#),
            (.comparison(.notIdentical, name, count), #""t0"."ZNAME" IS DISTINCT FROM "t0"."ZCOUNT""#),
            (.function(.greatest, [count, one]), #"GREATEST("t0"."ZCOUNT", 1)"#),
            (.function(.least, [count, one]), #"LEAST("t0"."ZCOUNT", 1)"#),
            (.function(.ifNull, [count, .integer(0)]), #"COALESCE("t0"."ZCOUNT", 0)"#),
            (.function(.coalesce, [count, name, .null]), #"COALESCE("t0"."ZCOUNT", "t0"."ZNAME", NULL)"#),
            (.function(.absolute, [count]), #"ABS("t0"."ZCOUNT")"#),
            (.function(.byteLength, [name]), #"OCTET_LENGTH("t0"."ZNAME")"#),
            (.function(.hexadecimal, [name]), #"UPPER(ENCODE("t0"."ZNAME", 'hex'))"#),
            (.function(.bitwiseXor, [count, .arithmetic(.add, one, one)]), #"("t0"."ZCOUNT" # (1 + 1))"#),
            (
                .function(.now, []),
                "CAST(EXTRACT(EPOCH FROM statement_timestamp()) - 978307200 AS DOUBLE PRECISION)"
            ),
            // Text as it is, and without case.
            (
                .function(.textContains, [name, .bind(.text("il")), .integer(0)]),
                #"(STRPOS("t0"."ZNAME", $1) > 0 AND $2 <> '')"#
            ),
            (
                .function(.textBeginsWith, [name, .column("t0", "ZB"), .integer(0)]),
                #"(STARTS_WITH("t0"."ZNAME", "t0"."ZB") AND "t0"."ZB" <> '')"#
            ),
            (
                .function(.textEndsWith, [name, .column("t0", "ZB"), .integer(0)]),
                #"(RIGHT("t0"."ZNAME", LENGTH("t0"."ZB")) = "t0"."ZB" AND "t0"."ZB" <> '')"#
            ),
            (
                .not(.function(.textEqual, [name, .bind(.text("milk")), .integer(1)])),
                #"NOT ("t0"."ZNAME" COLLATE "CDFoldCase" = $1)"#
            ),
            (
                .function(.textEqual, [name, .bind(.text("milk")), .integer(3)]),
                #"("t0"."ZNAME" COLLATE "CDFoldBoth" = $1)"#
            ),
            // Types
            (.cast(count, to: .real), #"CAST("t0"."ZCOUNT" AS DOUBLE PRECISION)"#),
            (.cast(count, to: .integer), #"CAST("t0"."ZCOUNT" AS BIGINT)"#),
            (.cast(count, to: .text), #"CAST("t0"."ZCOUNT" AS TEXT)"#),
            (.cast(count, to: .bytes), #"CAST("t0"."ZCOUNT" AS BYTEA)"#),
            // Aggregates
            (.aggregate(.count, name, distinct: true), #"COUNT(DISTINCT "t0"."ZNAME")"#),
            (.aggregate(.average, count, distinct: false), #"AVG("t0"."ZCOUNT")"#),
            (.aggregate(.standardDeviation, count, distinct: false), #"STDDEV_POP("t0"."ZCOUNT")"#),
            (
                .aggregate(.median, count, distinct: false),
                #"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "t0"."ZCOUNT")"#
            ),
        ] as [(SQLExpression, String)])
    func expressions(_ expression: SQLExpression, _ expected: String) {
        #expect(expression.postgres.sql == expected)
        #expect(expression.gap(in: .postgreSQL) == nil)
    }

    @Test func aValueThatIsWrittenTwiceIsBoundTwice() {
        let text = SQLExpression.function(.textContains, [name, .bind(.text("il")), .integer(0)]).postgres
        #expect(text.bindings == [.text("il"), .text("il")])
    }

    @Test func selects() {
        var select = SelectStatement(
            [.init(name), .init(.aggregate(.sum, count, distinct: false), as: "total")], from: .init("ZITEM", as: "t0"))
        select.isDistinct = true
        select.joins = [
            .init(
                .leftOuter, .init("ZUNIT", as: "t1"),
                on: .comparison(.equal, .column("t1", "Z_PK"), .column("t0", "ZUNIT"))),
            .init(
                .cross, .init("ZSHOP", as: "t2"), on: .comparison(.equal, .column("t2", "Z_PK"), .column("t0", "ZSHOP"))
            ),
        ]
        select.condition = .and([
            .function(.textEqual, [name, .bind(.text("milk")), .integer(1)]),
            .inList(count, [.bind(.integer(1)), .bind(.integer(2))]),
        ])
        select.groups = [name]
        select.having = .comparison(.greater, .countAll, .bind(.integer(3)))
        select.orders = [.init(.collate(name, .localizedStandard)), .init(count, isAscending: false)]
        select.limit = 10
        select.offset = 20
        #expect(
            select.postgres.sql == """
                SELECT DISTINCT "t0"."ZNAME", SUM("t0"."ZCOUNT") AS "total" FROM "ZITEM" "t0" \
                LEFT OUTER JOIN "ZUNIT" "t1" ON "t1"."Z_PK" = "t0"."ZUNIT" JOIN "ZSHOP" "t2" ON "t2"."Z_PK" = "t0"."ZSHOP" \
                WHERE ("t0"."ZNAME" COLLATE "CDFoldCase" = $1) AND "t0"."ZCOUNT" IN ($2, $3) GROUP BY "t0"."ZNAME" \
                HAVING COUNT(*) > $4 ORDER BY "t0"."ZNAME" COLLATE "CDLocalizedStandard" NULLS FIRST, \
                "t0"."ZCOUNT" DESC NULLS LAST LIMIT $5 OFFSET $6
                """)
        #expect(
            select.postgres.bindings
                == [.text("milk"), .integer(1), .integer(2), .integer(3), .integer(10), .integer(20)])
        select.limit = nil
        #expect(select.postgres.sql.hasSuffix("NULLS LAST OFFSET $5"))
    }

    @Test func longListsAreOneValue() {
        var members = SelectStatement(
            [.init(.column("t1", "value"))], from: .init(membersOf: .bind(.text("[1,2]")), type: .integer, as: "t1"))
        #expect(
            SQLExpression.inSelect(.column("t0", "Z_PK"), members).postgres.sql == """
                "t0"."Z_PK" IN (SELECT "t1"."value" FROM (SELECT CAST("e"."value" AS BIGINT) AS "value" \
                FROM jsonb_array_elements_text(CAST($1 AS JSONB)) AS e(value)) "t1")
                """)
        members.source = .init(rows: [[one], [.integer(2)]], as: "keys")
        members.columns = [.init(.column("keys", "column1"))]
        #expect(members.postgres.sql == #"SELECT "keys"."column1" FROM (VALUES (1), (2)) "keys""#)
    }

    @Test func inserts() {
        var insert = InsertStatement(
            into: "ZITEM", columns: ["Z_PK", "ZNAME"], rows: [[.parameter, .parameter], [.parameter, .null]])
        #expect(insert.postgres.sql == #"INSERT INTO "ZITEM" ("Z_PK", "ZNAME") VALUES ($1, $2), ($3, NULL)"#)
        // There is no such thing as to stop at the failing row.
        insert.conflict = .stop
        #expect(insert.postgres.sql == #"INSERT INTO "ZITEM" ("Z_PK", "ZNAME") VALUES ($1, $2), ($3, NULL)"#)
        insert.conflict = .ignore
        insert.returning = [.init(.column(nil, "Z_PK"))]
        #expect(insert.postgres.sql.hasSuffix(#"($3, NULL) ON CONFLICT DO NOTHING RETURNING "Z_PK""#))
        insert.returning = []
        insert.conflict = .update(
            target: ["Z_PK"], set: [.init("ZNAME", .column("excluded", "ZNAME"))],
            where: .comparison(
                .equal, .function(.ifNull, [.column("ZITEM", "Z_OPT"), .integer(0)]),
                .arithmetic(.subtract, .column("excluded", "Z_OPT"), one)))
        #expect(
            insert.postgres.sql.hasSuffix(
                #" ON CONFLICT ("Z_PK") DO UPDATE SET "ZNAME" = "excluded"."ZNAME" "#
                    + #"WHERE COALESCE("ZITEM"."Z_OPT", 0) = "excluded"."Z_OPT" - 1"#))
        var copy = InsertStatement(
            into: "ZCOPY", columns: ["Z_PK"], from: SelectStatement([.init(name)], from: .init("ZITEM", as: "t0")))
        copy.conflict = .ignore
        #expect(
            copy.postgres.sql
                == #"INSERT INTO "ZCOPY" ("Z_PK") SELECT "t0"."ZNAME" FROM "ZITEM" "t0" ON CONFLICT DO NOTHING"#)
    }

    @Test func updatesAndDeletes() {
        let hasKey = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .bind(.integer(9)))
        let update = UpdateStatement("ZITEM", as: "t0", set: [.init("ZNAME", .bind(.text("Milk")))], where: hasKey)
        #expect(update.postgres.sql == #"UPDATE "ZITEM" AS "t0" SET "ZNAME" = $1 WHERE "Z_PK" = $2"#)
        var delete = DeleteStatement(from: "ZITEM", where: .between(.column(nil, "Z_PK"), one, .parameter))
        delete.returning = [.init(.column(nil, "Z_PK"))]
        #expect(delete.postgres.sql == #"DELETE FROM "ZITEM" WHERE "Z_PK" BETWEEN 1 AND $1 RETURNING "Z_PK""#)
    }

    // MARK: Schemas

    private func texts(_ statement: SchemaStatement) throws -> [String] {
        try SchemaRenderer.texts(of: statement, in: .postgreSQL)
    }

    @Test func tables() throws {
        let table = CreateTable(
            "ZITEM",
            columns: [
                .init("Z_PK", .rowKey), .init("Z_ENT", .integer), .init("ZNAME", .text), .init("ZPRICE", .decimal),
                .init("ZWEIGHT", .real), .init("ZDATE", .date), .init("ZDONE", .boolean), .init("ZDATA", .bytes),
                .init("Z_UUID", .shortText),
            ])
        #expect(
            try texts(.table(table)) == [
                """
                CREATE TABLE "ZITEM" ("Z_PK" BIGINT PRIMARY KEY, "Z_ENT" BIGINT, "ZNAME" TEXT COLLATE "C", \
                "ZPRICE" NUMERIC, "ZWEIGHT" DOUBLE PRECISION, "ZDATE" DOUBLE PRECISION, "ZDONE" SMALLINT, \
                "ZDATA" BYTEA, "Z_UUID" VARCHAR(255) COLLATE "C")
                """
            ])
        let join = CreateTable(
            "Z_1TAGS", columns: [.init("Z_1A", .integer), .init("Z_2B", .integer)], primaryKey: ["Z_1A", "Z_2B"])
        #expect(try texts(.table(join))[0].hasSuffix(#""Z_2B" BIGINT, PRIMARY KEY ("Z_1A", "Z_2B"))"#))
    }

    @Test func indexes() throws {
        var index = CreateIndex(
            "Z_Item_byName", on: "ZITEM",
            [.init("ZNAME", isAscending: true), .init("ZDATE", isAscending: false), .init("ZUNIT")], isUnique: true)
        index.condition = .and([
            .comparison(.equal, .column(nil, "ZNAME"), .bind(.text("it's"))),
            .comparison(.less, .column(nil, "ZPRICE"), .bind(.real(.infinity))),
            .inList(.column(nil, "ZDATA"), [.bind(.blob(Data([10])))]),
        ])
        #expect(
            try texts(.index(index)) == [
                """
                CREATE UNIQUE INDEX "Z_Item_byName" ON "ZITEM" ("ZNAME" ASC NULLS FIRST, "ZDATE" DESC NULLS LAST, "ZUNIT") \
                WHERE "ZNAME" = 'it''s' AND "ZPRICE" < 'Infinity'::DOUBLE PRECISION AND "ZDATA" IN ('\\x0a'::BYTEA)
                """
            ])
    }

    @Test func triggersAreFunctions() throws {
        let isMatch = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .column("NEW", "ZBOOK"))
        let trigger = CreateTrigger(
            "Z_DA", after: .update(of: ["ZBOOK"]), on: "ZPAGE", requiring: .column("NEW", "ZBOOK"),
            [
                .update("ZBOOK", set: "ZPAGES", to: .arithmetic(.add, .column(nil, "ZPAGES"), one), where: isMatch),
                .select(.function(.derivedAttributeUpdated, [.bind(.text("ZBOOK"))]), from: "ZBOOK", where: isMatch),
            ])
        #expect(
            try texts(.trigger(trigger)) == [
                """
                CREATE FUNCTION "Z_DA"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE "ZBOOK" SET \
                "ZPAGES" = "ZPAGES" + 1 WHERE "Z_PK" = NEW."ZBOOK"; RETURN NULL; END $$
                """,
                """
                CREATE TRIGGER "Z_DA" AFTER UPDATE OF "ZBOOK" ON "ZPAGE" FOR EACH ROW WHEN (NEW."ZBOOK" IS NOT NULL) \
                EXECUTE FUNCTION "Z_DA"()
                """,
            ])
        // What a server cannot compute cannot be kept by one.
        let folded = CreateTrigger(
            "Z_DA", after: .insert, on: "ZPAGE",
            [.update("ZBOOK", set: "ZA", to: .function(.canonical, [.column("NEW", "ZA")]), where: isMatch)])
        #expect(throws: SQLFailure.self) { try texts(.trigger(folded)) }
    }

    @Test func collationsComeFirst() {
        let texts = SchemaRenderer.preamble(in: .postgreSQL)
        #expect(
            texts.first == """
                CREATE COLLATION IF NOT EXISTS "CDFoldCase" (provider = icu, locale = 'und-u-ks-level2', \
                deterministic = false)
                """)
        #expect(texts.count == 6 && SchemaRenderer.preamble(in: .sqlite).isEmpty)
    }

    @Test(arguments: CatalogQuery.allCases)
    func theCatalogIsTheServers(query: CatalogQuery) {
        let text = query.postgres.sql
        #expect(text.contains("current_schema()") && !text.contains("sqlite") && !text.contains("pragma"))
    }

    // MARK: Gaps

    @Test(
        arguments: [
            (.function(.textContains, [name, .parameter, .integer(1)]), .function(.textContains)),
            (.function(.textLike, [name, .parameter, .integer(0)]), .function(.textLike)),
            (.not(.isNull(.function(.divide, [count, one]))), .function(.divide)),
            (.comparison(.less, .function(.textCompare, [name, name, one]), one), .function(.textCompare)),
            (.aggregate(.mode, count, distinct: false), .aggregate(.mode)),
            (.aggregate(.median, count, distinct: true), .aggregate(.median)),
            (.collate(name, .caseInsensitive), .collation(.caseInsensitive)),
            (
                .exists(
                    {
                        var select = SelectStatement([.init(one)], from: .init("ZITEM", as: "t0"))
                        select.joins = [
                            .init(.inner, .init("ZUNIT"), on: .function(.textMatches, [name, name, .integer(0)]))
                        ]
                        return select
                    }()), .function(.textMatches)
            ),
        ] as [(SQLExpression, SQLGap)])
    func gapsAreFoundWhereverTheyAre(_ expression: SQLExpression, _ gap: SQLGap) {
        #expect(expression.gap(in: .postgreSQL) == gap)
        #expect(expression.gap(in: .sqlite) == nil)
    }

    @Test func aDialectWithoutOneThingHasNotEverything() {
        #expect(SQLDialect.sqlite.hasEverything && !SQLDialect.postgreSQL.hasEverything)
        #expect(!SQLDialect.sqlite.without(.textLike).hasEverything)
        #expect(!SQLDialect.sqlite.without(SQLAggregate.mode).hasEverything)
        #expect(!SQLDialect.sqlite.without(SQLCollation.localized).hasEverything)
        #expect(SQLDialect.sqlite.binding(atMost: 7).maximumBindings == 7)
    }
}
