import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreDataPredicate

@Suite struct PredicateParserTests {
    @Test func argumentsTakeTheirPlaces() throws {  // predicates §1
        let table: [(String, [FormatArgument], String)] = [
            ("name == %@", [.string("Bob")], "name == \"Bob\""),
            ("%K == %@", [.string("a.b"), .integer(1)], "a.b == 1"),
            ("%K.c == 1", [.string("a.b")], "a.b.c == 1"), ("$x.%K == 1", [.string("a")], "$x.a == 1"),
            ("SELF.%K == 1", [.string("a")], "a == 1"), ("%K == 1", [.string("SELF.a")], "a == 1"),
            ("%K == 1", [.string("self")], "SELF == 1"),
            ("%K.@count > 0", [.string("items")], "items.@count > 0"),
            ("items.@sum.%K > 0", [.string("price.net")], "items.@sum.price.net > 0"),
            ("a == %d", [.integer(5)], "a == 5"),
            ("a == %ld AND b == %lu", [.integer(5), .double(6.9)], "a == 5 AND b == 6"),
            ("a == %f", [.integer(5)], "a == 5.0"), ("a == %g", [.double(2.5)], "a == 2.5"),
            ("a == %lld", [.integer(-1)], "a == -1"),
            (
                "a == %i OR a == %u OR a == %hd OR a == %qu OR a == %zd OR a == %x", (1...6).map { .integer($0) },
                "a == 1 OR a == 2 OR a == 3 OR a == 4 OR a == 5 OR a == 6"
            ),
            ("a == %s", [.string("x")], "a == \"x\""), ("a == -%d", [.integer(5)], "a == -5"),
            ("%@ == %@", [.integer(1), .constant(.value(.null))], "1 == nil"),
            (
                "a IN %@", [.constant(.collection([.value(.integer(1)), .value(.string("x"))], isOrdered: true))],
                "a IN {1, \"x\"}"
            ),
            ("a == '%@' AND b == %@", [.string("x")], "a == \"%@\" AND b == \"x\""),
            ("a == %@", [.integer(1), .integer(2)], "a == 1"),
            ("a == %@", [.expression(.keyPath(operand: .evaluatedObject, ["b"]))], "a == b"),
            ("%K == 1", [.string("size")], "#size == 1"),
            ("%K == 1", [.string("two words")], "#\"two words\" == 1"),
            ("ANY %K IN %@", [.string("a.b"), .constant(.collection([], isOrdered: true))], "ANY a.b IN {}"),
            ("%K BETWEEN {%d, %d}", [.string("a"), .integer(1), .integer(2)], "a BETWEEN {1, 2}"),
            (
                "SUBQUERY(%K, $x, $x.%K == %@).@count == %d", [.string("a"), .string("b"), .string("c"), .integer(2)],
                "SUBQUERY(a, $x, $x.b == \"c\").@count == 2"
            ),
            ("a == %@", [.constant(.value(.date(0)))], "a == CAST(0.000000, \"NSDate\")"),
        ]
        for (format, arguments, expected) in table {
            #expect(try parse(format, arguments).predicateFormat == expected, "\(format)")
        }
    }

