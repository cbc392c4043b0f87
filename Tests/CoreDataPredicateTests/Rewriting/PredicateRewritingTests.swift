import CoreDataPrimitives
import Testing

@testable import CoreDataPredicate

@Suite struct PredicateRewritingTests {
    @Test(arguments: [
        ("name == $NAME", "name == \"Bob\""), ("a == $N AND $NAME BEGINSWITH b", "a == 5 AND \"Bob\" BEGINSWITH b"),
        ("NOT ANY x.y > $N + 1", "NOT ANY x.y > 5 + 1"),
        ("SUBQUERY(a, $N, $N.x == $NAME).@count > 0", "SUBQUERY(a, $N, $N.x == \"Bob\").@count > 0"),
        ("SUBQUERY($LIST, $x, $x == $N).@count > 0", "SUBQUERY(c.d, $x, $x == 5).@count > 0"),
        ("TERNARY($N > 1, $NAME, {$N}) == nil", "TERNARY(5 > 1, \"Bob\", {5}) == nil"),
        ("$LIST.@count == $N", "c.d.@count == 5"),
        ("FUNCTION($NAME, \"hasPrefix:\", $NAME) == 1", "FUNCTION(\"Bob\", \"hasPrefix:\", \"Bob\") == 1"),
    ])
    func variablesAreReplaced(format: String, expected: String) throws {  // E12
        let values: [String: ExpressionNode] = [
            "NAME": .constant(.value(.string("Bob"))), "N": .constant(.value(.integer(5))),
            "LIST": .keyPath(operand: .evaluatedObject, ["c", "d"]),
        ]
        let result = try parse(format).substitutingVariables(values)
        #expect(result.predicateFormat == expected)
        #expect(try parse(expected) == result)
    }

    @Test func variablesWithoutAValueStay() throws {
        let node = try parse("a == $X AND b == $Y AND SUBQUERY(c, $Z, $Z == $X).@count > 0")
        #expect(node.freeVariables == ["X", "Y"])
        let some = node.substitutingVariables(["Y": .constant(.value(.integer(1)))])
        #expect(some.predicateFormat == "a == $X AND b == 1 AND SUBQUERY(c, $Z, $Z == $X).@count > 0")
    }

    @Test(arguments: [
        ("a == 1", "a=1", true), ("a == 1", "a == 1.0", false), ("a == 1", "a == 2", false),
        ("a == 1", "b == 1", false), ("a == 1", "a != 1", false), ("a ==[c] 'x'", "a == 'x'", false),
        ("ANY a == 1", "a == 1", false), ("a == 1 AND b == 2", "b == 2 AND a == 1", false),
        ("a IN {1, 2}", "a IN {1, 2}", true), ("a IN {1, 2}", "a IN {2, 1}", false), ("NOT a == 1", "!(a == 1)", true),
        ("SELF.a == 1", "a == 1", true), ("a + b == 1", "add:to:(a, b) == 1", true),
        ("SUBQUERY(a,$x,$x==1).@count==1", "SUBQUERY(a, $x, $x == 1).@count == 1", true),
        ("a == 'é'", "a == 'e\\u0301'", false),
    ])
    func treesAreEqualByStructure(a: String, b: String, expected: Bool) throws {
        let first = try parse(a)
        let second = try parse(b)
        #expect((first == second) == expected)
        if expected { #expect(first.hashValue == second.hashValue) }
    }

    @Test func constantSetsAreEqualInAnyOrder() {
        func set(_ numbers: [Int64]) -> Constant { .collection(numbers.map { .value(.integer($0)) }, isOrdered: false) }
        #expect(set([1, 2, 3]) == set([3, 1, 2]))
        #expect(set([1, 2, 3]).hashValue == set([3, 1, 2]).hashValue)
        #expect(set([1, 2]) != set([1, 3]))
    }

    @Test func anArrayConstantEqualsItsAggregate() throws {
        let constant = ExpressionNode.constant(
            .collection([.value(.integer(1)), .value(.string("x"))], isOrdered: true))
        let aggregate = try PredicateParser.parseExpression(format: "{1, 'x'}")
        #expect(constant == aggregate && aggregate == constant && constant.hashValue == aggregate.hashValue)
    }

    @Test func blocksAreEqualByIdentity() {
        let block = PredicateBlock { _, _ in true }
        #expect(PredicateNode.block(block) == .block(block))
        #expect(PredicateNode.block(block) != .block(PredicateBlock { _, _ in true }))
    }

    @Test func everyExpressionIsVisitedOnce() throws {
        let node = try parse(
            "a.b == 1 AND NOT (SUBQUERY(c, $x, $x.d > e).@count > 2 OR ANY f IN {g, TERNARY(h == 1, i, j)})")
        var keys: [String] = []
        node.forEachExpression {
            if case .keyPath(.evaluatedObject, let path) = $0 { keys.append(path.joined(separator: ".")) }
        }
        #expect(keys.sorted() == ["a.b", "c", "e", "f", "g", "h", "i", "j"])
        var count = 0
        node.forEachPredicate { if case .comparison = $0 { count += 1 } }
        #expect(count == 5)
        #expect(!node.containsBlocks)
        #expect(PredicateNode.not(.block(PredicateBlock { _, _ in true })).containsBlocks)
    }

    @Test func expressionsAreMapped() throws {
        let node = try parse("a == 1 AND SUBQUERY(c, $x, $x.d > a).@count > 2")
        let mapped = node.mapExpressions { expression in
            if case .keyPath(.evaluatedObject, ["a"]) = expression { return .keyPath(operand: .evaluatedObject, ["z"]) }
            return expression
        }
        #expect(mapped.predicateFormat == "z == 1 AND SUBQUERY(c, $x, $x.d > z).@count > 2")
    }

    @Test(arguments: [
        ("a > 1 + 2 * 3", "a > 7"), ("now() < a", "CAST(60.000000, \"NSDate\") < a"),
        ("CAST(now(), \"NSNumber\") - 60 < a", "0.0 < a"), ("a == {1, 2}.@sum.self", "a == 3"),
        ("a + 1 == 1 + 1", "a + 1 == 2"), ("a IN {1, 2}", "a IN {1, 2}"), ("a == $X + 1", "a == $X + 1"),
        ("a == \"x\" + 1", "a == \"x\" + 1"), ("randomn:(5) == a", "randomn:(5) == a"),
        ("SUBQUERY(a, $x, $x > 2 - 1).@count == 0", "SUBQUERY(a, $x, $x > 1).@count == 0"),
        ("a == uppercase:(\"x\")", "a == \"X\""), ("a == {\"x\", \"y\"}[LAST]", "a == \"y\""),
    ])
    func constantsAreFolded(format: String, expected: String) throws {
        let frame = EvaluationFrame(now: 60)
        #expect(try parse(format).foldingConstants(in: frame).predicateFormat == expected)
    }

    @Test func keyPathsOfConstantObjectsAreFolded() throws {  // M17
        let node = try parse("a == $FETCH_SOURCE.title AND ANY b IN $FETCH_SOURCE.chapters")
            .substitutingVariables(["FETCH_SOURCE": .constant(.object(book))]).foldingConstants()
        #expect(
            node.predicateFormat
                == "a == \"The Dispossessed\" AND ANY b IN {\"One\", \"Two\", \"Three\"}")
    }
}
