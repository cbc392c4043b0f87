import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreDataPredicate

@Suite struct PredicateFormatTests {
    /// What is written, and how it is printed; `nil` when it is printed as it was written.
    static let predicates: [(String, String?)] = [
        // Operators, predicates §2, §6
        ("a == 1", nil), ("a=1", "a == 1"), ("a != 1", nil), ("a <> 1", "a != 1"), ("a < 1", nil), ("a > 1", nil),
        ("a <= 1", nil), ("a =< 1", "a <= 1"), ("a >= 1", nil), ("a => 1", "a >= 1"), ("a BETWEEN {1, 10}", nil),
        ("a between { 1,10 }", "a BETWEEN {1, 10}"), ("a IN {1, 2, 3}", nil), ("a in {}", "a IN {}"),
        ("a CONTAINS \"x\"", nil), ("a contains 'x'", "a CONTAINS \"x\""), ("a BEGINSWITH \"x\"", nil),
        ("a ENDSWITH \"x\"", nil), ("a LIKE \"x*\"", nil), ("a MATCHES \"x.*\"", nil), ("a Like 'b'", "a LIKE \"b\""),
        ("5 < age", nil), ("a.b == c.d", nil), ("a == b", nil), ("1 = 1", "1 == 1"),
        ("a NOT IN {1}", "NOT a IN {1}"), ("a NOT CONTAINS 'x'", "NOT a CONTAINS \"x\""),
        // Options
        ("name CONTAINS[cd] \"x\"", nil), ("name ==[c] \"x\"", nil), ("name ==[dc] \"x\"", "name ==[cd] \"x\""),
        ("name LIKE [ c ] 'x'", "name LIKE[c] \"x\""), ("name BEGINSWITH[n] \"x\"", nil), ("name <[l] \"x\"", nil),
        ("name IN[c] {\"x\"}", nil), ("name MATCHES[CD] 'x'", "name MATCHES[cd] \"x\""), ("a !=[cdl] \"x\"", nil),
        // Compounds, §3
        ("a == 1 AND b == 2", nil), ("a == 1 && b == 2", "a == 1 AND b == 2"), ("a == 1 || b == 2", "a == 1 OR b == 2"),
        ("a == 1 and b == 2 or c == 3", "(a == 1 AND b == 2) OR c == 3"),
        ("a == 1 OR b == 2 AND c == 3", "a == 1 OR (b == 2 AND c == 3)"),
        ("(a == 1 OR b == 2) AND c == 3", nil), ("a == 1 AND b == 2 AND c == 3", nil),
        ("(a == 1 AND b == 2) AND c == 3", nil), ("a == 1 AND (b == 2 AND c == 3)", nil),
        ("((a == 1))", "a == 1"), ("(a == 1) AND (b == 2)", "a == 1 AND b == 2"), ("NOT a == 1", nil),
        ("!a == 1", "NOT a == 1"), ("! (a == 1 OR b == 2)", "NOT (a == 1 OR b == 2)"), ("NOT NOT a == 1", nil),
        ("NOT a == 1 AND b == 2", nil), ("NOT (a == 1 AND b == 2) OR c == 3", nil), ("TRUEPREDICATE", nil),
        ("FALSEPREDICATE", nil), ("truepredicate AND a == 1", "TRUEPREDICATE AND a == 1"), ("NOT TRUEPREDICATE", nil),
        ("(TRUEPREDICATE)", "TRUEPREDICATE"),
        // Modifiers
        ("ANY rel.x > 5", nil), ("some rel.x > 5", "ANY rel.x > 5"), ("ALL rel.x > 5", nil),
        ("NONE rel.x > 5", "NOT ANY rel.x > 5"), ("any x.y IN {1}", "ANY x.y IN {1}"), ("NOT ANY a == 1", nil),
        ("ANY a ==[c] \"x\" AND b == 1", nil), ("ANY (a + b) > 1", "ANY a + b > 1"),
        // Literals, §1
        ("a == nil", nil), ("a == NULL", "a == nil"), ("a == TRUE", "a == 1"), ("a == yes", "a == 1"),
        ("a == NO", "a == 0"), ("a == false", "a == 0"), ("a == 2.5", nil), ("a == 2.0", nil),
        ("a == 2.5e-3", "a == 0.0025"),
        ("a == 1e3", "a == 1000.0"), ("a == .5", "a == 0.5"), ("a == 0x1F", "a == 31"), ("a == 0o17", "a == 15"),
        ("a == 0b101", "a == 5"), ("a == -5", nil), ("a == - 5", "a == -5"), ("a == -2.5", nil),
        ("a == 9223372036854775807", nil), ("a == -9223372036854775808", nil),
        ("a == 9223372036854775808", "a == CAST(\"9223372036854775808\", \"NSDecimalNumber\")"),
        ("a == 0.12345678901234567891", "a == CAST(\"0.12345678901234567891\", \"NSDecimalNumber\")"),
        ("a == 'it is \"it\"'", "a == \"it is \\\"it\\\"\""), ("a == \"tab\\tline\\n\"", nil),
        ("a == 'b\\\\c'", "a == \"b\\\\c\""), ("a == '\\u00e9\\x41\\101'", "a == \"éAA\""),
        ("a == '\\d'", "a == \"d\""),
        ("a == '%@'", "a == \"%@\""), ("a == ''", "a == \"\""), ("a == <0a1bff>", nil), ("a == <>", nil),
        ("a == <0A 1B>", "a == <0a1b>"), ("a == CAST(0.000000, \"NSDate\")", nil),
        ("a > CAST(694224000.500000, \"NSDate\")", nil),
        ("a == CAST(\"3F2504E0-4F89-11D3-9A0C-0305E82C3301\", \"NSUUID\")", nil),
        ("a == CAST(\"https://example.org\", \"NSURL\")", nil), ("a == CAST(\"1.50\", 'NSDecimalNumber')", "a == 1.5"),
        ("a == CAST(\"nan\", \"NSNumber\")", nil),
        // Keys
        ("#size > 3", nil), ("SELF.#first == 1", "#first == 1"), ("a.#in.b == 1", nil), ("SELF.name == 1", "name == 1"),
        ("self == 1", "SELF == 1"), ("SELF IN {1}", nil), ("größe > 1", nil), ("_a1 == 1", nil),
        ("a.size == 1", "a.#size == 1"),
        ("#\"my key\" == 1", nil), ("union == 1", nil), ("function == 1", nil), ("a . b == 1", "a.b == 1"),
        ("$x == 1", nil), ("$x.name.first == 1", "$x.name.#first == 1"), ("name == $NAME", nil), ("ANYKEY == 1", nil),
        // Collections
        ("items.@count > 0", nil), ("items.@sum.price > 5", nil), ("@sum.items.price == 1", nil), ("@count == 3", nil),
        ("items.@distinctUnionOfObjects.name CONTAINS \"x\"", nil), ("{1, 2}.@count == 2", nil),
        ("a IN {b, c.d, \"x\", nil}", nil),
        ("x[FIRST] == 1", nil), ("x[last].name == 1", "x[LAST].name == 1"), ("x[SIZE] > 1", nil), ("x[0] == 1", nil),
        ("x[i + 1].y == 1", nil), ("a.b[\"key\"] == 1", nil), ("x[0][1] == 1", nil),
        ("a UNION b == c", nil), ("(a INTERSECT b).@count > 0", nil), ("a MINUS (b UNION c) == {}", nil),
        ("a UNION b UNION c == d", nil),
        ("SUBQUERY(items, $i, $i.price > 5).@count > 0", nil),
        (
            "subquery(a.b, $x, $x.c = 1 and any $x.d > 2).@count==0",
            "SUBQUERY(a.b, $x, $x.c == 1 AND ANY $x.d > 2).@count == 0"
        ),
        ("SUBQUERY(a, $x, SUBQUERY($x.b, $y, $y.c == $x.c).@count > 0).@count > 0", nil),
        // Arithmetic, §3
        ("a + b * c > 1", nil), ("(a + b) * 2 > c", nil), ("a - b - c == 0", nil), ("a - (b - c) == 0", nil),
        ("(a - b) - c == 0", "a - b - c == 0"), ("a / b / c == 1", nil), ("a / (b * c) == 1", nil),
        ("a ** b ** c == 1", nil),
        ("(a ** b) ** c == 1", nil), ("-5 ** 2 == 25", nil), ("-a == 1", "0 - a == 1"),
        ("a * -b == 1", "a * (0 - b) == 1"),
        ("a - -1 == 1", nil), ("~a == 1", nil), ("~(a + b) == 1", nil), ("a & b | c ^ d == 1", nil),
        ("(a | b) & c == 1", nil),
        ("a << 1 + 2 == 1", nil), ("(a << 1) + 2 == 1", nil), ("a >> b >> c == 0", nil), ("1 + 2 == 3", nil),
        ("(a) + (b) == ((3))", "a + b == 3"), ("(((a + 1))) > 2 AND (b > 1)", "a + 1 > 2 AND b > 1"),
        ("a*b/c == 1", "a * b / c == 1"),
        // Functions, §5
        ("now() > a", nil), ("modulus:by:(a, b) == 0", nil), ("uppercase:(name) == \"X\"", nil),
        ("uppercase(name) == \"X\"", "uppercase:(name) == \"X\""), ("sum(a) > 1", "sum:(a) > 1"),
        ("max(1, 2, 3) == 3", "max:(1, 2, 3) == 3"),
        ("NOW() > a", "now() > a"), ("add:to:(a, b) == 1", "a + b == 1"), ("sqrt:(a) < 2", nil),
        ("abs(-1) == 1", "abs:(-1) == 1"),
        ("objectFrom:withIndex:(a, 1) == 2", "a[1] == 2"), ("CAST(a, \"NSNumber\") > 1", nil),
        ("cast(now(), 'NSNumber') > 1", "CAST(now(), \"NSNumber\") > 1"),
        ("CAST(CAST(now(), \"NSNumber\") - 60, \"NSDate\") > a", nil), ("FUNCTION(a, \"length\") == 1", nil),
        ("function(a, 'compare:', b) == 1", "FUNCTION(a, \"compare:\", b) == 1"), ("TERNARY(a == 1, b, c) > 2", nil),
        ("ternary(a==1 or b==2, 1, 0) = 1", "TERNARY(a == 1 OR b == 2, 1, 0) == 1"), ("FETCH(a, b, NO) == 1", nil),
        ("length:(a).intValue == 1", nil), ("noindex:(a) == 1", nil), ("TERNARY(a == 1, b, c).d == 1", nil),
        ("uppercase : (a) == 1", nil),
    ]

