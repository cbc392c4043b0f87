import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport
import Testing

/// Values of every type come back as they went in, also those at the edges, and a predicate finds them.
@Suite struct ValueSpecification {
    private static let model: CompiledModel = {
        let types: [(String, AttributeType)] = [
            ("integer16", .integer16), ("integer32", .integer32), ("integer64", .integer64), ("boolean", .boolean),
            ("double", .double), ("float", .float), ("decimal", .decimal), ("string", .string), ("date", .date),
            ("data", .binaryData), ("uuid", .uuid), ("uri", .uri), ("transformable", .transformable),
        ]
        let entity = types.reduce(Entity("Sample")) { $0.attribute($1.0, $1.1) }
            .attribute("external", .binaryData, external: true)
        do { return try ModelCompiler.compile(document([entity])) } catch { preconditionFailure("\(error)") }
    }()

    private static let first = "00000000-0000-4000-8000-0000000000FF"
    private static let last = "A0000000-0000-4000-8000-000000000000"

    @Test(arguments: SpecifiedStore.having(.rows))
    func valuesThatHaveAnOrderHaveAFirstAndALast(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            try source.save { changes in
                changes.insertions = [
                    source.insertion("Sample", 1, ["uuid": Self.uuid(Self.last), "data": .data(Data([1, 2]))]),
                    source.insertion("Sample", 2, ["uuid": Self.uuid(Self.first), "data": .data(Data([1]))]),
                    source.insertion("Sample", 3, ["string": .string("none")]),
                    source.insertion("Sample", 4, ["uuid": Self.uuid(Self.last), "data": .data(Data([0x80]))]),
                ]
            }
            let plan = try source.plan("Sample")
            #expect(
                try source.tuples(plan, ["min:(uuid)", "max:(uuid)", "min:(data)", "max:(data)"]) == [
                    [Self.uuid(Self.first), Self.uuid(Self.last), .data(Data([1])), .data(Data([0x80]))]
                ])
            let nothing = try source.plan("Sample", "string == 'none'")
            #expect(
                try source.tuples(nothing, ["min:(uuid)", "max:(data)", "mode:(double)", "stddev:(double)"])
                    == [[.null, .null, .null, .null]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func theModeOfAGroupIsItsMostFrequentValue(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            try source.save { changes in
                changes.insertions = [2.5, 1.5, 2.5, 1.5, 9].enumerated().map {
                    source.insertion(
                        "Sample", Int64($0 + 1), ["double": .double($1), "integer64": .integer(Int64($0))])
                }
            }
            let plan = try source.plan("Sample")
            #expect(
                try source.tuples(plan, ["mode:(double)", "max:(double)", "mode:(integer64)"])
                    == [[.double(1.5), .double(9), .integer(0)]])
            let deviation = try #require(try source.tuples(plan, ["stddev:(integer64)"]).first?.first)
            #expect(deviation == .double(2.0.squareRoot()))
            try source.insert(source.insertion("Sample", 6, ["double": .double(.infinity)]))
            #expect(try source.tuples(plan, ["stddev:(double)"]) == [[.null]])
        }
    }

    private static func uuid(_ text: String) -> Value { UUID(uuidString: text).map { .uuid($0) } ?? .null }
    private static func decimal(_ text: String) -> Value { Decimal(string: text).map { .decimal($0) } ?? .null }

    static let samples: [(String, [Value])] = [
        ("integer16", [.integer(0), .integer(-1), .integer(Int64(Int16.max)), .integer(Int64(Int16.min))]),
        ("integer32", [.integer(0), .integer(Int64(Int32.max)), .integer(Int64(Int32.min))]),
        ("integer64", [.integer(0), .integer(.max), .integer(.min), .integer(1 << 53 + 1)]),
        ("boolean", [.integer(0), .integer(1)]),
        (
            "double",
            [
                .double(0), .double(-0.0), .double(0.1), .double(-1.5), .double(.infinity), .double(-.infinity),
                .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .double(.pi), .double(1e15 + 0.5),
                .double(1e300),
            ]
        ),
        ("float", [.double(Double(Float.greatestFiniteMagnitude)), .double(Double(Float(0.1))), .double(3)]),
        (
            "decimal",
            ["0", "1", "-1", "9.99", "0.1", "123456789012.345", "-0.000001", "1e20", "1234567890123"].map(decimal)
        ),
        (
            "string",
            [
                "", " ", "a", "é", "e\u{301}", "日本語", "👩‍👩‍👧", "\u{10FFFF}", "\u{FFFD}", "a\0b", "\0", "'", "\"", "%_*?\\",
                "line\r\nline", "123", "1e5", "null", String(repeating: "x", count: 70_000),
            ].map { .string($0) }
        ),
        (
            "date",
            [0, 0.5, -978_307_200, 1e-9, 737_057_646.843063, 63_113_904_000, -63_114_076_800, 4e15, -4e15].map {
                .date($0)
            }
        ),
        (
            "data",
            [
                Data(), Data([0]), Data([1, 2]), Data([2, 0]), Data(0...255), Data(repeating: 7, count: 200_000),
            ].map { .data($0) }
        ),
        (
            "external",
            [
                Data(), Data([1]), Data([2]), Data("\u{2}0123456789ABCDEF0123456789ABCDEF0123\0".utf8),
                Data(repeating: 9, count: 300_000),
            ].map { .data($0) }
        ),
        (
            "uuid",
            [
                "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
                "12345678-9ABC-DEF0-1234-56789ABCDEF0",
            ].map(uuid)
        ),
        (
            "uri",
            ["https://example.org/a?b=c#d", "file:///tmp/a%20b", "", "x-coredata://A/B/p1", "mailto:ä@ö"].map {
                .uri($0)
            }
        ),
        ("transformable", [Data("bplist00".utf8), Data(), Data([0, 1])].map { .data($0) }),
    ]

    /// Values that mean the same as they are stored.
    private func isSame(_ a: Value, _ b: Value) -> Bool {
        if case .double(let a) = a, case .double(let b) = b { return a == b || a.isNaN && b.isNaN }
        return a == b
    }

    @Test(arguments: SpecifiedStore.having(.rows), samples)
    func whatWentInComesBack(_ store: SpecifiedStore, _ sample: (String, [Value])) throws {
        let name = sample.0
        let values = sample.1.filter { store.keeps($0) }
        try store.check(Self.model) { samples in
            try samples.save {
                $0.insertions = values.enumerated().map { samples.insertion("Sample", Int64($0 + 1), [name: $1]) }
                $0.insertions.append(samples.insertion("Sample", 1000))
            }
            let plan = samples.sorted(try samples.plan("Sample"), by: ["self"])
            let found = try samples.rows(plan).map { samples.value(name, of: $0) }
            #expect(found.count == values.count + 1 && found.last == .null)
            for (value, found) in zip(values, found) { #expect(isSame(found, value), "\(value)") }
            // What has its bytes elsewhere is no column of a tuple.
            guard name != "external" else { return }
            let columns = try samples.tuples(plan, [name]).map { $0[0] }
            #expect(columns.last == .null)
            for (value, found) in zip(values, columns) { #expect(isSame(found, value), "\(value)") }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows), samples.filter { !["external", "transformable"].contains($0.0) })
    func aPredicateFindsEveryValue(_ store: SpecifiedStore, _ sample: (String, [Value])) throws {
        let name = sample.0
        let values = sample.1.filter { store.keeps($0) }
        try store.check(Self.model) { samples in
            try samples.save {
                $0.insertions = values.enumerated().map { samples.insertion("Sample", Int64($0 + 1), [name: $1]) }
                $0.insertions.append(samples.insertion("Sample", 1000))
            }
            for (index, value) in values.enumerated() {
                let equal = try samples.keys("Sample", "\(name) == %@", [.constant(.value(value))])
                #expect(equal.contains(Int64(index + 1)) && !equal.contains(1000), "\(value)")
                let list = Constant.collection([.value(value), .value(.null)], isOrdered: true)
                let among = try samples.keys("Sample", "\(name) IN %@", [.constant(list)])
                #expect(among.contains(Int64(index + 1)), "\(value)")
                let different = try samples.keys("Sample", "\(name) != %@", [.constant(.value(value))])
                #expect(Set(equal).isDisjoint(with: different))
                #expect(equal.count + different.count == values.count + 1)
            }
            #expect(try samples.keys("Sample", "\(name) == nil") == [1000])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anUpdateReplacesEveryType(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { samples in
            let first = Dictionary(uniqueKeysWithValues: Self.samples.map { ($0.0, $0.1[0]) })
            let last = Dictionary(
                uniqueKeysWithValues: Self.samples.map { name, values in
                    (name, values.last { store.keeps($0) } ?? .null)
                })
            try samples.insert(samples.insertion("Sample", 1, first))
            try samples.save { $0.updates = [samples.update("Sample", 1, first, last)] }
            for (name, value) in last { #expect(try samples.value(name, of: "Sample", 1) == value, "\(name)") }
            try samples.save { $0.updates = [samples.update("Sample", 1, version: 2, last, [:])] }
            for name in last.keys { #expect(try samples.value(name, of: "Sample", 1) == .null, "\(name)") }
        }
    }

    /// The source, without the rows that it remembers.
    private func forgetting(_ samples: SpecifiedSource, _ body: () throws -> Value) throws -> Value {
        samples.source.rowCache.removeAll()
        return try body()
    }

    @Test(
        arguments: SpecifiedStore.having(.rows),
        [
            ("12345678901234567890123456789012345678", "12345678901234600000000000000000000000"),
            ("0.00000000000000000000123456789012345678", "0.00000000000000000000123456789012346"),
        ])
    func decimalsKeepEveryDigit(_ store: SpecifiedStore, _ digits: (all: String, fifteen: String)) throws {  // S8
        try store.check(Self.model) { samples in
            let value = Self.decimal(digits.all)
            try samples.insert(samples.insertion("Sample", 1, ["decimal": value]))
            let kept = store.has(.exactDecimals) ? value : Self.decimal(digits.fifteen)
            #expect(try forgetting(samples) { try samples.value("decimal", of: "Sample", 1) } == kept)
            #expect(try samples.keys("Sample", "decimal == %@", [.constant(.value(value))]) == [1])
        }
    }

    /// What a store makes of a date is the same for rows, predicates, and what is told of a save.
    @Test(arguments: SpecifiedStore.having(.rows))
    func aDateIsFoundByTheDateThatWasSaved(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { samples in
            var numbers = SeededNumbers(seed: store.seeds(16)[0])
            let dates = (0..<50).map { _ in
                Double(numbers.below(1 << 40)) / 1000 - 2e8 + 1e-7 * Double(numbers.below(99))
            }
            try samples.save {
                $0.insertions = dates.enumerated().map {
                    samples.insertion("Sample", Int64($0 + 1), ["date": .date($1)])
                }
            }
            for (index, date) in dates.enumerated() {
                let key = Int64(index + 1)
                let found = try samples.keys("Sample", "date == %@", [.constant(.value(.date(date)))])
                #expect(found.contains(key), "\(date)")
                let later = try samples.keys(
                    "Sample", "date >= %@ AND self == %@",
                    [.constant(.value(.date(date))), .constant(.key(samples.key("Sample", key)))])
                #expect(later == [key])
                guard case .date(let kept) = try forgetting(samples, { try samples.value("date", of: "Sample", key) })
                else {
                    Issue.record("no date")
                    return
                }
                #expect(abs(kept - date) <= 0.6e-6)
                // Once kept, it stays.
                try samples.save {
                    $0.updates = [samples.update("Sample", key, ["date": .date(date)], ["date": .date(kept)])]
                }
                #expect(try forgetting(samples) { try samples.value("date", of: "Sample", key) } == .date(kept))
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func whatIsNoNumberStaysSo(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { samples in
            try samples.insert(samples.insertion("Sample", 1, ["double": .double(.nan)]))
            let found = try forgetting(samples) { try samples.value("double", of: "Sample", 1) }
            #expect(isSame(found, store.has(.notANumber) ? .double(.nan) : .null))
        }
    }
}
