import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// Whole numbers, doubles and decimals are held against one another by what they are, also where a double has not every whole number.
@Suite struct MixedNumberSpecification {
    private static let model: CompiledModel = {
        let entity = Entity("Pair").attribute("whole", .integer64).attribute("real", .double)
            .attribute("exact", .decimal)
        do { return try ModelCompiler.compile(document([entity])) } catch { preconditionFailure("\(error)") }
    }()

    private static let wholes: [Value] = {
        let edge: Int64 = 1 << 53
        let numbers: [Int64] = [0, 2, 3, edge, edge + 1, edge + 2, -edge - 1, .max - 1, .max, .min]
        return [.null] + numbers.map { Value.integer($0) }
    }()
    private static let reals: [Value] = {
        let numbers: [Double] = [
            0, 2.5, 3, 0x1p53, 0x1p53 + 2, -0x1p53, 0x1p63, -0x1p63, 1e300, .infinity, -.infinity,
        ]
        return [.null] + numbers.map { Value.double($0) }
    }()

    private static let pairs: [(whole: Value, real: Value)] = wholes.flatMap { whole in
        reals.map { (whole, $0) }
    }

    private static func holds(_ a: Value, _ comparison: String, _ b: Value) -> Bool {
        let order = Numbers.order(a, b)
        switch comparison {
        case "==": return a.isNull && b.isNull || order == 0
        case "!=": return !(a.isNull && b.isNull || order == 0)
        case "<": return order.map { $0 < 0 } ?? false
        case "<=": return order.map { $0 <= 0 } ?? false
        case ">": return order.map { $0 > 0 } ?? false
        default: return order.map { $0 >= 0 } ?? false
        }
    }

    private func fill(_ source: SpecifiedSource) throws {
        try source.save { changes in
            changes.insertions = Self.pairs.enumerated().map {
                source.insertion("Pair", Int64($0 + 1), ["whole": $1.whole, "real": $1.real])
            }
        }
    }

    private func check(
        _ source: SpecifiedSource, _ format: String, _ constants: [Value], _ expected: (Value, Value) -> Bool
    ) throws {
        let wanted = Self.pairs.indices.filter { expected(Self.pairs[$0].whole, Self.pairs[$0].real) }
        let arguments = constants.map { FormatArgument.constant(.value($0)) }
        for (text, keys) in [
            (format, wanted), ("NOT (\(format))", Self.pairs.indices.filter { !wanted.contains($0) }),
        ] {
            let found = try source.keys("Pair", text, arguments).map { Int($0) - 1 }
            #expect(
                found == keys, "\(text) \(constants): \(Set(found).symmetricDifference(keys).map { Self.pairs[$0] })")
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func attributesAreComparedByWhatTheyAre(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            try fill(source)
            for comparison in ["==", "!=", "<", "<=", ">", ">="] {
                try check(source, "whole \(comparison) real", []) { Self.holds($0, comparison, $1) }
                try check(source, "real \(comparison) whole", []) { Self.holds($1, comparison, $0) }
            }
            try check(source, "whole IN {real}", []) { !$0.isNull && Self.holds($0, "==", $1) }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func constantsAreComparedByWhatTheyAre(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            try fill(source)
            let exact = try #require(Decimal(string: "9007199254740993"))
            for comparison in ["==", "!=", "<", "<=", ">", ">="] {
                for constant in Self.reals.dropFirst() {
                    try check(source, "whole \(comparison) %@", [constant]) { a, _ in
                        Self.holds(a, comparison, constant)
                    }
                    try check(source, "%@ \(comparison) whole", [constant]) { a, _ in
                        Self.holds(constant, comparison, a)
                    }
                }
                for constant in Self.wholes.dropFirst() + [.decimal(exact)] {
                    try check(source, "real \(comparison) %@", [constant]) { _, b in Self.holds(b, comparison, constant)
                    }
                    try check(source, "%@ \(comparison) real", [constant]) { _, b in Self.holds(constant, comparison, b)
                    }
                }
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func listsAndRangesAreOfWhatTheyAre(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            try fill(source)
            let reals: [Value] = [.double(0x1p53), .double(2.5), .double(3), .double(.infinity), .double(0x1p63)]
            try check(source, "whole IN {%@, %@, %@, %@, %@}", reals) { a, _ in
                reals.contains { Self.holds(a, "==", $0) }
            }
            let wholes: [Value] = [.integer(1 << 53 + 1), .integer(.max), .integer(3), .integer(1 << 53 + 2)]
            try check(source, "real IN {%@, %@, %@, %@}", wholes) { _, b in
                wholes.contains { Self.holds(b, "==", $0) }
            }
            try check(source, "whole BETWEEN {%@, %@}", [.double(2.5), .double(0x1p53)]) { a, _ in
                Self.holds(a, ">=", .double(2.5)) && Self.holds(a, "<=", .double(0x1p53))
            }
            try check(source, "real BETWEEN {%@, %@}", [.integer(3), .integer(1 << 53 + 1)]) { _, b in
                Self.holds(b, ">=", .integer(3)) && Self.holds(b, "<=", .integer(1 << 53 + 1))
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aDecimalIsHeldAgainstADoubleByItsDigits(_ store: SpecifiedStore) throws {
        try store.check(Self.model) { source in
            let values = ["9.99", "0.1", "-2.5", "3"].compactMap { Decimal(string: $0) }
            try source.save { changes in
                changes.insertions = values.enumerated().map {
                    source.insertion("Pair", Int64($0 + 1), ["exact": .decimal($1)])
                }
            }
            for (index, double) in [9.99, 0.1, -2.5, 3].enumerated() {
                let constant = FormatArgument.constant(.value(.double(double)))
                #expect(try source.keys("Pair", "exact == %@", [constant]) == [Int64(index + 1)])
                #expect(try source.keys("Pair", "exact IN {%@}", [constant]) == [Int64(index + 1)])
            }
        }
    }
}
