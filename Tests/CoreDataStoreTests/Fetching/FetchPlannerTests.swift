import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// A plan becomes one SELECT.
@Suite struct FetchPlannerTests {
    let planner = FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 0, dialect: .sqlite)

    @Test func columnsStandInTheLayoutsOrder() throws {
        let columns =
            Bookshop.layout.entities[Bookshop.ordinal("Chapter")]?.columnNames.map { "t0.\($0 ?? "NULL")" } ?? []
        #expect(columns.contains("t0.Z_FOK_BOOK") && columns.contains("t0.Z2_BOOK") && columns.count == 5)
        #expect(
            try planner.rows(Bookshop.plan("Chapter")).statement.text.sql
                == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, \(columns.joined(separator: ", ")) FROM ZCHAPTER t0")
    }

    @Test func aColumnThatTheStoreLacksIsNull() throws {
        var layout = Bookshop.layout
        let chapter = Bookshop.ordinal("Chapter")
        let column = Bookshop.model.entities[chapter].rowLayout.columnOfSlot[Bookshop.slot("Chapter", "length")]
        layout.entities[chapter]?.columnNames[column] = nil
        let planner = FetchPlanner(model: Bookshop.model, layout: layout, now: 0, dialect: .sqlite)
        #expect(try planner.rows(Bookshop.plan("Chapter")).statement.text.sql.contains(", NULL, "))
        let count = try planner.count(Bookshop.plan("Chapter", "length == nil"))
        #expect(count.text.sql == "SELECT COUNT(*) FROM ZCHAPTER t0")
    }

    @Test func subentitiesShareTheirColumns() throws {
        let (statement, shape) = try planner.rows(Bookshop.plan("Book"))
        #expect(statement.columns.count == RowShape.fixedColumns + shape.columns.count)
        #expect(Set(shape.columns.map { $0 ?? "" }).count == shape.columns.count)
        #expect(shape.columns.contains("ZARTIST"))
        #expect(statement.condition == nil)
    }

    @Test func oneEntityOfATableIsRestricted() throws {
        let keys = try planner.keys(Bookshop.plan("Comic")).text.sql
        #expect(keys == "SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 WHERE t0.Z_ENT = ?")
        var books = try Bookshop.plan("Book")
        books.includesSubentities = false
        #expect(try planner.count(books).text.sql == "SELECT COUNT(*) FROM ZBOOK t0 WHERE t0.Z_ENT = ?")
        #expect(try planner.count(books).text.bindings == [.integer(2)])
    }

    @Test func sortsJoinAndCollate() throws {  // M15
        func sql(
            _ path: String, ascending: Bool = true, _ comparison: FetchPlan.Sort.Comparison = .literal
        ) throws -> String {
            var plan = try Bookshop.plan("Chapter")
            let keys = path.split(separator: ".").map(String.init)
            plan.sorts = [FetchPlan.Sort(keyPath: keys, isAscending: ascending, comparison: comparison)]
            return String(try planner.keys(plan).text.sql.dropFirst("SELECT t0.Z_PK, t0.Z_ENT FROM ZCHAPTER t0 ".count))
        }
        #expect(try sql("title") == "ORDER BY t0.ZTITLE")
        #expect(try sql("title", ascending: false) == "ORDER BY t0.ZTITLE DESC")
        #expect(try sql("title", .localizedStandard) == "ORDER BY t0.ZTITLE COLLATE CDLocalizedStandard")
        #expect(try sql("title", .caseInsensitive) == "ORDER BY t0.ZTITLE COLLATE CDCaseInsensitive")
        #expect(try sql("length", .caseInsensitive) == "ORDER BY t0.ZLENGTH")
        #expect(
            try sql("book.author.name", .localized)
                == """
                LEFT OUTER JOIN ZBOOK t1 ON t1.Z_PK = t0.ZBOOK \
                LEFT OUTER JOIN ZAUTHOR t2 ON t2.Z_PK = t1.ZAUTHOR ORDER BY t2.ZNAME COLLATE CDLocalized
                """)
        #expect(try sql("entity.name").hasPrefix("ORDER BY CASE WHEN t0.Z_ENT = "))
        #expect(
            try sql("book.tags.@count")
                == "ORDER BY (SELECT COUNT(*) FROM Z_2TAGS t1 WHERE t1.Z_2BOOKS1 = t0.ZBOOK)")
    }

    @Test func sortAndPredicateShareTheirJoin() throws {
        var plan = try Bookshop.plan("Book", "author.name != nil")
        plan.sorts = [FetchPlan.Sort(keyPath: ["author", "name"], isAscending: true)]
        plan.limit = 20
        plan.offset = 40
        #expect(
            try planner.keys(plan).text.sql
                == """
                SELECT t0.Z_PK, t0.Z_ENT FROM ZBOOK t0 LEFT OUTER JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZAUTHOR \
                WHERE t1.ZNAME IS NOT NULL ORDER BY t1.ZNAME LIMIT ? OFFSET ?
                """)
    }

    @Test func longChainsNestAsTrees() throws {
        let parts = (0..<5000).map { index in
            PredicateNode.comparison(
                .init(.keyPath(operand: .evaluatedObject, ["title"]), .contains, .constant(.value(.string("\(index)"))))
            )
        }
        let store = try BookshopStore { $0.insert("Tag", 1, [:]) }
        for predicate in [PredicateNode.or(parts), .and(parts), .not(.or(parts))] {
            var plan = try Bookshop.plan("Chapter")
            plan.predicate = predicate
            #expect(try store.engine.count(plan) == 0)
        }
    }

    @Test func sizeClassesRepeatTheLastKey() throws {
        #expect(
            [1, 2, 8, 9, 64, 65, 500, 501].map { SizeClass(for: $0, in: .sqlite).size } == [
                1, 8, 8, 64, 64, 500, 500, 500,
            ])
        let planner = try DestinationPlanner(
            entity: Bookshop.ordinal("Shelf"), slot: Bookshop.slot("Shelf", "books"), model: Bookshop.model,
            layout: Bookshop.layout, dialect: .sqlite)
        #expect(
            try planner.keys(SizeClass(for: 1, in: .sqlite)).text.sql
                == """
                SELECT t0.Z_5SHELVES, t1.Z_PK, t1.Z_ENT FROM Z_2SHELVES t0 JOIN ZBOOK t1 ON t1.Z_PK = t0.Z_2BOOKS \
                WHERE t0.Z_5SHELVES = ? ORDER BY t0.Z_5SHELVES, t0.Z_FOK_2BOOKS, t1.Z_PK
                """)
    }

    @Test func theNearestNameIsASlipAway() {
        #expect(NearestName.nearest(to: "quantiy", among: ["name", "quantity"]) == "quantity")
        #expect(NearestName.nearest(to: "NAME", among: ["name", "quantity"]) == "name")
        #expect(NearestName.nearest(to: "colour", among: ["name", "quantity"]) == nil)
        #expect(NearestName.nearest(to: "x", among: []) == nil)
    }

    @Test func thePrefixEndsBeforeItsSuccessor() {
        #expect(PredicateTranslator.successor(of: "ab") == "ac")
        #expect(PredicateTranslator.successor(of: "a\u{10FFFF}") == "b")
        #expect(PredicateTranslator.successor(of: "\u{D7FF}") == "\u{E000}")
        #expect(PredicateTranslator.successor(of: "\u{10FFFF}") == nil)
    }
}