    @Test(arguments: predicates)
    func predicatesPrintAndReadBack(format: String, expected: String?) throws {
        if format == "uppercase : (a) == 1" {  // A name and its colons are one word.
            #expect(throws: PredicateFailure.self) { try parse(format) }
            return
        }
        let node = try parse(format)
        #expect(node.predicateFormat == expected ?? format)
        let again = try parse(node.predicateFormat)
        #expect(again == node)
        #expect(again.hashValue == node.hashValue)
    }

    @Test(arguments: [
        ("a", "a"), ("SELF", "SELF"), ("a.b.c", "a.b.c"), ("$x := a + 1", "$x := a + 1"), ("1 + 2", "1 + 2"),
        ("{1, 'a', b}", "{1, \"a\", b}"), ("-3", "-3"), ("a UNION b", "a UNION b"), ("now()", "now()"),
        ("SUBQUERY(a, $x, $x == 1)", "SUBQUERY(a, $x, $x == 1)"), ("(a + b).c", "(a + b).c"),
        ("(5).description", "(5).description"),
        ("'x'.length", "\"x\".length"), ("x[FIRST]", "x[FIRST]"), ("nil", "nil"), ("count:({})", "count:({})"),
    ])
    func expressionsPrintAndReadBack(format: String, expected: String) throws {
        let node = try PredicateParser.parseExpression(format: format)
        #expect(node.predicateFormat == expected)
        #expect(try PredicateParser.parseExpression(format: expected) == node)
    }

