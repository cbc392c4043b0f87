import Foundation
import Testing

@testable import CoreDataSQL

private let name = SQLExpression.column("t0", "ZTITLE")
private let count = SQLExpression.column("t0", "ZCOUNT")
private let one = SQLExpression.integer(1)

extension SQLRenderable {
    fileprivate var postgres: SQLText { text(in: .postgreSQL) }
}

/// Every kind of statement as a server is told it.
@Suite struct PostgreSQLRenderingTests {
    @Test(
        arguments: [
            (.comparison(.equal, name, .bind(.text("Milk"))), #""t0"."ZTITLE" = $1::TEXT"#),
            (.comparison(.identical, name, count), #""t0"."ZTITLE" IS NOT DISTINCT FROM "t0"."ZCOUNT""#),
            (.comparison(.notIdentical, name, count), #""t0"."ZTITLE" IS DISTINCT FROM "t0"."ZCOUNT""#),
            (.function(.greatest, [count, one]), #"GREATEST("t0"."ZCOUNT", 1)"#),
            (.function(.least, [count, one]), #"LEAST("t0"."ZCOUNT", 1)"#),
            (.function(.ifNull, [count, .integer(0)]), #"COALESCE("t0"."ZCOUNT", 0)"#),
            (.function(.coalesce, [count, name, .null]), #"COALESCE("t0"."ZCOUNT", "t0"."ZTITLE", NULL)"#),
            (.function(.absolute, [count]), #"ABS("t0"."ZCOUNT")"#),
            (.function(.byteLength, [name]), #"OCTET_LENGTH("t0"."ZTITLE")"#),
            (.function(.hexadecimal, [name]), #"UPPER(ENCODE("t0"."ZTITLE", 'hex'))"#),
            (.function(.now, []), "statement_timestamp()"),
            (.function(.number, [count]), #"CAST("t0"."ZCOUNT" AS INTEGER)"#),
            (.function(.wideNumber, [count]), #"CAST("t0"."ZCOUNT" AS BIGINT)"#),
            (.cast(.bind(.real(1)), to: .date), "$1::TIMESTAMPTZ"),
            (.cast(.bind(.integer(1)), to: .boolean), "$1::BOOLEAN"),
            (.cast(.bind(.blob(Data(count: 16))), to: .identifier), "$1::UUID"),
            // Text as it is.
            (
                .function(.textContains, [name, .bind(.text("il")), .integer(0)]),
                #"(STRPOS("t0"."ZTITLE", $1::TEXT) > 0 AND $2::TEXT <> '')"#
            ),
            (
                .function(.textBeginsWith, [name, .column("t0", "ZB"), .integer(0)]),
                #"(STARTS_WITH("t0"."ZTITLE", "t0"."ZB") AND "t0"."ZB" <> '')"#
            ),
            (
                .function(.textEndsWith, [name, .column("t0", "ZB"), .integer(0)]),
                #"(RIGHT("t0"."ZTITLE", LENGTH("t0"."ZB")) = "t0"."ZB" AND "t0"."ZB" <> '')"#
            ),
            // Types
            (.cast(count, to: .real), #"CAST("t0"."ZCOUNT" AS DOUBLE PRECISION)"#),
            (.cast(count, to: .text), #"CAST("t0"."ZCOUNT" AS TEXT)"#),
            (.cast(count, to: .bytes), #"CAST("t0"."ZCOUNT" AS BYTEA)"#),
            // Aggregates
            (.aggregate(.count, name, distinct: true), #"COUNT(DISTINCT "t0"."ZTITLE")"#),
            (.aggregate(.average, count, distinct: false), #"AVG("t0"."ZCOUNT")"#),
            (
                .aggregate(.standardDeviation, count, distinct: false),
                #"NULLIF(STDDEV_POP(CAST("t0"."ZCOUNT" AS DOUBLE PRECISION)), 'NaN')"#
            ),
            (.aggregate(.mode, count, distinct: false), #"MODE() WITHIN GROUP (ORDER BY "t0"."ZCOUNT")"#),
            (.aggregate(.first, name, distinct: false), #"PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY "t0"."ZTITLE")"#),
            (
                .aggregate(.median, count, distinct: false),
                #"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "t0"."ZCOUNT")"#
            ),
        ] as [(SQLExpression, String)])
    func expressions(_ expression: SQLExpression, _ expected: String) {
        #expect(expression.postgres.sql == expected)
        #expect(expression.unsupportedFeature(in: .postgreSQL) == nil)
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
            .comparison(.equal, name, .bind(.text("milk"))),
            .inList(count, [.bind(.integer(1)), .bind(.integer(2))]),
        ])
        select.groups = [name]
        select.having = .comparison(.greater, .countAll, .bind(.integer(3)))
        select.orders = [.init(name), .init(count, isAscending: false)]
        select.limit = 10
        select.offset = 20
        #expect(
            select.postgres.sql == """
                SELECT DISTINCT "t0"."ZTITLE", SUM("t0"."ZCOUNT") AS "total" FROM "ZITEM" "t0" \
                LEFT OUTER JOIN "ZUNIT" "t1" ON "t1"."_id" = "t0"."ZUNIT" JOIN "ZSHOP" "t2" ON "t2"."_id" = "t0"."ZSHOP" \
                WHERE "t0"."ZTITLE" = $1::TEXT AND "t0"."ZCOUNT" IN ($2::BIGINT, $3::BIGINT) GROUP BY "t0"."ZTITLE" \
                HAVING COUNT(*) > $4::BIGINT ORDER BY "t0"."ZTITLE" NULLS FIRST, \
                "t0"."ZCOUNT" DESC NULLS LAST LIMIT $5::BIGINT OFFSET $6::BIGINT
                """)
        #expect(
            select.postgres.bindings
                == [.text("milk"), .integer(1), .integer(2), .integer(3), .integer(10), .integer(20)])
        select.limit = nil
        #expect(select.postgres.sql.hasSuffix("NULLS LAST OFFSET $5::BIGINT"))
    }

    @Test func longListsAreOneValue() {
        var members = SelectStatement(
            [.init(.column("t1", "value"))], from: .init(membersOf: .bind(.text("[1,2]")), type: .integer, as: "t1"))
        #expect(
            SQLExpression.inSelect(.column("t0", "Z_PK"), members).postgres.sql == """
                "t0"."_id" IN (SELECT "t1"."value" FROM (SELECT CAST("e"."value" AS BIGINT) AS "value" \
                FROM jsonb_array_elements_text(CAST($1::TEXT AS JSONB)) AS e(value)) "t1")
                """)
        members.source = .init(rows: [[one], [.integer(2)]], as: "keys")
        members.columns = [.init(.column("keys", "column1"))]
        #expect(members.postgres.sql == #"SELECT "keys"."column1" FROM (VALUES (1), (2)) "keys""#)
    }

    @Test func inserts() {
        var insert = InsertStatement(
            into: "ZITEM", columns: ["Z_PK", "ZTITLE"], rows: [[.parameter, .parameter], [.parameter, .null]])
        #expect(insert.postgres.sql == #"INSERT INTO "ZITEM" ("_id", "ZTITLE") VALUES ($1, $2), ($3, NULL)"#)
        // There is no such thing as to stop at the failing row.
        insert.conflict = .stop
        #expect(insert.postgres.sql == #"INSERT INTO "ZITEM" ("_id", "ZTITLE") VALUES ($1, $2), ($3, NULL)"#)
        insert.conflict = .ignore
        insert.returning = [.init(.column(nil, "Z_PK"))]
        #expect(insert.postgres.sql.hasSuffix(#"($3, NULL) ON CONFLICT DO NOTHING RETURNING "_id""#))
        insert.returning = []
        insert.conflict = .update(
            target: ["Z_PK"], set: [.init("ZTITLE", .column("excluded", "ZTITLE"))],
            where: .comparison(
                .equal, .function(.ifNull, [.column("ZITEM", "Z_OPT"), .integer(0)]),
                .arithmetic(.subtract, .column("excluded", "Z_OPT"), one)))
        #expect(
            insert.postgres.sql.hasSuffix(
                #" ON CONFLICT ("_id") DO UPDATE SET "ZTITLE" = "excluded"."ZTITLE" "#
                    + #"WHERE COALESCE("ZITEM"."_version", 0) = "excluded"."_version" - 1"#))
        var copy = InsertStatement(
            into: "ZCOPY", columns: ["Z_PK"], from: SelectStatement([.init(name)], from: .init("ZITEM", as: "t0")))
        copy.conflict = .ignore
        #expect(
            copy.postgres.sql
                == #"INSERT INTO "ZCOPY" ("_id") SELECT "t0"."ZTITLE" FROM "ZITEM" "t0" ON CONFLICT DO NOTHING"#)
    }

    @Test func updatesAndDeletes() {
        let hasKey = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .bind(.integer(9)))
        let update = UpdateStatement("ZITEM", as: "t0", set: [.init("ZTITLE", .bind(.text("Milk")))], where: hasKey)
        #expect(update.postgres.sql == #"UPDATE "ZITEM" AS "t0" SET "ZTITLE" = $1::TEXT WHERE "_id" = $2::BIGINT"#)
        var delete = DeleteStatement(from: "ZITEM", where: .between(.column(nil, "Z_PK"), one, .parameter))
        delete.returning = [.init(.column(nil, "Z_PK"))]
        #expect(delete.postgres.sql == #"DELETE FROM "ZITEM" WHERE "_id" BETWEEN 1 AND $1 RETURNING "_id""#)
    }

    // MARK: Schemas

    private func texts(_ statement: SchemaStatement) throws -> [String] {
        try SchemaRenderer.texts(of: statement, in: .postgreSQL)
    }

    @Test func tables() throws {
        let table = CreateTable(
            "ZITEM",
            columns: [
                .init("Z_PK", .rowKey), .init("Z_ENT", .integer), .init("ZTITLE", .text), .init("ZPRICE", .decimal),
                .init("ZWEIGHT", .real), .init("ZDATE", .date), .init("ZDONE", .boolean), .init("ZDATA", .bytes),
                .init("ZKEY", .identifier), .init("ZRATING", .smallInteger), .init("ZPAGES", .mediumInteger),
                .init("Z_UUID", .shortText),
            ])
        #expect(
            try texts(.table(table)) == [
                """
                CREATE TABLE "ZITEM" ("_id" BIGINT PRIMARY KEY, "_entity" BIGINT, "ZTITLE" TEXT COLLATE "C", \
                "ZPRICE" NUMERIC, "ZWEIGHT" DOUBLE PRECISION, "ZDATE" TIMESTAMPTZ, "ZDONE" BOOLEAN, \
                "ZDATA" BYTEA, "ZKEY" UUID, "ZRATING" SMALLINT, "ZPAGES" INTEGER, "uuid" VARCHAR(255) COLLATE "C")
                """
            ])
        let join = CreateTable(
            "Z_1TAGS", columns: [.init("Z_1A", .integer), .init("Z_2B", .integer)], primaryKey: ["Z_1A", "Z_2B"])
        #expect(try texts(.table(join))[0].hasSuffix(#""Z_2B" BIGINT, PRIMARY KEY ("Z_1A", "Z_2B"))"#))
    }

    @Test func indexes() throws {
        var index = CreateIndex(
            "Z_Item_byName", on: "ZITEM",
            [.init("ZTITLE", isAscending: true), .init("ZDATE", isAscending: false), .init("ZUNIT")], isUnique: true)
        index.condition = .and([
            .comparison(.equal, .column(nil, "ZTITLE"), .bind(.text("it's"))),
            .comparison(.less, .column(nil, "ZPRICE"), .bind(.real(.infinity))),
            .inList(.column(nil, "ZDATA"), [.bind(.blob(Data([10])))]),
        ])
        #expect(
            try texts(.index(index)) == [
                """
                CREATE UNIQUE INDEX "Z_Item_byName" ON "ZITEM" ("ZTITLE" ASC NULLS FIRST, "ZDATE" DESC NULLS LAST, "ZUNIT") \
                WHERE "ZTITLE" = 'it''s' AND "ZPRICE" < 'Infinity'::DOUBLE PRECISION AND "ZDATA" IN (E'\\\\x0a'::BYTEA)
                """
            ])
    }

    @Test(
        arguments: [
            (.cast(.bind(.integer(0)), to: .boolean), "'false'::BOOLEAN"),
            (
                .cast(.bind(.blob(Data([0x0A] + Array(repeating: 255, count: 15)))), to: .identifier),
                "'0affffffffffffffffffffffffffffff'::UUID"
            ),
            (.cast(.bind(.real(0.5)), to: .date), "'2001-01-01 00:00:00.500000+00'::TIMESTAMPTZ"),
            (.cast(.bind(.real(-0.25)), to: .date), "'2000-12-31 23:59:59.750000+00'::TIMESTAMPTZ"),
            (.cast(.bind(.real(-63_114_076_800)), to: .date), "'0001-12-30 00:00:00.000000+00 BC'::TIMESTAMPTZ"),
            (.cast(.bind(.real(63_113_904_000)), to: .date), "'4001-01-01 00:00:00.000000+00'::TIMESTAMPTZ"),
            (.cast(.bind(.real(.infinity)), to: .date), "'infinity'::TIMESTAMPTZ"),
        ] as [(SQLExpression, String)])
    func constantsOfTypesThatAreNoNumbers(_ constant: SQLExpression, _ expected: String) throws {
        var index = CreateIndex("Z_byA", on: "ZITEM", [.init("ZA")])
        index.condition = .comparison(.equal, .column(nil, "ZA"), constant)
        #expect(try texts(.index(index))[0].hasSuffix(#" WHERE "ZA" = \#(expected)"#))
        // A file has no such types.
        let text = try SchemaRenderer.texts(of: .index(index), in: .sqlite)[0]
        #expect(!text.contains("CAST") && !text.contains("::"))
    }

    /// A server may be set to take backslashes for the beginning of something else.
    @Test(
        arguments: [
            (#"it's"#, #"'it''s'"#), (#"\"#, #"E'\\'"#), (#"\' OR 1 = 1 --"#, #"E'\\'' OR 1 = 1 --'"#),
            (#"a\\'"#, #"E'a\\\\'''"#), ("%s {0} $1 $$", "'%s {0} $1 $$'"), ("\u{301}'\u{301}", "'\u{301}''\u{301}'"),
        ])
    func textsMeanTheSameHoweverBackslashesAreTaken(_ text: String, _ expected: String) throws {
        var index = CreateIndex("Z_byA", on: "ZITEM", [.init("ZA")])
        index.condition = .comparison(.equal, .column(nil, "ZA"), .bind(.text(text)))
        #expect(try texts(.index(index))[0].hasSuffix(#" WHERE "ZA" = \#(expected)"#))
    }

    @Test func whatNoServerTakesIsRefused() throws {
        var index = CreateIndex("Z_byA", on: "ZITEM", [.init("ZA")])
        index.condition = .comparison(.equal, .column(nil, "ZA"), .bind(.text("a\0b")))
        let failure = #expect(throws: SQLFailure.self) { try texts(.index(index)) }
        #expect(failure?.message.contains("U+0000") == true)
    }

    @Test func aNegativeConstantIsNoComment() throws {
        var index = CreateIndex("Z_byA", on: "ZITEM", [.init("ZA")])
        for (value, text) in [(SQLValue.integer(-1), "-(-1)"), (.real(-0.5), "-(-0.5)"), (.real(2), "-2.0")] {
            index.condition = .comparison(.equal, .column(nil, "ZA"), .negation(.bind(value)))
            #expect(try texts(.index(index))[0].hasSuffix(#" WHERE "ZA" = \#(text)"#))
        }
    }

    @Test func aTriggerEndsWhereItIsMeantTo() throws {
        let trigger = CreateTrigger(
            "Z_DA", after: .insert, on: "$$;$t1$",
            [.update("$$;$t1$", set: "a", to: .bind(.text("$t2$")), where: .isNull(.column(nil, "b")))])
        let text = try texts(.trigger(trigger))[0]
        #expect(text.contains("AS $t3$ DECLARE") && text.hasSuffix("END $t3$"))
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
                CREATE FUNCTION "Z_DA"() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE "_reported" record; \
                "_path_of_writer" text := current_setting('search_path'); BEGIN \
                IF "_path_of_writer" <> quote_ident(TG_TABLE_SCHEMA) THEN \
                PERFORM set_config('search_path', quote_ident(TG_TABLE_SCHEMA), true); END IF; UPDATE "ZBOOK" SET \
                "ZPAGES" = "ZBOOK"."ZPAGES" + 1 WHERE "ZBOOK"."_id" = NEW."ZBOOK"; \
                IF "_path_of_writer" <> quote_ident(TG_TABLE_SCHEMA) THEN \
                PERFORM set_config('search_path', "_path_of_writer", true); END IF; RETURN NULL; END $$
                """,
                """
                CREATE TRIGGER "Z_DA" AFTER UPDATE OF "ZBOOK" ON "ZPAGE" FOR EACH ROW WHEN (NEW."ZBOOK" IS NOT NULL) \
                EXECUTE FUNCTION "Z_DA"()
                """,
            ])
        // What a server cannot compute cannot be kept by one.
        let folded = CreateTrigger(
            "Z_DA", after: .insert, on: "ZPAGE",
            [.update("ZBOOK", set: "ZA", to: .function(.characterCount, [.column("NEW", "ZA")]), where: isMatch)])
        #expect(throws: SQLFailure.self) { try texts(.trigger(folded)) }
        // Case it can fold, in schemas alone.
        let upper = CreateTrigger(
            "Z_DA", after: .insert, on: "ZPAGE",
            [.update("ZBOOK", set: "ZA", to: .function(.uppercase, [.column("NEW", "ZA")]), where: isMatch)])
        #expect(try texts(.trigger(upper))[0].contains(#"UPPER(NEW."ZA" COLLATE "und-x-icu")"#))
        #expect(!SQLDialect.postgreSQL.computes(.uppercase, [name]))
    }

    @Test(arguments: CatalogQuery.allCases)
    func theCatalogIsTheServers(query: CatalogQuery) {
        let text = query.postgres.sql
        #expect(text.contains("current_schema()") && !text.contains("sqlite") && !text.contains("pragma"))
    }

    @Test func aTriggerTellsTheSessionOfTheRowsThatItSets() throws {
        let isMatch = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .column("NEW", "ZBOOK"))
        let report = SQLExpression.function(
            .derivedAttributeInserted,
            [
                .bind(.text("ZBOOK")), .column(nil, "Z_ENT"), .column(nil, "Z_PK"), .bind(.text("it's")),
                .column(nil, "ZA"),
            ])
        let text = try texts(
            .trigger(
                CreateTrigger("Z_DA", after: .insert, on: "ZPAGE", [.select(report, from: "ZBOOK", where: isMatch)])))[
                0]
        #expect(text.contains(#"CONCAT("ZBOOK"."_entity", ' ', "ZBOOK"."_id", ' 1 ', 'it''s')"#))
        let told = ServerText.report("2 7 1 it's")
        #expect(
            told?.entityNumber == 2 && told?.primaryKey == 7 && told?.attribute == "it's" && told?.isInsertion == true)
        #expect(ServerText.report("something else") == nil)
    }

    // MARK: Names

    @Test func namesAreTheModelsAndOurOwnBeginWithAnUnderscore() {
        let names = SQLNames.readable
        #expect(names.stored("title") == "title" && names.stored("Z_PK") == "_id")
        #expect(names.original("_id") == "Z_PK" && names.original("title") == "title")
        #expect(names.originalColumn("author_id", of: "_history_transactions") == "ZAUTHORTS")
        #expect(names.originalColumn("author_id", of: "Book") == "author_id")
        let long = String(repeating: "ä", count: 60)
        let short = names.stored(long)
        #expect(short.utf8.count <= 63 && short != names.stored(long + "b") && short.hasPrefix("ää"))
        #expect(names.reserved.isSuperset(of: ["_id", "Z_PK", "_metadata"]))
    }

    // MARK: Gaps

    @Test(
        arguments: [
            (.function(.textContains, [name, .parameter, .integer(1)]), .function(.textContains)),
            (.function(.textLike, [name, .parameter, .integer(0)]), .function(.textLike)),
            (.not(.isNull(.function(.divide, [count, one]))), .function(.divide)),
            (.comparison(.less, .function(.textCompare, [name, name, one]), one), .function(.textCompare)),
            (.aggregate(.mode, count, distinct: true), .aggregate(.mode)),
            (.aggregate(.standardDeviation, count, distinct: true), .aggregate(.standardDeviation)),
            (.aggregate(.median, count, distinct: true), .aggregate(.median)),
            (.collate(name, .caseInsensitive), .collation(.caseInsensitive)),
            (.collate(name, .localized), .collation(.localized)),
            (.function(.textEqual, [name, .parameter, .integer(1)]), .function(.textEqual)),
            (.arithmetic(.bitAnd, count, one), .arithmetic(.bitAnd)), (.onesComplement(count), .complement),
            (.cast(count, to: .integer), .cast),
            (.cast(.function(.secondsOfDate, [name]), to: .real), .function(.secondsOfDate)),
            (.function(.dateOfSeconds, [count]), .function(.dateOfSeconds)),
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
        ] as [(SQLExpression, UnsupportedSQLFeature)])
    func gapsAreFoundWhereverTheyAre(_ expression: SQLExpression, _ gap: UnsupportedSQLFeature) {
        #expect(expression.unsupportedFeature(in: .postgreSQL) == gap)
        #expect(expression.unsupportedFeature(in: .sqlite) == nil)
    }

    @Test func aDialectWithoutOneThingHasNotEverything() {
        #expect(SQLDialect.sqlite.hasEverything && !SQLDialect.postgreSQL.hasEverything)
        #expect(!SQLDialect.sqlite.without(.textLike).hasEverything)
        #expect(!SQLDialect.sqlite.without(SQLAggregate.mode).hasEverything)
        #expect(!SQLDialect.sqlite.without(SQLCollation.localized).hasEverything)
        #expect(SQLDialect.sqlite.binding(atMost: 7).maximumBindings == 7)
    }
}
