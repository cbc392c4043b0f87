import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// Values instead of rows: columns, groups, aggregates (M5, M6).
@Suite struct TupleSpecification {
    private func fill(_ library: SpecifiedSource) throws {
        try library.save { changes in
            changes.insertions = [
                library.insertion("Author", 1, ["name": .string("Ann"), "rating": .double(4.5)]),
                library.insertion("Author", 2, ["name": .string("Bob")]),
                library.insertion("Tag", 1, ["name": .string("red"), "heft": .integer(2)]),
                library.insertion("Tag", 2, ["name": .string("blue"), "heft": .integer(5)]),
                library.insertion(
                    "Book", 1,
                    [
                        "title": .string("One"), "pages": .integer(100), "price": .decimal(Decimal(string: "9.5") ?? 0),
                        "isOut": .integer(1), "published": .date(60), "author": library.reference("Author", 1),
                    ]),
                library.insertion(
                    "Novel", 2,
                    ["title": .string("Two"), "pages": .integer(30), "author": library.reference("Author", 2)]),
                library.insertion("Comic", 3, ["title": .string("One"), "author": library.reference("Author", 1)]),
                library.insertion("Book", 4, ["pages": .integer(30), "isOut": .integer(0)]),
            ]
            changes.links = [
                library.link(.insert, "Book", "tags", 1, 1, order: 1),
                library.link(.insert, "Book", "tags", 1, 2, order: 2),
                library.link(.insert, "Book", "tags", 2, 2, order: 1),
            ]
        }
    }

