import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// Fetches from a small store.
@Suite struct FetchingTests {
    let store: BookshopStore
    var engine: StoreEngine { store.engine }

    init() throws {
        store = try BookshopStore { store in
            store.insert("Author", 1, ["name": .text("Astrid"), "born": .real(-100.5), "rating": .real(4.5)])
            store.insert("Author", 2, ["name": .text("Tove")])
            store.insert(
                "Book", 1,
                [
                    "title": .text("Pippi"), "pages": .integer(100), "price": .text("9.50"), "isOut": .integer(1),
                    "author": .integer(1), "published": .integer(60), "link": .text("http://p"),
                    "code": .blob(Data(0..<16)), "cover": .blob(Data([1, 7, 8])),
                ], version: 3)
            store.insert(
                "Comic", 2,
                ["title": .text("Mumin"), "pages": .integer(30), "author": .integer(2), "artist": .text("Lars")])
            store.insert("Book", 3, ["title": .text("Emil"), "author": .integer(1)])
            store.insert("Tag", 1, ["name": .text("fun"), "heft": .integer(3)])
            store.insert("Tag", 2, ["name": .text("Éclair")])
            store.insert("Chapter", 1, ["title": .text("Two"), "book": .integer(1), "order of book": .integer(3072)])
            store.insert("Chapter", 2, ["title": .text("One"), "book": .integer(1), "order of book": .integer(2048)])
            store.insert("Chapter", 3, ["title": .text("Only"), "book": .integer(3), "order of book": .integer(2048)])
            store.insert("Shelf", 1, ["label": .text("A")])
            store.link("Book", "tags", 1, 1)
            store.link("Book", "tags", 1, 2)
            store.link("Book", "tags", 2, 1)
            store.link("Shelf", "books", 1, 1, order: 4096)
            store.link("Shelf", "books", 1, 2, order: 2048)
            store.own("Shelf", "picks", 1, 2)
        }
    }

    func plan(_ entity: String, _ format: String? = nil, sort: [String] = []) throws -> FetchPlan {
        var plan = try Bookshop.plan(entity, format)
        plan.sorts = sort.map { name in
            FetchPlan.Sort(keyPath: name.split(separator: ".").map(String.init), isAscending: true)
        }
        return plan
    }

    func position(_ entity: String, _ property: String) -> Int {
        Bookshop.model.entities[Bookshop.ordinal(entity)].rowLayout.columnOfSlot[Bookshop.slot(entity, property)]
    }

    @Test func rowsOfSeveralEntitiesHaveTheirOwnLayouts() throws {
        let rows = try engine.rows(plan("Book", sort: ["title"]))
        #expect(rows.map(\.primaryKey) == [3, 2, 1])
        #expect(rows.map(\.entity) == ["Book", "Comic", "Book"].map(Bookshop.ordinal))
        #expect(rows.map(\.version) == [1, 1, 3])
        #expect(rows[1].text(position("Comic", "artist")) == "Lars")
        #expect(rows[1].isNull(position("Comic", "hero")))
        #expect(rows[2].text(position("Book", "title")) == "Pippi")
        #expect(rows[2].integer(position("Book", "pages")) == 100)
        #expect(rows[2].text(position("Book", "price")) == "9.5")
        #expect(rows[2].real(position("Book", "published")) == 60)
        #expect(rows[2].isNull(position("Book", "weight")))
        #expect(rows[2].withBytes(position("Book", "cover")) { Array($0) } == [7, 8])  // store-format §8
    }

    @Test func rowsByKeyLeaveOutWhatIsNotThere() throws {  // B12
        let root = Bookshop.ordinal("Book")
        #expect(try engine.row(2, root: root)?.text(position("Comic", "title")) == "Mumin")
        #expect(try engine.row(9, root: root) == nil)
        let some = try engine.rows(forKeys: [3, 9, 1], root: root)
        #expect(Set(some.map(\.primaryKey)) == [1, 3])
        let many = try engine.rows(forKeys: Array(1...1200), root: root)
        #expect(many.map(\.primaryKey).sorted() == [1, 2, 3])
        #expect(try engine.rows(forKeys: [], root: root).isEmpty)
    }

