import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import Foundation
import Testing

@testable import CoreDataStore

/// Statements that are kept are those that would be written anew.
@Suite struct FetchTextsTests {
    private let store: BookshopStore

    init() throws {
        store = try BookshopStore { store in
            for (key, title) in [(1, "Pippi"), (2, "Mumin"), (3, "Emil"), (4, "Ronja")] as [(Int64, String)] {
                store.insert(key == 2 ? "Comic" : "Book", key, ["title": .text(title), "pages": .integer(10 - key)])
            }
        }
    }

    private func plan(
        _ sorts: [String] = ["title"], limit: Int = 0, offset: Int = 0, isAscending: Bool = true, whole: Bool = true
    ) throws -> FetchPlan {
        var plan = try Bookshop.plan("Book")
        plan.sorts = sorts.map { FetchPlan.Sort(keyPath: [$0], isAscending: isAscending) }
        plan.limit = limit
        plan.offset = offset
        plan.includesSubentities = whole
        return plan
    }

    @Test func pagesShareAStatement() throws {
        let plans = try [
            plan(), plan(limit: 2), plan(limit: 1), plan(limit: 2, offset: 1), plan(limit: 1, offset: 2),
            plan(offset: 3),
            plan(limit: 3, isAscending: false), plan(["pages"], limit: 3), plan(whole: false),
            plan(limit: 3, whole: false),
        ]
        let expected: [[Int64]] = [
            [3, 2, 1, 4], [3, 2], [3], [2, 1], [1], [4], [4, 1, 2], [4, 3, 2], [3, 1, 4], [3, 1, 4],
        ]
        // The second time with the statements of the first.
        for _ in 0..<2 {
            for (plan, keys) in zip(plans, expected) { #expect(try store.engine.rows(plan).map(\.primaryKey) == keys) }
        }
        var written = 0
        for plan in plans {
            _ = try store.engine.fetchTexts.statement(of: plan, store.engine.dialect) {
                written += 1
                let (statement, shape) = try store.engine.planner.rows(plan)
                return (statement.text(in: store.engine.dialect), shape)
            }
        }
        #expect(written == 0)
    }

    @Test func statementsOfOtherDialectsAndPredicatesAreWritten() throws {
        let texts = FetchTexts()
        var written: [String] = []
        func statement(_ plan: FetchPlan, _ dialect: SQLDialect) throws -> FetchTexts.Statement {
            try texts.statement(of: plan, dialect) {
                let planner = FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 0, dialect: dialect)
                let (statement, shape) = try planner.rows(plan)
                let text = statement.text(in: dialect)
                written.append(text.sql)
                return (text, shape)
            }
        }
        let filtered = try Bookshop.plan("Book", "pages > 8")
        for _ in 0..<2 {
            #expect(try statement(plan(limit: 7), .sqlite).bindings == [.integer(7)])
            #expect(try statement(plan(limit: 7), .postgreSQL).sql.contains("LIMIT $1"))
            #expect(try statement(filtered, .sqlite).bindings == [.integer(8)])
        }
        #expect(written.count == 4, "one of each dialect, and two with the predicate: \(written)")
    }

    /// A layout whose columns have other names is written for by itself, though its entities have the same numbers.
    @Test func layoutsOfAFileHaveTextsOfTheirOwn() throws {
        let usual = SchemaLayout.fresh(model: Bookshop.model, entities: Array(Bookshop.model.entities.indices))
        let again = SchemaLayout.fresh(model: Bookshop.model, entities: Array(Bookshop.model.entities.indices))
        #expect(usual.fetchTexts === again.fetchTexts)
        let bound = try store.database.read { connection in
            try SchemaLayout.existing(
                model: Bookshop.model, entities: Array(Bookshop.model.entities.indices),
                numbers: Bookshop.layout.entities.enumerated().compactMap { ordinal, entity in
                    entity.map {
                        EntityNumber(
                            number: $0.number, name: Bookshop.model.entities[ordinal].name,
                            parent: Bookshop.model.entities[ordinal].parent.flatMap {
                                Bookshop.layout.entities[$0]?.number
                            }
                                ?? 0, maximum: 0)
                    }
                }, catalog: StoreCatalog.read(connection))
        }
        #expect(bound.fetchTexts !== usual.fetchTexts)
    }
}