    /// A wrong format, the column of the fault, and a part of the message or the hint.
    @Test(
        arguments: [
            ("", 1, "expected a value"), ("a", 1, "not a predicate"), ("isActive", 1, "isActive == YES"),
            ("a ==", 5, "the end of the format"),
            ("a == 1 AND", 11, "the end of the format"), ("a == 1 b == 2", 8, "unexpected 'b'"),
            ("a == 1 == 2", 8, "cannot be chained"),
            ("(a == 1", 8, "expected ')'"), ("a == 1)", 7, "unexpected ')'"), ("a == 'x", 6, "has no end"),
            ("a == \"x", 6, "has no end"),
            ("a IN {1, 2", 11, "expected ',' or '}'"), ("a IN {1,, 2}", 9, "expected a value"),
            ("size > 3", 1, "#size"),
            ("a == first", 6, "#first"), ("a CONTAINS[x] 'b'", 12, "not an option"),
            ("a CONTAINS[c 'b'", 14, "expected options"),
            ("a == %@", 6, "no argument"), ("a == %d", 6, "no argument"), ("a == %q", 6, "not a placeholder"),
            ("a == % d", 6, "not a placeholder"),
            ("a == %%", 6, "not a placeholder"), ("foo(a) == 1", 1, "no function 'foo'"),
            ("modulus:by:(a) == 1", 1, "takes 2"),
            ("a.1 == 2", 3, "expected a key"), ("a. == 2", 4, "expected a key"), ("a == 12abc", 6, "neither a number"),
            ("a == 0xZZ", 6, "not a number"),
            ("SUBQUERY(a, x, x == 1).@count == 1", 13, "is a variable"),
            ("SUBQUERY(a, $x).@count == 1", 15, "expected ','"),
            ("SUBQUERY(a, $x, $x).@count == 1", 19, "expected a comparison operator"),
            ("CAST(a) == 1", 7, "expected ','"), ("CAST(a, b) == 1", 9, "type's name"),
            ("TERNARY(a, b, c) == 1", 10, "expected a comparison operator"),
            ("FUNCTION(a, b) == 1", 13, "selector in quotes"),
            ("a === 1", 5, "expected a value"), ("a ? b", 3, "unexpected character"), ("$ == 1", 1, "a variable"),
            ("@ == 1", 1, "collection operator"),
            ("# == 1", 1, "a key"), ("ANY a", 6, "needs a comparison"), ("ANY (a == 1)", 5, "before a comparison"),
            ("NOT", 4, "expected a value"),
            ("a UTI-CONFORMS-TO 'x'", 3, "uniform type"), ("a AND b == 1", 3, "comparison operator"),
            ("a == (b == 1)", 6, "found a predicate"), ("AND a == 1", 1, "reserved word"),
            ("(a == 1) + 2 == 3", 10, "unexpected '+'"), ("x[ == 1", 4, "expected a value"),
            ("x[1 == 1", 5, "expected ']'"), ("FETCH(a, b, c) == 1", 13, "YES or NO"),
            ("a == '\\uZZZZ'", 9, "number of a character"), ("a BETWEEN", 10, "the end"),
            ("a == 1,", 7, "unexpected ','"),
        ] as [(String, Int, String)])
    func wrongFormatsAreExplained(format: String, column: Int, expected: String) throws {
        let failure = try #require(throws: PredicateFailure.self) { try parse(format) }
        #expect(failure.kind == .syntax)
        #expect(failure.diagnostic.location?.line == 1)
        #expect(failure.diagnostic.location?.column == column)
        #expect(failure.diagnostic.sourceLine == format)
        let text = failure.diagnostic.message + " " + (failure.diagnostic.hint ?? "")
        #expect(text.contains(expected), "\(text)")
    }