    @Test func membersOfEveryKindOfToMany() throws {
        func keys(_ entity: String, _ property: String, _ owners: [Int64]) throws -> [[Int64]] {
            let found = try engine.destinationKeys(
                entity: Bookshop.ordinal(entity), slot: Bookshop.slot(entity, property), owners: owners)
            #expect(found.map(\.owner) == owners)
            let rows = try engine.destinationRows(
                entity: Bookshop.ordinal(entity), slot: Bookshop.slot(entity, property), owners: owners)
            #expect(rows.map { $0.rows.map(\.key) } == found.map(\.keys))
            return found.map { $0.keys.map(\.primaryKey) }
        }
        #expect(try keys("Author", "books", [1, 2, 3]) == [[1, 3], [2], []])
        #expect(try keys("Book", "chapters", [1, 3]) == [[2, 1], [3]])
        #expect(try keys("Book", "tags", [2, 1]) == [[1], [1, 2]])
        #expect(try keys("Tag", "books", [1, 2]) == [[1, 2], [1]])
        #expect(try keys("Shelf", "books", [1]) == [[2, 1]])
        #expect(try keys("Shelf", "picks", [1]) == [[2]])
        #expect(try keys("Comic", "tags", [2]) == [[1]])
    }

    @Test func membersHaveTheirOwnEntities() throws {
        let found = try engine.destinationKeys(
            entity: Bookshop.ordinal("Author"), slot: Bookshop.slot("Author", "books"), owners: [1, 2])
        #expect(found[0].keys.map(\.entity) == [Bookshop.ordinal("Book"), Bookshop.ordinal("Book")])
        #expect(found[1].keys.map(\.entity) == [Bookshop.ordinal("Comic")])
        #expect(throws: PredicateFailure.self) {
            try engine.destinationKeys(
                entity: Bookshop.ordinal("Book"), slot: Bookshop.slot("Book", "author"), owners: [1])
        }
    }

    @Test func aSharedMemberIsOneInstance() throws {
        let found = try engine.destinationRows(
            entity: Bookshop.ordinal("Book"), slot: Bookshop.slot("Book", "tags"), owners: [1, 2])
        #expect(found[0].rows[0].isIdentical(to: found[1].rows[0]))
    }

    @Test func aRowOfAForeignEntityIsReportedNotDecoded() throws {
        try store.database.write { try $0.execute("UPDATE ZBOOK SET Z_ENT = 99 WHERE Z_PK = 3") }
        let failure = #expect(throws: SQLFailure.self) { try engine.rows(plan("Book")) }
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains("row 3 has the entity number 99") ?? false)
    }

    @Test func manyThreadsReadByKeyAtOnce() async throws {
        let engine = engine
        let root = Bookshop.ordinal("Book")
        try await withThrowingTaskGroup(of: [Int64].self) { group in
            for index in 0..<64 {
                group.addTask {
                    let rows = try engine.rows(forKeys: [1, 2, 3, Int64(index) + 100], root: root)
                    return rows.map(\.primaryKey).sorted()
                }
            }
            for try await keys in group { #expect(keys == [1, 2, 3]) }
        }
    }

    // MARK: Explaining

    @Test func explainTellsStatementAndPlan() throws {
        let explained = try engine.explain(plan("Tag", "name == 'fun'"))
        #expect(
            explained.sql
                == "SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZHEFT, t0.ZNAME, t0.Z5PICKS FROM ZTAG t0 WHERE t0.ZNAME = ?")
        #expect(explained.bindings == [.text("fun")])
        #expect(explained.plan.contains { $0.contains("SCAN t0") })
    }

    @Test func longListsAreOneBinding() throws {
        let names = (0..<40_000).map { Constant.value(.string("x\($0)\"\\\n")) } + [.value(.string("fun"))]
        var tags = try plan("Tag", "name IN %@", [.constant(.collection(names, isOrdered: true))])
        #expect(try engine.keys(tags).map(\.primaryKey) == [1])
        tags.predicate = .not(try #require(tags.predicate))
        #expect(try engine.keys(tags).map(\.primaryKey) == [2])
        let keys = (1...40_000).map { Constant.key(RowKey(entity: Bookshop.ordinal("Tag"), primaryKey: $0)) }
        let selves = try plan("Tag", "SELF IN %@", [.constant(.collection(keys, isOrdered: true))])
        #expect(try engine.count(selves) == 2)
        #expect(try engine.explain(selves).bindings.count == 1)
    }

    func plan(_ entity: String, _ format: String, _ arguments: [FormatArgument]) throws -> FetchPlan {
        try Bookshop.plan(entity, format, arguments)
    }
}
