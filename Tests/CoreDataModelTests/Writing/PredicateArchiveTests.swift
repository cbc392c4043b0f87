import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct PredicateArchiveTests {
    private func archived(_ text: String) throws -> (class: String?, text: String?) {
        var writer = KeyedArchiveWriter()
        let root = PredicateArchiveWriter.predicate(text, in: &writer)
        let value = try KeyedArchiveReader(writer.data(root: root)).root
        return (value.object?.className, PredicateArchive.predicate(value))
    }

    /// Predicates that become Foundation's objects, and their text when read back.
    @Test(arguments: [
        ("SELF >= 1", "SELF >= 1"), ("SELF <= -0.5", "SELF <= -0.5"), ("length >= 3", "length >= 3"),
        ("SELF MATCHES \"[a-z]\\\\d\\\"\"", "SELF MATCHES \"[a-z]\\\\d\\\"\""), ("SELF LIKE 'a*'", "SELF LIKE \"a*\""),
        ("name BEGINSWITH[cd] $prefix", "name BEGINSWITH[cd] $prefix"),
        ("name endswith[c] 'x'", "name ENDSWITH[c] \"x\""),
        ("listed = YES", "listed == 1"), ("author == nil", "author == nil"), ("author <> NULL", "author != nil"),
        ("a.b.c == $x.y", "a.b.c == $x.y"), ("SELF.name == 'a'", "name == \"a\""), ("#size > 3", "#size > 3"),
        ("ANY pages.number < 5", "ANY pages.number < 5"), ("ALL pages.number => 5", "ALL pages.number >= 5"),
        ("name IN $names", "name IN $names"), ("name CONTAINS 'é'", "name CONTAINS \"é\""),
        ("a == 1 && b == 2 AND c == 3", "a == 1 AND b == 2 AND c == 3"),
        ("a == 1 OR (b == 2 AND c == 3)", "a == 1 OR (b == 2 AND c == 3)"),
        ("pages.@count > 2", "count:(pages) > 2"), ("length(title) > 2", "length:(title) > 2"),
    ])
    func commonPredicatesAreArchivedAsObjects(_ written: String, _ expected: String) throws {
        let result = try archived(written)
        #expect(result.text == expected)
        #expect(["NSComparisonPredicate", "NSCompoundPredicate"].contains(result.class))
    }

    /// The others stay text.
    @Test(arguments: [
        "SUBQUERY(a, $b, $b.c == 1).@count > 0", "NOT a == 1", "a + 1 == 2", "a BETWEEN {1, 2}", "a ==", "== 1",
        "a == 'x",
        "TRUEPREDICATE", "a == 1 b", "", "a[0] == 1", "name CONTAINS[z] 'x'", "CAST(a, 'NSDate') == b", "a == é(",
        "a..b == 1",
    ])
    func otherPredicatesAreArchivedAsText(_ text: String) throws {
        let result = try archived(text)
        #expect(result.class == nil)
        #expect(result.text == text)
    }

    @Test(arguments: ["pages.@count", "author.name", "canonical:(author.name)", "now()", "pages.@sum.words"])
    func derivationsAreArchivedAsObjects(_ text: String) throws {
        var writer = KeyedArchiveWriter()
        let root = PredicateArchiveWriter.expression(text, in: &writer)
        let value = try KeyedArchiveReader(writer.data(root: root)).root
        #expect(value.object?.isKind(of: "NSExpression") == true)
        #expect(PredicateArchive.expression(value).map(DerivationText.written) == text)
    }

    /// Shapes that only archives of others hold.
    @Test func shapesThatWeDoNotWriteAreRead() throws {
        var writer = KeyedArchiveWriter()
        let number = writer.scalar(.integer(1))
        func constant(_ value: PropertyListValue) -> PropertyListValue {
            writer.object(["NSConstantValueExpression", "NSExpression"], ["NSConstantValue": value])
        }
        let one = constant(number)
        let date = constant(writer.object(["NSDate"], ["NS.time": .real(60.5)]))
        let list = constant(writer.array([writer.text("a"), writer.scalar(.real(0.5)), writer.scalar(.bool(true))]))
        let aggregate = writer.object(
            ["NSAggregateExpression", "NSExpression"], ["NSCollection": writer.array([one, date])])
        func comparison(_ left: PropertyListValue, _ type: Int64, _ right: PropertyListValue) -> PropertyListValue {
            let operation = writer.object(
                ["NSBetweenPredicateOperator", "NSPredicateOperator"], ["NSOperatorType": .integer(type)])
            return writer.object(
                ["NSComparisonPredicate", "NSPredicate"],
                ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
        }
        func compound(_ type: Int64, _ children: [PropertyListValue]) -> PropertyListValue {
            writer.object(
                ["NSCompoundPredicate", "NSPredicate"],
                ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": writer.array(children)])
        }
        let truth = writer.object(["NSTruePredicate", "NSPredicate"], [:])
        let between = comparison(one, 100, aggregate)
        let negated = compound(0, [compound(2, [between, truth])])
        let root = compound(1, [negated, compound(0, [comparison(one, 10, list)]), compound(1, [])])
        #expect(
            PredicateArchive.predicate(try KeyedArchiveReader(writer.data(root: root)).root)
                == "(NOT (1 BETWEEN {1, CAST(60.500000, \"NSDate\")} OR TRUEPREDICATE)) AND "
                + "(NOT 1 IN {\"a\", 0.5, 1}) AND TRUEPREDICATE")
    }

    @Test func circlesEnd() throws {
        var writer = KeyedArchiveWriter()
        let circle = writer.reserve()
        let children = writer.array([circle, circle])
        writer.define(
            circle, ["NSCompoundPredicate", "NSPredicate"],
            ["NSCompoundPredicateType": .integer(1), "NSSubpredicates": children])
        #expect(PredicateArchive.predicate(try KeyedArchiveReader(writer.data(root: circle)).root) == nil)
    }
}