    @Test func theCaretStandsUnderTheFault() throws {
        let failure = try #require(throws: PredicateFailure.self) { try parse("name == 'é' AND\n  größe >> > 3") }
        #expect(
            failure.diagnostic.rendered == """
                2:12: error: expected a value, a key or a function, found '>'
                      größe >> > 3
                               ^
                """)
    }

    @Test func wrongArgumentsAreExplained() throws {
        let table: [(String, [FormatArgument], String)] = [
            ("%K == 1", [.integer(1)], "as a string"), ("%K == 1", [.string("a..b")], "not a key path"),
            ("a == %d", [.string("5")], "not a number"),
            ("a == %f", [.constant(.value(.null))], "not a number"), ("a == %s", [.integer(1)], "not a string"),
            ("a == %@ AND b == %@", [.integer(1)], "given 1 argument"),
        ]
        for (format, arguments, expected) in table {
            let failure = try #require(throws: PredicateFailure.self) { try parse(format, arguments) }
            #expect((failure.diagnostic.message + (failure.diagnostic.hint ?? "")).contains(expected), "\(format)")
        }
    }

    @Test(arguments: [
        "(", "NOT ", "!", "-", "~", "{", "a[", "a ** ", "SUBQUERY(", "TERNARY(", "abs(", "$x := ", "(a == 1 AND ",
    ])
    func deepNestingIsAnErrorAndNotACrash(opening: String) {
        let text = String(repeating: opening, count: 3000)
        #expect(throws: PredicateFailure.self) { try parse(text) }
        #expect(throws: PredicateFailure.self) { try parse(text + "a == 1") }
    }

    @Test func longChainsAreReadFlat() throws {
        let text = (0..<5000).map { "a == \($0)" }.joined(separator: " OR ")
        guard case .or(let nodes) = try parse(text) else {
            Issue.record("not a disjunction")
            return
        }
        #expect(nodes.count == 5000)
        #expect(throws: PredicateFailure.self) { try parse(String(repeating: "a + ", count: 5000) + "a == 1") }
    }

    @Test func randomTokensNeverCrashTheParser() {
        let pieces = [
            "a", "b.c", "(", ")", "{", "}", "[", "]", ",", ".", "==", "!=", "<", ">", "<=", "<>", "AND", "OR", "NOT",
            "!", "IN", "LIKE",
            "CONTAINS", "[cd]", "BETWEEN", "ANY", "ALL", "NONE", "'x'", "\"y\"", "'", "1", "2.5", "0x1", "-", "+", "*",
            "**", "/", "&", "|",
            "^", "~", "<<", ">>", "%@", "%K", "%d", "%", "$x", "$", "@count", "@", "#size", "#", "SELF", "nil",
            "TRUEPREDICATE", "SUBQUERY(",
            "TERNARY(", "FUNCTION(", "CAST(", "FETCH(", "now()", "sum(", "max:(", "modulus:by:(", ":", ":=", "UNION",
            "MINUS", "FIRST", "LAST",
            "UTI-EQUALS", "é", "😀", "\u{0}", "\n", "\\", "<0a>", "9223372036854775808", "1e999", "NULL", "YES",
        ]
        var random = SplitMix(state: 2024)
        var parsed = 0
        for _ in 0..<6000 {
            let count = Int.random(in: 1...14, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            guard let node = try? parse(text, [.integer(1), .string("k"), .string("v")]) else { continue }
            parsed += 1
            let printed = node.predicateFormat
            #expect((try? parse(printed)) == node, "\(text) → \(printed)")
            _ = try? PredicateEvaluator(node).evaluate(.object(book))
        }
        #expect(parsed > 4)
    }

    @Test func randomTreesPrintAndReadBack() throws {
        var random = SplitMix(state: 99)
        for _ in 0..<1000 {
            let node = randomPredicate(4, &random)
            #expect(try parse(node.predicateFormat) == node, "\(node.predicateFormat)")
            _ = try? PredicateEvaluator(node).evaluate(.object(book))
        }
    }

    private func randomPredicate(_ depth: Int, _ random: inout SplitMix) -> PredicateNode {
        switch depth == 0 ? 0 : Int.random(in: 0...5, using: &random) {
        case 1:
            return .and((0..<Int.random(in: 2...3, using: &random)).map { _ in randomPredicate(depth - 1, &random) })
        case 2: return .or((0..<Int.random(in: 2...3, using: &random)).map { _ in randomPredicate(depth - 1, &random) })
        case 3: return .not(randomPredicate(depth - 1, &random))
        case 4: return .constant(Bool.random(using: &random))
        default:
            let comparators: [PredicateNode.Comparator] = [
                .lessThan, .equalTo, .notEqualTo, .like, .matches, .contains, .in, .between, .beginsWith, .endsWith,
                .greaterThanOrEqualTo,
            ]
            return .comparison(
                .init(
                    randomExpression(depth, &random), comparators.randomElement(using: &random) ?? .equalTo,
                    randomExpression(depth, &random),
                    modifier: [.direct, .direct, .any, .all].randomElement(using: &random) ?? .direct,
                    options: TextOptions(rawValue: UInt.random(in: 0...15, using: &random))))
        }
    }

    private func randomExpression(_ depth: Int, _ random: inout SplitMix) -> ExpressionNode {
        let keys = ["title", "pages", "size", "my key", "loans", "@count", "numbers", "rating", "self"]
        func key() -> String { keys.randomElement(using: &random) ?? "a" }
        func next() -> ExpressionNode { randomExpression(depth - 1, &random) }
        switch depth == 0 ? Int.random(in: 0...3, using: &random) : Int.random(in: 0...14, using: &random) {
        case 0: return .keyPath(operand: .evaluatedObject, [key()])
        case 1: return .constant(.value(.integer(Int64.random(in: -5...5, using: &random))))
        case 2:
            return .constant(
                .value(
                    [.string("a\"b\\"), .double(-2.5), .null, .date(1.5), .data(Data([1, 200]))].randomElement(
                        using: &random) ?? .null))
        case 3: return .variable("x")
        case 4: return next().appending(key())
        case 5, 6, 7:
            let infix = PredicateFunction.allCases.filter { $0.infix != nil }
            return .function((infix.randomElement(using: &random) ?? .add).rawValue, [next(), next()])
        case 8: return .function("onesComplement:", [next()])
        case 9: return .aggregate((0..<Int.random(in: 0...3, using: &random)).map { _ in next() })
        case 10: return .union(next(), next())
        case 11: return .difference(next(), .intersection(next(), next()))
        case 12: return .subquery(next(), variable: "x", randomPredicate(depth - 1, &random))
        case 13: return .conditional(randomPredicate(depth - 1, &random), next(), next())
        default:
            return .function(
                "objectFrom:withIndex:", [next(), Bool.random(using: &random) ? .constant(.symbol("LAST")) : next()])
        }
    }
}
