import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import Foundation
import Testing

@testable import CoreDataStore

/// What a dialect lacks is left to memory, the rest of the request goes to SQL.
@Suite struct PlanSplitTests {
    let recorder = SQLRecorder()

    /// Authors and books of which a database without some capability is asked.
    private func engine(_ dialect: SQLDialect) throws -> StoreEngine {
        let store = try BookshopStore(dialect) { store in
            store.insert("Author", 1, ["name": .text("Ann"), "rating": .real(1)])
            store.insert("Author", 2, ["name": .text("Bob"), "rating": .real(2)])
            for index in 1...40 {
                store.insert(
                    "Book", Int64(index),
                    [
                        "title": .text(index % 2 == 0 ? "even \(index)" : "odd \(index)"),
                        "pages": .integer(Int64(index)),
                        "author": .integer(index > 20 ? 2 : 1),
                    ])
            }
        }
        store.database.setObserver(recorder)
        return store.engine
    }

    private func plan(
        _ format: String, limit: Int = 0, offset: Int = 0, sorts: [String] = ["-pages"]
    ) throws -> FetchPlan {
        var plan = try Bookshop.plan("Book", format)
        plan.sorts = sorts.map { .init(keyPath: [String($0.drop { $0 == "-" })], isAscending: !$0.hasPrefix("-")) }
        plan.limit = limit
        plan.offset = offset
        return plan
    }

    private static let withoutLike = SQLDialect.sqlite.without(.textLike)

    @Test func sqlAnswersWhatItCanAndMemoryTheRest() throws {
        let engine = try engine(Self.withoutLike)
        let keys = try engine.keys(plan("title LIKE 'even*' AND pages > 30"))
        #expect(keys.map(\.primaryKey) == [40, 38, 36, 34, 32])
        // The ten rows of more than 30 pages came, and no more.
        #expect(recorder.work.count == 1)
        #expect(recorder.work[0].contains("ZPAGES > ?"))
        #expect(!recorder.work[0].contains("CDTextLike"))
        #expect(
            recorder.notes == [
                "answered in memory, since the database lacks CDTextLike: title LIKE \"even*\""
            ])
    }

    @Test func limitAndOffsetCountWhatIsLeft() throws {
        let engine = try engine(Self.withoutLike)
        let window = try plan("title LIKE 'even*'", limit: 3, offset: 2)
        #expect(try engine.keys(window).map(\.primaryKey) == [36, 34, 32])
        #expect(try engine.rows(window).map(\.primaryKey) == [36, 34, 32])
        #expect(try engine.count(window) == 3)
        #expect(try engine.count(plan("title LIKE 'even*'", offset: 18)) == 2)
        #expect(try engine.count(plan("title LIKE 'even*'")) == 20)
        #expect(!recorder.statements.contains { $0.contains("LIMIT") })
    }

    @Test func theRestLooksThroughRelationships() throws {
        let engine = try engine(Self.withoutLike)
        #expect(try engine.count(plan("author.name LIKE 'A*' AND pages < 5")) == 4)
        var authors = try Bookshop.plan("Author", "ANY books.title LIKE 'odd 3*'")
        authors.sorts = [.init(keyPath: ["name"], isAscending: true)]
        #expect(try engine.keys(authors).map(\.primaryKey) == [1, 2])
        authors.predicate = try Bookshop.plan("Author", "SUBQUERY(books, $b, $b.title LIKE 'odd 3?').@count == 5")
            .predicate
        #expect(try engine.keys(authors).map(\.primaryKey) == [2])
    }

    @Test func anOrderThatIsLackingIsMadeInMemory() throws {
        let engine = try engine(SQLDialect.sqlite.without(SQLCollation.localizedStandard))
        var plan = try plan("title BEGINSWITH 'odd'", limit: 4, offset: 1)
        plan.sorts = [.init(keyPath: ["title"], isAscending: true, comparison: .localizedStandard)]
        #expect(try engine.keys(plan).map(\.primaryKey) == [3, 5, 7, 9])
        #expect(recorder.notes == ["answered in memory, since the database lacks CDLocalizedStandard: the order"])
        // A count has no order.
        recorder.removeAll()
        #expect(try engine.count(plan) == 4)
        #expect(recorder.notes.isEmpty)
    }

    @Test func whatNoStoreCanAnswerFailsAsEver() throws {
        let engine = try engine(Self.withoutLike)
        for format in ["nonsense LIKE 'a*'", "title LIKE 'a*' AND nonsense == 1", "tags == 3"] {
            let lacking = #expect(throws: PredicateFailure.self) { _ = try engine.keys(plan(format)) }
            let whole = #expect(throws: PredicateFailure.self) {
                _ = try self.engine(.sqlite).keys(plan(format))
            }
            #expect(lacking?.diagnostic.message == whole?.diagnostic.message)
        }
    }

    @Test func columnsStayInSQLWhereOnlyThePredicateHasGaps() throws {
        let engine = try engine(Self.withoutLike)
        let tuples = try engine.tuples(
            plan("title LIKE 'even*' AND pages > 30", limit: 2, offset: 1),
            columns: [.init(name: "pages", expression: .keyPath(operand: .evaluatedObject, ["pages"]))],
            distinct: true, groupBy: [], having: nil)
        #expect(tuples == [[.integer(38)], [.integer(36)]])
        #expect(recorder.work.count == 2)
        #expect(recorder.work[1].contains("SELECT DISTINCT") && recorder.work[1].contains("LIMIT"))
    }

    @Test func columnsThatAreLackingAreMadeInMemory() throws {
        let engine = try engine(SQLDialect.sqlite.without(SQLAggregate.median))
        let pages = ExpressionNode.keyPath(operand: .evaluatedObject, ["pages"])
        let author = ExpressionNode.keyPath(operand: .evaluatedObject, ["author", "name"])
        let tuples = try engine.tuples(
            plan("pages <= 30", sorts: ["-name"]),
            columns: [
                .init(name: "name", expression: author),
                .init(name: "median", expression: .function("median:", [pages])),
            ], distinct: false, groupBy: [author], having: nil)
        #expect(tuples == [[.string("Bob"), .double(25.5)], [.string("Ann"), .double(10.5)]])
        #expect(recorder.notes == ["the columns of a dictionary fetch are made in memory"])
    }

    @Test func rowsThatWereLookedAtAreNotKept() throws {
        let engine = try engine(Self.withoutLike)
        _ = try engine.keys(plan("title LIKE 'even*'"))
        _ = try engine.count(try Bookshop.plan("Author", "ANY books.title LIKE 'odd 3*'"))
        let root = Bookshop.model.entities[Bookshop.ordinal("Book")].root
        #expect((1...40).allSatisfy { engine.cachedRow($0, root: root, staleness: -1)?.snapshot() == nil })
    }

    @Test func aDatabaseThatHasEverythingIsAskedEverything() throws {
        let engine = try engine(.sqlite)
        #expect(try engine.count(plan("title LIKE 'even*' AND pages > 30")) == 5)
        #expect(recorder.notes.isEmpty)
        #expect(recorder.work.count == 1)
    }
}
