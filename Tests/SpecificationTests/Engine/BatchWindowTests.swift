import CoreDataPrimitives
import CoreDataStore
import StoreTestSupport
import Testing

/// Which rows a batch request is of, where a database cannot say it all and memory does the rest in portions.
@Suite struct BatchWindowTests {
    static let stores: [SpecifiedStore] = [.sqliteMemory, .sqliteLackingMuch]

    @Test(
        arguments: stores,
        [
            ("title LIKE 'b*7'", ["-pages", "self"], 30, 0),
            ("title LIKE 'b*7'", ["-pages", "self"], 30, 60), ("title LIKE 'b*'", ["self"], 700, 550),
            ("title LIKE 'b*'", ["-self"], 0, 1_100), (nil, ["title localizedStandardCompare:", "-self"], 520, 3),
            (nil, ["title localizedStandardCompare:", "self"], 0, 1_000), ("title LIKE 'x*'", ["self"], 5, 0),
            ("pages > 900 AND title LIKE '*5'", ["-title localizedStandardCompare:", "self"], 4, 2),
            (nil, ["title localizedStandardCompare:", "self"], Int.max, 1_190),
            ("title LIKE 'b*'", ["self"], Int.max, 1_190),
            ("title LIKE 'b*'", ["-pages", "self"], 2, Int.max),
        ] as [(String?, [String], Int, Int)])
    func windowsAreThoseOfAFetch(_ store: SpecifiedStore, _ asked: (String?, [String], Int, Int)) throws {  // N3
        let (format, sorts, limit, offset) = asked
        try store.check { library in
            try library.save { changes in
                changes.insertions = (1...1_200).map {
                    library.insertion(
                        $0 % 3 == 0 ? "Novel" : "Book", Int64($0),
                        ["title": .string("b\(($0 * 7919) % 1_200)"), "pages": .integer(Int64($0))])
                }
            }
            guard let engine = library.source as? StoreEngine else { return }
            var plan = try library.plan("Book", format)
            plan = library.sorted(plan, by: sorts)
            (plan.limit, plan.offset) = (limit, offset)
            let expected = Set(try engine.keys(plan))
            let (count, keys) = try engine.batch(origin: ChangeOrigin()) { try $0.delete(plan, wantsKeys: true) }
            #expect(count == expected.count && Set(keys) == expected)
            #expect(try engine.count(try library.plan("Book")) == 1_200 - expected.count)
        }
    }
}
