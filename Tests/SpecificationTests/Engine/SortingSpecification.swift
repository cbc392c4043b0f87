import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// The order of what is fetched, and its first rows.
@Suite struct SortingSpecification {
    private func fill(_ library: SpecifiedSource) throws {
        try library.insert(
            library.insertion("Author", 1, ["name": .string("Tove")]),
            library.insertion("Author", 2, ["name": .string("Astrid")]), library.insertion("Author", 3),
            library.insertion(
                "Book", 1,
                [
                    "title": .string("b"), "pages": .integer(10), "price": .decimal(Decimal(string: "9.5") ?? 0),
                    "isOut": .integer(1), "published": .date(100.5), "author": library.reference("Author", 1),
                ]),
            library.insertion(
                "Novel", 2,
                [
                    "title": .string("a"), "pages": .integer(-3), "price": .decimal(10), "isOut": .integer(0),
                    "published": .date(-50), "author": library.reference("Author", 2),
                ]),
            library.insertion("Comic", 3, ["pages": .integer(10), "author": library.reference("Author", 3)]),
            library.insertion("Book", 4, ["title": .string("a"), "price": .decimal(Decimal(string: "-0.25") ?? 0)]))
    }

    @Test(
        arguments: SpecifiedStore.having(.rows),
        [
            (["title", "self"], [3, 2, 4, 1]), (["-title", "self"], [1, 2, 4, 3]), (["title", "-self"], [3, 4, 2, 1]),
            (["pages", "-title"], [4, 2, 1, 3]), (["-pages", "title"], [3, 1, 2, 4]),
            (["price", "self"], [3, 4, 1, 2]), (["isOut", "-self"], [4, 3, 2, 1]),
            (["-published", "self"], [1, 2, 3, 4]), (["author.name", "self"], [3, 4, 2, 1]),
            (["-author.name", "-self"], [1, 2, 4, 3]), (["author", "self"], [4, 1, 2, 3]), (["-self"], [4, 3, 2, 1]),
            (["objectID"], [1, 2, 3, 4]),
        ] as [([String], [Int64])])
    func nilComesFirstAndLaterKeysDecide(_ store: SpecifiedStore, _ order: ([String], [Int64])) throws {  // M15
        try store.check { library in
            try fill(library)
            let plan = library.sorted(try library.plan("Book"), by: order.0)
            #expect(try library.source.keys(plan).map(\.primaryKey) == order.1)
            #expect(try library.rows(plan).map(\.primaryKey) == order.1)
        }
    }

    static let names = [
        "b", "B", "a", "A", "é", "e", "É", "z", "item 10", "item 9", "Item 9", "ä", "Zebra", "", " ", "日本", "\u{1F600}",
        "e\u{301}", "straße", "strasse", "10", "9",
    ]

    @Test(arguments: SpecifiedStore.having(.rows), TextComparison.SortOrder.allCases)
    func textSortsAsTheDescriptorSays(_ store: SpecifiedStore, _ order: TextComparison.SortOrder) throws {
        try store.check { library in
            try library.save {
                $0.insertions =
                    Self.names.enumerated().map {
                        library.insertion("Tag", Int64($0 + 1), ["name": .string($1)])
                    } + [library.insertion("Tag", 99)]
            }
            let expected = Self.names.indices.sorted {
                let result = TextComparison.compare(Self.names[$0], Self.names[$1], by: order)
                return result != 0 ? result < 0 : $0 < $1
            }.map { Int64($0 + 1) }
            #expect(try library.keys("Tag", by: "name \(order.rawValue)", "self") == [99] + expected)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func literalOrderIsOfBytesAndCollationIsNot(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save {
                $0.insertions = ["Éa", "f", "E", "e"].enumerated().map {
                    library.insertion("Tag", Int64($0 + 1), ["name": .string($1)])
                }
            }
            #expect(try library.keys("Tag", by: "name") == [3, 4, 2, 1])
            #expect(try library.keys("Tag", by: "name localizedCompare:") == [4, 3, 1, 2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func numbersOfEverySizeSortByTheirValues(_ store: SpecifiedStore) throws {
        try store.check { library in
            let hefts: [Int64] = [.max, .min, 0, 1 << 53, (1 << 53) + 1, -1]
            let ratings: [Double] = [.infinity, -.infinity, 0, 1e-300, -1e300, 0.5]
            try library.save {
                $0.insertions = hefts.indices.map {
                    library.insertion("Tag", Int64($0 + 1), ["heft": .integer(hefts[$0])])
                }
                $0.insertions += ratings.indices.map {
                    library.insertion("Author", Int64($0 + 1), ["rating": .double(ratings[$0])])
                }
            }
            #expect(try library.keys("Tag", by: "heft") == [2, 6, 3, 4, 5, 1])
            #expect(try library.keys("Author", by: "-rating") == [1, 6, 4, 3, 5, 2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows), ["tags", "note", "nothing", "author.books", "title.length.size"])
    func whatCannotBeSortedByIsAFailure(_ store: SpecifiedStore, _ key: String) throws {  // M15
        try store.check { library in
            try fill(library)
            #expect(throws: PredicateFailure.self) { try library.keys("Book", by: key) }
        }
    }

    // MARK: Some of them

    @Test(
        arguments: SpecifiedStore.having(.rows), [(0, 0), (0, 2), (1, 0), (1, 2), (3, 5), (4, 1), (1000, 2), (1000, 0)])
    func limitAndOffsetAreOfTheSortedRows(_ store: SpecifiedStore, _ window: (Int, Int)) throws {  // M7
        try store.check { library in
            try fill(library)
            let (offset, limit) = window
            let plan = library.sorted(try library.plan("Book"), by: ["-self"], offset: offset, limit: limit)
            let rest = [4, 3, 2, 1].dropFirst(offset)
            let expected = Array(limit > 0 ? rest.prefix(limit) : rest).map { Int64($0) }
            #expect(try library.source.keys(plan).map(\.primaryKey) == expected)
            #expect(try library.rows(plan).map(\.primaryKey) == expected)
            #expect(try library.source.count(plan) == expected.count)
            #expect(try library.tuples(plan, ["self"]).count == expected.count)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func countsAreOfWhatThePredicateSelects(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(try library.source.count(library.plan("Book", "pages == 10")) == 2)
            #expect(try library.source.count(library.plan("Book", "author.name == nil")) == 2)
            #expect(try library.source.count(library.plan("Book", "FALSEPREDICATE")) == 0)
            var plan = try library.plan("Book", "TRUEPREDICATE")
            plan.limit = 3
            #expect(try library.source.count(plan) == 3)
            #expect(throws: PredicateFailure.self) { try library.source.count(library.plan("Book", "nothing == 1")) }
        }
    }
}