    @Test func compoundsOfOnePrintAsTheirPart() throws {
        let part = try parse("a == 1 OR b == 2")
        #expect(PredicateNode.and([part]).predicateFormat == "a == 1 OR b == 2")
        #expect(
            PredicateNode.and([.or([part]), try parse("c == 3")]).predicateFormat == "(a == 1 OR b == 2) AND c == 3")
        #expect(PredicateNode.not(.and([part])).predicateFormat == "NOT (a == 1 OR b == 2)")
        #expect(PredicateNode.and([]).predicateFormat == "TRUEPREDICATE")
        #expect(PredicateNode.or([]).predicateFormat == "FALSEPREDICATE")
    }

    @Test func setsPrintInOneOrder() {
        let set = Constant.collection([.value(.integer(3)), .value(.integer(1))], isOrdered: false)
        #expect(set.predicateFormat == "{1, 3}")
    }

    @Test func objectsPrintTheirDescription() {
        let node = PredicateNode.comparison(.init(.evaluatedObject, .equalTo, .constant(.object(Thing("x")))))
        #expect(node.predicateFormat == "SELF == <Thing x>")
    }

    @Test func blocksPrintAnAddress() {
        let block = PredicateBlock { _, _ in true }
        #expect(PredicateNode.block(block).predicateFormat.hasPrefix("BLOCKPREDICATE(0x"))
    }
}
