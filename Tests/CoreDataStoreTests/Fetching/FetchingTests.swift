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

    @Test func aSubentityAloneIsRestricted() throws {
        #expect(try engine.keys(plan("Comic")) == [RowKey(entity: Bookshop.ordinal("Comic"), primaryKey: 2)])
        var books = try plan("Book")
        books.includesSubentities = false
        #expect(try engine.keys(books).map(\.primaryKey) == [1, 3])
    }

    @Test func countHonoursLimitAndOffset() throws {  // M7
        var books = try plan("Book")
        #expect(try engine.count(books) == 3)
        books.limit = 2
        #expect(try engine.count(books) == 2)
        books.offset = 2
        #expect(try engine.count(books) == 1)
        books.limit = 0
        books.offset = 5
        #expect(try engine.count(books) == 0)
    }

    @Test func limitAndOffsetApplyToRows() throws {
        var books = try plan("Book", sort: ["pages"])
        books.offset = 1
        #expect(try engine.keys(books).map(\.primaryKey) == [2, 1])
        books.limit = 1
        #expect(try engine.rows(books).map(\.primaryKey) == [2])
    }

    @Test func sortsFollowToOnesAndSelectors() throws {  // M15
        #expect(try engine.keys(plan("Book", sort: ["author.name", "title"])).map(\.primaryKey) == [3, 1, 2])
        var tags = try plan("Tag")
        tags.sorts = [FetchPlan.Sort(keyPath: ["name"], isAscending: true, comparison: .localized)]
        #expect(try engine.keys(tags).map(\.primaryKey) == [2, 1])
        tags.sorts[0].comparison = .literal
        #expect(try engine.keys(tags).map(\.primaryKey) == [1, 2])
        #expect(throws: PredicateFailure.self) { try engine.keys(plan("Book", sort: ["tags"])) }
        #expect(throws: PredicateFailure.self) { try engine.keys(plan("Book", sort: ["note"])) }
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
        #expect(failure?.message.contains("row 3 has the entity number (Z_ENT) 99") ?? false)
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

    // MARK: Dictionaries

    func column(_ name: String, _ format: String) throws -> FetchColumn {
        FetchColumn(name: name, expression: try PredicateParser.parseExpression(format: format))
    }

    @Test func tuplesAreTyped() throws {  // M5
        let formats = [
            "title", "price", "published", "link", "code", "isOut", "author", "author.name", "SELF", "pages * 2",
        ]
        let columns = try formats.map { try column($0, $0) }
        let tuples = try engine.tuples(
            plan("Book", "title == 'Pippi'"), columns: columns, distinct: false, groupBy: [], having: nil)
        let row = try #require(tuples.first)
        #expect(row[0] == .string("Pippi"))
        #expect(row[1] == .decimal(Decimal(string: "9.5") ?? 0))
        #expect(row[2] == .date(60))
        #expect(row[3] == .uri("http://p"))
        #expect(row[4] == .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))))
        #expect(row[5] == .integer(1))
        #expect(row[6] == key("Author", 1))
        #expect(row[7] == .string("Astrid"))
        #expect(row[8] == key("Book", 1))
        #expect(row[9] == .integer(200))
    }

    func key(_ entity: String, _ primaryKey: Int64) -> Value {
        let key = RowKey(entity: Bookshop.ordinal(entity), primaryKey: primaryKey)
        return .opaque(OpaqueValue(key) { $0.object as? RowKey == key })
    }

    @Test func groupsAndAggregates() throws {  // M6
        var books = try plan("Book")
        books.sorts = [FetchPlan.Sort(keyPath: ["total"], isAscending: false)]
        let columns = [
            try column("author", "author.name"), try column("total", "sum:(pages)"), try column("n", "count:(SELF)"),
        ]
        let groups = [try PredicateParser.parseExpression(format: "author.name")]
        let all = try engine.tuples(books, columns: columns, distinct: false, groupBy: groups, having: nil)
        #expect(
            all == [
                [.string("Astrid"), .integer(100), .integer(2)], [.string("Tove"), .integer(30), .integer(1)],
            ])
        let having = try PredicateParser.parse(format: "$n > 1 AND max:(pages) < 1000")
        let some = try engine.tuples(books, columns: columns, distinct: false, groupBy: groups, having: having)
        #expect(some == [[.string("Astrid"), .integer(100), .integer(2)]])
        #expect(throws: PredicateFailure.self) {
            try engine.tuples(books, columns: columns, distinct: false, groupBy: [], having: having)
        }
        #expect(throws: PredicateFailure.self) {
            try engine.tuples(
                books, columns: columns + [column("title", "title")], distinct: false, groupBy: groups, having: nil)
        }
    }

    @Test func distinctTuples() throws {
        let tuples = try engine.tuples(
            plan("Chapter"), columns: [column("b", "book.author.name")], distinct: true, groupBy: [], having: nil)
        #expect(tuples == [[.string("Astrid")]])
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
