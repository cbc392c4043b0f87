import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression
private typealias NSComparisonPredicate = CoreData.NSComparisonPredicate

@Suite struct NSExpressionTests {
    @Test func everyConstructorMakesItsExpression() {
        let a = NSExpression(forKeyPath: "a")
        let b = NSExpression(forConstantValue: [1, 2])
        let predicate = NSPredicate(format: "$x > 1")
        let table: [(NSExpression, ComparisonNaming.ExpressionType, String)] = [
            (a, .keyPath, "a"), (NSExpression(forKeyPath: "SELF.a.@count"), .keyPath, "a.@count"),
            (NSExpression(forConstantValue: "x"), .constantValue, "\"x\""),
            (NSExpression(forConstantValue: nil), .constantValue, "nil"),
            (.expressionForEvaluatedObject(), .evaluatedObject, "SELF"),
            (NSExpression(forVariable: "v"), .variable, "$v"),
            (NSExpression(forFunction: "sum:", arguments: [b]), .function, "sum:({1, 2})"),
            (NSExpression(forFunction: "add:to:", arguments: [a, 1]), .function, "a + 1"),
            (
                NSExpression(forFunction: a, selectorName: "compare:", arguments: [b]), .function,
                "FUNCTION(a, \"compare:\", {1, 2})"
            ),
            (
                NSExpression(
                    forFunction: NSExpression(forVariable: "v"), selectorName: "valueForKeyPath:", arguments: [a]),
                .function, "$v.a"
            ),
            (NSExpression(forAggregate: [a, 1, "x"]), .aggregate, "{a, 1, \"x\"}"),
            (NSExpression(forUnionSet: a, with: b), .unionSet, "a UNION {1, 2}"),
            (NSExpression(forIntersectSet: a, with: b), .intersectSet, "a INTERSECT {1, 2}"),
            (NSExpression(forMinusSet: a, with: b), .minusSet, "a MINUS {1, 2}"),
            (
                NSExpression(forSubquery: a, usingIteratorVariable: "x", predicate: predicate), .subquery,
                "SUBQUERY(a, $x, $x > 1)"
            ), (.expressionForAnyKey(), .anyKey, "ANYKEY"),
            (
                NSExpression(forConditional: predicate, trueExpression: a, falseExpression: b), .conditional,
                "TERNARY($x > 1, a, {1, 2})"
            ), (NSExpression(format: "%K * %d", "a.b", 2), .function, "a.b * 2"),
            (NSExpression(format: "a + %@", argumentArray: [3]), .function, "a + 3"),
            (NSExpression(forKeyPath: \Novel.author?.name), .keyPath, "author.name"),
        ]
        for (expression, type, text) in table {
            #expect(expression.expressionType == type, "\(text)")
            #expect(expression.description == text)
            #expect((expression.copy() as? NSExpression) == expression)
        }
    }

