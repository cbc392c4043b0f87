import CoreDataPredicate
import CoreDataSQL
import StoreTestSupport
import Testing

@testable import CoreDataStore

/// What a server is asked of a search without case and diacritics: for the rows that may meet it, and nothing that could miss one.
@Suite struct NarrowingTests {
    private func split(
        _ format: String, _ dialect: SQLDialect = .postgreSQL, entity: String = "Book"
    ) throws -> (
        split: PlanSplit, text: SQLText?
    ) {
        let planner = FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 0, dialect: dialect)
        let split = try planner.split(Bookshop.plan(entity, format))
        return (split, try planner.keys(split.plan).condition?.text(in: dialect))
    }

    @Test(
        arguments: [
            ("title CONTAINS[c] 'ox'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["[Oo][Xx]"]),
            ("'ox' IN[c] title", #""t0"."ZTITLE" ~ $1::TEXT"#, ["[Oo][Xx]"]),
            ("title BEGINSWITH[c] 'OX'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["^[Oo][Xx]"]),
            ("title ENDSWITH[c] 'ox'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["[Oo][Xx]$"]),
            ("title ==[c] 'ox'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["^[Oo][Xx]$"]),
            ("'ox' ==[c] title", #""t0"."ZTITLE" ~ $1::TEXT"#, ["^[Oo][Xx]$"]),
            ("title LIKE[c] 'o*x?'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["^[Oo].*[Xx]"]),
            (
                "title IN[c] {'ox', 'cod'}", #""t0"."ZTITLE" ~ $1::TEXT OR "t0"."ZTITLE" ~ $2::TEXT"#,
                ["^[Oo][Xx]$", "^[Cc][Oo][Dd]$"]
            ),
            (
                "title CONTAINS[c] 'ox' OR subtitle CONTAINS 'x'",
                #""t0"."ZTITLE" ~ $1::TEXT OR (STRPOS("t0"."ZSUBTITLE", $2::TEXT) > 0 AND $3::TEXT <> '')"#,
                ["[Oo][Xx]", "x", "x"]
            ),
            ("NOT NOT title CONTAINS[c] 'ox'", #""t0"."ZTITLE" ~ $1::TEXT"#, ["[Oo][Xx]"]),
            ("author.name CONTAINS[c] 'ox'", #""t1"."name" ~ $1::TEXT"#, ["[Oo][Xx]"]),
            // The empty text is in none, which the server knows without a look.
            ("title CONTAINS[cd] ''", "1 = 0", []),
        ] as [(String, String, [String])])
    func foldedTextIsFoundByAPattern(_ format: String, _ sql: String, _ bindings: [String]) throws {
        let (split, text) = try split(format)
        #expect(text?.sql == sql)
        #expect(text?.bindings == bindings.map(SQLValue.text))
        // Memory decides on the rows that come.
        #expect(split.predicate?.predicateFormat == (try Bookshop.plan("Book", format).predicate?.predicateFormat))
        #expect(split.isNarrow && !split.isWhole)
    }

    @Test func membersAreFoundByAPattern() throws {
        let (split, text) = try split("ANY books.title CONTAINS[c] 'ox'", entity: "Author")
        #expect(
            text?.sql.hasPrefix("EXISTS (SELECT 1 FROM") == true && text?.sql.contains(#""ZTITLE" ~ $1::TEXT"#) == true)
        #expect(split.isNarrow)
    }

    @Test func anIndexFindsWhereATextBegins() throws {
        let compiled = try model(Entity("Book").string("title").index("byTitle", "title"))
        let layout = SchemaLayout.fresh(model: compiled, entities: Array(compiled.entities.indices)).layout
        let planner = FetchPlanner(model: compiled, layout: layout, now: 0, dialect: .postgreSQL)
        for (format, end) in [("title BEGINSWITH[c] 'o'", ""), ("title ==[c] 'o'", "$")] {
            var plan = FetchPlan(entity: 0)
            plan.predicate = try PredicateParser.parse(format: format, arguments: [])
            let text = try planner.keys(planner.split(plan).plan).condition?.text(in: .postgreSQL)
            #expect(text?.sql.hasSuffix(#") AND "t0"."ZTITLE" ~ $6::TEXT"#) == true)
            // Those that begin with the letter in either case, and those beyond ASCII.
            #expect(text?.bindings == ["O", "P", "o", "p", "\u{80}", "^[Oo]" + end].map(SQLValue.text))
        }
    }

    @Test func whatSQLAnswersStandsBesideThePattern() throws {
        let (split, text) = try split("title CONTAINS[c] 'ox' AND pages > 3 AND title != nil")
        #expect(split.plan.narrowing.count == 1)
        #expect(text?.bindings.contains(.text("[Oo][Xx]")) == true && text?.sql.contains("ZPAGES") == true)
        #expect(split.predicate?.predicateFormat == "title CONTAINS[c] \"ox\"")
        #expect(split.explanation.hasSuffix("title CONTAINS[c] \"ox\" (of the rows that regular expressions find)"))
    }

    /// The negation of a condition that is true of too many rows would miss some, so negations are not narrowed.
    @Test(
        arguments: [
            "NOT title CONTAINS[c] 'ox'", "title !=[c] 'ox'", "title <[c] 'ox'", "title MATCHES[c] 'ox'",
            "title CONTAINS[c] subtitle",
            "'ox' CONTAINS[c] title", "title CONTAINS[c] 'ox' OR pages * 2 / 3 > 1", "title LIKE[c] '*'",
            "TERNARY(title CONTAINS[c] 'ox', pages, stock) == 3", "NOT (title CONTAINS[c] 'ox' OR pages == 3)",
        ])
    func othersAreLeftToMemoryAsAWhole(_ format: String) throws {
        let (split, text) = try split(format)
        #expect(split.plan.narrowing.isEmpty && text == nil)
        #expect(!split.isWhole && !split.isNarrow && split.predicate != nil)
    }

    @Test(
        arguments: [
            "ALL books.title CONTAINS[c] 'ox'", "NONE books.title CONTAINS[c] 'ox'",
            "NOT ANY books.title CONTAINS[c] 'ox'",
            "SUBQUERY(books, $b, $b.title CONTAINS[c] 'ox').@count == 0",
        ])
    func aNegationAroundMembersIsNotNarrowed(_ format: String) throws {
        let (split, text) = try split(format, entity: "Author")
        #expect(split.plan.narrowing.isEmpty && text == nil && split.predicate != nil)
    }

    @Test func aDialectWithoutPatternsLeavesAllToMemory() throws {
        let (split, text) = try split("title CONTAINS[c] 'ox'", SQLDialect.postgreSQL.withoutPatterns())
        #expect(split.plan.narrowing.isEmpty && text == nil && split.predicate != nil)
        // After a statement that failed on a value none is tried.
        let (again, none) = try self.split("title CONTAINS[c] 'ox'", SQLDialect.postgreSQL.withoutComputation)
        #expect(again.plan.narrowing.isEmpty && none == nil)
    }

    @Test func aLongListIsNotSoughtInEachRow() throws {
        let names = (0..<65).map { "'name \($0)'" }.joined(separator: ", ")
        #expect(try split("title IN[c] {\(names)}").split.plan.narrowing.isEmpty)
    }
}