    private func books(_ library: SpecifiedSource, _ format: String? = nil) throws -> FetchPlan {
        library.sorted(try library.plan("Book", format), by: ["self"])
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func columnsAreTypedAsTheirAttributes(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let tuples = try library.tuples(
                books(library, "SELF == %@", library.key("Book", 1)),
                ["title", "pages", "price", "isOut", "published", "author", "author.name", "author.rating", "SELF"])
            #expect(
                tuples == [
                    [
                        .string("One"), .integer(100), .decimal(Decimal(string: "9.5") ?? 0), .integer(1), .date(60),
                        library.reference("Author", 1), .string("Ann"), .double(4.5), library.reference("Book", 1),
                    ]
                ])
        }
    }

    private func books(_ library: SpecifiedSource, _ format: String, _ key: RowKey) throws -> FetchPlan {
        try library.plan("Book", format, [.constant(.key(key))])
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aRowIsOfItsOwnEntity(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(
                try library.tuples(books(library), ["objectID", "author"]) == [
                    [library.reference("Book", 1), library.reference("Author", 1)],
                    [library.reference("Novel", 2), library.reference("Author", 2)],
                    [library.reference("Comic", 3), library.reference("Author", 1)],
                    [library.reference("Book", 4), .null],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func expressionsAreComputedForEachRow(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let tuples = try library.tuples(
                books(library),
                ["pages * 2 + 1", "tags.@count", "tags.@sum.heft", "uppercase:(title)", "length:(title)", "7"])
            #expect(
                tuples == [
                    [.integer(201), .integer(2), .integer(7), .string("ONE"), .integer(3), .integer(7)],
                    [.integer(61), .integer(1), .integer(5), .string("TWO"), .integer(3), .integer(7)],
                    [.null, .integer(0), .integer(0), .string("ONE"), .integer(3), .integer(7)],
                    [.integer(61), .integer(0), .integer(0), .null, .null, .integer(7)],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func distinctTuplesComeOnce(_ store: SpecifiedStore) throws {  // M6
        try store.check { library in
            try fill(library)
            let plan = try library.plan("Book")
            func sorted(_ by: [String], _ limit: Int = 0, offset: Int = 0) -> FetchPlan {
                library.sorted(plan, by: by, offset: offset, limit: limit)
            }
            #expect(
                try library.tuples(sorted(["title"]), ["title"], distinct: true) == [
                    [.null], [.string("One")], [.string("Two")],
                ])
            #expect(try library.tuples(sorted(["-title"], 1), ["title"], distinct: true) == [[.string("Two")]])
            #expect(
                try library.tuples(sorted(["title"], 2, offset: 1), ["title"], distinct: true) == [
                    [.string("One")], [.string("Two")],
                ])
            #expect(
                try library.tuples(sorted(["author"]), ["author"], distinct: true) == [
                    [.null], [library.reference("Author", 1)], [library.reference("Author", 2)],
                ])
            #expect(try library.tuples(sorted(["title"]), ["title", "pages"], distinct: true).count == 4)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aggregatesAreOfAllRows(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let formats = [
                "sum:(pages)", "min:(pages)", "max:(pages)", "average:(pages)", "count:(pages)", "count:(SELF)",
                "max:(title)", "min:(author.name)", "sum:(price)", "max:(published)",
            ]
            #expect(
                try library.tuples(library.plan("Book"), formats) == [
                    [
                        .integer(160), .integer(30), .integer(100), .double(160.0 / 3), .integer(3), .integer(4),
                        .string("Two"), .string("Ann"), .decimal(Decimal(string: "9.5") ?? 0), .date(60),
                    ]
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aggregatesOfNothingAreOneTuple(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            let formats = [
                "count:(SELF)", "count:(pages)", "min:(pages)", "max:(title)", "sum:(pages)", "average:(pages)",
            ]
            #expect(
                try library.tuples(library.plan("Book"), formats)
                    == [[.integer(0), .integer(0), .null, .null, .integer(0), .null]])
            #expect(try library.tuples(library.plan("Book"), formats, groupBy: ["title"]) == [])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func theAverageOfNothingButNilIsNil(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(try library.tuples(library.plan("Book", "pages == nil"), ["average:(pages)"]) == [[.null]])
            let plan = library.sorted(try library.plan("Book"), by: ["pages"])
            #expect(
                try library.tuples(plan, ["pages", "average:(price)"], groupBy: ["pages"]) == [
                    [.null, .null], [.integer(30), .null],
                    [.integer(100), .decimal(Decimal(string: "9.5") ?? 0)],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func distinctValuesAreAggregatedOnce(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(
                try library.tuples(
                    library.plan("Book"),
                    [
                        "count:(distinct:(pages))", "sum:(distinct:(pages))", "average:(distinct:(pages))",
                        "count:(pages)",
                    ])
                    == [[.integer(2), .integer(130), .double(65), .integer(3)]])
            #expect(
                try library.tuples(
                    library.sorted(library.plan("Book"), by: ["title"]), ["title", "count:(distinct:(author.name))"],
                    groupBy: ["title"]) == [
                        [.null, .integer(0)], [.string("One"), .integer(1)], [.string("Two"), .integer(1)],
                    ])
            #expect(
                try library.tuples(books(library), ["count:(distinct:(tags.heft))"]) == [
                    [.integer(2)], [.integer(1)], [.integer(0)], [.integer(0)],
                ])
        }
    }

    /// A function of what one row has many of is of that row, and one of what each row has one of is of all rows.
    @Test(arguments: SpecifiedStore.having(.rows))
    func functionsOfCollectionsAreOfEachRow(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(
                try library.tuples(
                    books(library),
                    ["count:(tags)", "sum:(tags.heft)", "max:(tags.name)", "count:(SUBQUERY(tags, $t, $t.heft > 2))"])
                    == [
                        [.integer(2), .integer(7), .string("red"), .integer(1)],
                        [.integer(1), .integer(5), .string("blue"), .integer(1)],
                        [.integer(0), .integer(0), .null, .integer(0)], [.integer(0), .integer(0), .null, .integer(0)],
                    ])
            #expect(
                try library.tuples(
                    library.plan("Book"),
                    ["sum:(tags.@count)", "max:(tags.@sum.heft)", "sum:(SUBQUERY(tags, $t, $t.heft > 2).@count)"])
                    == [[.integer(3), .integer(7), .integer(2)]])
            let plan = library.sorted(try library.plan("Book"), by: ["title"])
            #expect(
                try library.tuples(plan, ["title", "sum:(tags.@count)"], groupBy: ["title"]) == [
                    [.null, .integer(0)], [.string("One"), .integer(2)], [.string("Two"), .integer(1)],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func groupsHaveTheirAggregates(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let plan = library.sorted(try library.plan("Book"), by: ["title"])
            let formats = ["title", "n: count:(SELF)", "total: sum:(pages)", "max:(pages)"]
            #expect(
                try library.tuples(plan, formats, groupBy: ["title"]) == [
                    [.null, .integer(1), .integer(30), .integer(30)],
                    [.string("One"), .integer(2), .integer(100), .integer(100)],
                    [.string("Two"), .integer(1), .integer(30), .integer(30)],
                ])
            let byAuthor = library.sorted(try library.plan("Book", "author != nil"), by: ["author.name"])
            #expect(
                try library.tuples(byAuthor, ["author.name", "count:(SELF)"], groupBy: ["author.name"])
                    == [[.string("Ann"), .integer(2)], [.string("Bob"), .integer(1)]])
            let byRow = library.sorted(try library.plan("Book"), by: ["author"])
            #expect(
                try library.tuples(byRow, ["author", "count:(SELF)"], groupBy: ["author"]) == [
                    [.null, .integer(1)], [library.reference("Author", 1), .integer(2)],
                    [library.reference("Author", 2), .integer(1)],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func groupsAreSelectedSortedAndCounted(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let formats = ["title", "n: count:(SELF)", "total: sum:(pages)"]
            let plan = try library.plan("Book")
            func tuples(_ by: [String], having: String? = nil, offset: Int = 0, limit: Int = 0) throws -> [Value] {
                try library.tuples(
                    library.sorted(plan, by: by, offset: offset, limit: limit), formats, groupBy: ["title"],
                    having: having
                ).map { $0[0] }
            }
            #expect(try tuples(["-total", "title"]) == [.string("One"), .null, .string("Two")])
            #expect(try tuples(["-title"], having: "$n > 1") == [.string("One")])
            #expect(try tuples(["-title"], having: "sum:(pages) == 30") == [.string("Two"), .null])
            #expect(
                try tuples(["title"], having: "title == 'Two' OR $total == 100") == [.string("One"), .string("Two")])
            #expect(try tuples(["title"], offset: 1, limit: 1) == [.string("One")])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsOfSeveralEntitiesMakeGroups(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            try library.save { changes in
                let books: [Value] = [
                    library.reference("Book", 1), library.reference("Novel", 2), library.reference("Novel", 2), .null,
                ]
                changes.insertions = books.enumerated().map {
                    library.insertion("Chapter", Int64($0 + 1), ["length": .integer(Int64($0)), "book": $1])
                }
            }
            let plan = library.sorted(try library.plan("Chapter"), by: ["book"])
            #expect(
                try library.tuples(plan, ["book", "sum:(length)"], groupBy: ["book"]) == [
                    [.null, .integer(3)], [library.reference("Book", 1), .integer(0)],
                    [library.reference("Novel", 2), .integer(3)],
                ])
            let byAuthor = library.sorted(try library.plan("Chapter", "book != nil"), by: ["book.author.name"])
            #expect(
                try library.tuples(
                    byAuthor, ["book", "book.author.name", "count:(SELF)"], groupBy: ["book", "book.author.name"])
                    == [
                        [library.reference("Book", 1), .string("Ann"), .integer(1)],
                        [library.reference("Novel", 2), .string("Bob"), .integer(2)],
                    ])
            let byRow = library.sorted(try library.plan("Book"), by: ["self"])
            #expect(
                try library.tuples(byRow, ["SELF", "count:(SELF)"], groupBy: ["SELF"]).map { $0[0] } == [
                    library.reference("Book", 1), library.reference("Novel", 2), library.reference("Comic", 3),
                    library.reference("Book", 4),
                ])
        }
    }

    /// Of several rows it would be that of any.
    @Test(arguments: SpecifiedStore.having(.rows))
    func whatStandsBesideAnAggregateIsOfARowOfTheGroup(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let two = try library.plan("Book", "title == 'Two'")
            #expect(
                try library.tuples(two, ["title", "author", "sum:(pages)"]) == [
                    [.string("Two"), library.reference("Author", 2), .integer(30)]
                ])
            let some = try library.plan("Book", "NOT SELF == %@", [.constant(.key(library.key("Comic", 3)))])
            #expect(
                try library.tuples(
                    library.sorted(some, by: ["-pages", "title"]), ["title", "count:(SELF)"], groupBy: ["title"]
                )
                .map { $0[0] } == [.string("One"), .null, .string("Two")])
            #expect(
                try library.tuples(library.sorted(some, by: ["-pages", "author"]), ["title"], distinct: true)
                    == [[.string("One")], [.null], [.string("Two")]])
            #expect(
                try library.tuples(
                    some, ["max:(title)", "TERNARY(pages > 50, 1, 2)"], groupBy: ["TERNARY(pages > 50, 1, 2)"]
                ).map { $0[1] }.sorted { a, _ in a == .integer(1) } == [.integer(1), .integer(2)])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func severalExpressionsMakeAGroup(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let plan = library.sorted(try library.plan("Book"), by: ["pages", "isOut"])
            #expect(
                try library.tuples(plan, ["pages", "isOut", "count:(SELF)"], groupBy: ["pages", "isOut"]) == [
                    [.null, .null, .integer(1)], [.integer(30), .null, .integer(1)],
                    [.integer(30), .integer(0), .integer(1)], [.integer(100), .integer(1), .integer(1)],
                ])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func whatHasNoOneValueIsAFailure(_ store: SpecifiedStore) throws {  // M6
        try store.check { library in
            try fill(library)
            let plan = try library.plan("Book")
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, ["tags"]) }
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, ["nothing"]) }
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, ["note"]) }
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, []) }
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, ["title"], having: "title == 'One'") }
            #expect(throws: PredicateFailure.self) {
                try library.tuples(plan, ["title", "pages"], groupBy: ["title"])
            }
            #expect(throws: PredicateFailure.self) { try library.tuples(plan, ["count:(SELF)"], groupBy: ["tags"]) }
        }
    }
}