    @Test func partsAreRead() throws {
        let a = NSExpression(forKeyPath: "a.b")
        #expect(a.keyPath == "a.b")
        #expect(NSExpression(forConstantValue: 5).constantValue as? Int == 5)
        #expect(NSExpression(forConstantValue: nil).constantValue == nil)
        #expect(NSExpression(forVariable: "v").variable == "v")
        let function = NSExpression(forFunction: "modulus:by:", arguments: [a, 2])
        #expect(function.function == "modulus:by:" && function.arguments?.count == 2 && function.arguments?[0] == a)
        let message = NSExpression(forFunction: a, selectorName: "length", arguments: nil)
        #expect(message.operand == a && message.function == "length" && message.arguments == [])
        #expect((NSExpression(forAggregate: [a]).collection as? [NSExpression]) == [a])
        let union = NSExpression(forUnionSet: a, with: message)
        #expect(union.left == a && union.right == message)
        let conditional = NSExpression(
            forConditional: NSPredicate(value: true), trueExpression: a, falseExpression: message)
        #expect(conditional.predicate.evaluate(with: nil) && conditional.true == a && conditional.false == message)
        let subquery = NSExpression(
            forSubquery: a, usingIteratorVariable: "x", predicate: NSPredicate(format: "$x == 1"))
        #expect(
            subquery.variable == "x" && subquery.collection as? NSExpression == a
                && subquery.predicate == NSPredicate(format: "$x == 1"))
    }

    @Test(arguments: [
        ("1 + 2", 3), ("a * 2", 10), ("$x + 1", 8), ("sum:({1, 2, 3})", 6), ("TERNARY(a > 1, 1, 0)", 1),
        ("length:('abc')", 3), ("7 / 2", 3), ("list.@sum.self", 6), ("list[LAST]", 3),
        ("SUBQUERY(list, $i, $i > 1).@count", 2),
    ])
    func expressionsAreEvaluated(format: String, expected: Int) {
        let object: [String: Any] = ["a": 5, "list": [1, 2, 3]]
        let value = NSExpression(format: format).expressionValue(
            with: object, context: NSMutableDictionary(dictionary: ["x": 7]))
        #expect(value as? Int == expected)
        #expect((value as? NSNumber)?.intValue == expected)
    }

    @Test func valuesComeBackInTheirTypes() {
        func value(_ constant: Any?) -> Any? {
            NSExpression(forConstantValue: constant).expressionValue(with: nil, context: nil)
        }
        let date = Date()
        let uuid = UUID()
        #expect(value("x") as? String == "x")
        #expect(value(1.5) as? Double == 1.5)
        #expect(value(true) as? Bool == true)
        #expect(value(Decimal(string: "1.10")) as? Decimal == Decimal(string: "1.10"))
        #expect(value(date) as? Date == date && value(uuid) as? UUID == uuid && value(Data([1])) as? Data == Data([1]))
        #expect(value(URL(string: "http://a.b")) as? URL == URL(string: "http://a.b"))
        #expect(value([1, 2]) as? [Int] == [1, 2])
        #expect(value(Set([1, 2])) as? NSSet == NSSet(array: [1, 2]))
        #expect((value(["a": 1]) as? [AnyHashable: Any])?["a"] as? Int == 1)
        #expect(value(nil) == nil && value(NSNull()) == nil)
    }

    @Test func blocksAreCalled() {
        let block = NSExpression(
            block: { object, arguments, _ in (object as? Int ?? 0) + (arguments.first as? Int ?? 0) },
            arguments: [NSExpression(forConstantValue: 2)])
        #expect(block.expressionType == .block && block.arguments?.count == 1)
        #expect(block.expressionValue(with: 3, context: nil) as? Int == 5)
        #expect(block.expressionBlock(1, [2], nil) as? Int == 3)
        let context = NSMutableDictionary()
        let noting = NSExpression(
            block: { _, _, context in
                context?.setObject(1, forKey: NSString(string: "seen"))
                return nil
            }, arguments: nil)
        #expect(noting.expressionValue(with: nil, context: context) == nil)
        #expect(context["seen"] as? Int == 1)
        let predicate = NSComparisonPredicate(
            leftExpression: block, rightExpression: NSExpression(forConstantValue: 5), modifier: .direct, type: .equalTo
        )
        #expect(predicate.evaluate(with: 3) && !predicate.evaluate(with: 4))
    }

    @Test func assignmentsWriteTheContext() {
        let context = NSMutableDictionary()
        #expect(NSExpression(format: "$x := 2 + 3").expressionValue(with: nil, context: context) as? Int == 5)
        #expect(context["x"] as? Int == 5)
    }

    @Test func expressionsAreEqualByContent() {
        #expect(NSExpression(forKeyPath: "a") == NSExpression(format: "a"))
        #expect(NSExpression(forKeyPath: "a") != NSExpression(forKeyPath: "b"))
        #expect(NSExpression(forKeyPath: "a").hash == NSExpression(format: "a").hash)
    }

    @Test func rawMemoryOfStoredExpressionsAndComparisonsIsBalanced() {  // the invariants of StoredExpression
        final class Witness: NSObject, @unchecked Sendable {
            let ended: () -> Void
            init(_ ended: @escaping () -> Void) { self.ended = ended }
            deinit { ended() }
        }
        var ended = 0
        for _ in 0..<100 {
            autoreleasepool {
                let expression = NSExpression(forConstantValue: Witness { ended += 1 })
                let predicate = NSComparisonPredicate(
                    leftExpression: expression, rightExpression: expression, modifier: .direct, type: .equalTo)
                let copies = [predicate.copy(), expression.copy()]
                #expect(predicate.evaluate(with: nil) && copies.count == 2)
            }
        }
        #expect(ended == 100)
        // Foundation's stored property, never initialised, must read as a value without anything to release.
        let comparison = NSPredicate(format: "a == 1")
        let mirror = Mirror(reflecting: comparison).superclassMirror?.superclassMirror
        #expect(mirror?.subjectType == NSPredicate.self)
        #expect(mirror?.children.count == 1)
        #expect(mirror?.children.first.map { "\($0.value)" } == "boolean(false)")
        #expect(Mirror(reflecting: NSExpression(forKeyPath: "a")).superclassMirror?.children.isEmpty == true)
    }

    private func autoreleasepool(_ body: () -> Void) { body() }
}
