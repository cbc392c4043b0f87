import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression
private typealias NSComparisonPredicate = CoreData.NSComparisonPredicate

extension NSPredicate {
    /// The format without Foundation's notice about it.
    fileprivate var text: String { description }
}

@Suite struct NSPredicateTests {
    static let novel = Novel(
        "The Dispossessed", pages: 387, author: Writer("Ursula"), tags: ["utopia", "physics"])

    @Test(arguments: [
        ("title BEGINSWITH[c] \"the\"", true), ("pages > 386", true), ("author.name == \"Ursula\"", true),
        ("author.born == 1929", true), ("subtitle == nil", true), ("isLent == NO", true),
        ("tags CONTAINS \"utopia\"", true), ("ANY tags LIKE \"phys*\"", true), ("tags.@count == 2", true),
        ("SELF.title.length == 16", true), ("pages IN {1, 387}", true), ("NOT pages BETWEEN {1, 2}", true),
    ])
    func objectsAreReadByTheirStoredProperties(format: String, expected: Bool) {
        #expect(NSPredicate(format: format).evaluate(with: Self.novel) == expected)
    }

    @Test(
        arguments: [
            ("SELF > 3", 5 as any Sendable, true), ("SELF > 3", 2.5, false), ("SELF == YES", true, true),
            ("SELF BEGINSWITH \"a\"", "abc", true), ("SELF.length == 3", "abc", true),
            ("SELF < now()", Date(timeIntervalSinceReferenceDate: 0), true), ("SELF == 3", Decimal(3), true),
            ("SELF == 3", UInt64(3), true), ("SELF > 9223372036854775807", UInt64.max, true),
            ("SELF == 1.5", Float(1.5), true),
            ("SELF.a == 1", ["a": 1], true), ("SELF.a.b == 1", ["a": ["b": 1]], true),
            ("@count == 3", [1, 2, 3], true), ("ANY SELF == 2", Set([1, 2]), true),
            ("SELF.host == \"a.org\"", URL(string: "http://a.org/b"), true),
            ("SELF == nil", Int?.none, true), ("SELF == \"a\"", Character("a"), true),
            ("SELF == \"b\"", "abc".dropFirst().dropLast(), true),
        ] as [(String, any Sendable, Bool)])
    func plainValuesAreEvaluated(format: String, value: any Sendable, expected: Bool) {  // E13
        #expect(NSPredicate(format: format).evaluate(with: value) == expected)
    }

    @Test func foundationsObjectsAreEvaluated() {
        let objects: [(String, NSObject)] = [
            ("SELF > 3", NSNumber(value: 5)), ("SELF == 1", NSNumber(value: true)),
            ("SELF == 2.5", NSNumber(value: 2.5)), ("SELF == 2.5", NSDecimalNumber(string: "2.5")),
            ("SELF CONTAINS \"b\"", NSString(string: "abc")),
            ("SELF < now()", NSDate(timeIntervalSinceReferenceDate: 0)), ("a == 1", NSDictionary(dictionary: ["a": 1])),
            ("ANY SELF == 2", NSSet(array: [1, 2])), ("SELF[1] == \"x\"", NSArray(array: [1, "x"])),
            ("SELF[0] == 3", NSOrderedSet(array: [3, 1])),
            ("SELF == nil", NSNull()), ("SELF.length == 2", NSData(data: Data([1, 2]))),
        ]
        for (format, object) in objects { #expect(NSPredicate(format: format).evaluate(with: object), "\(format)") }
    }

    @Test func formatsBecomeApplesClasses() throws {  // predicates §4
        let made = NSPredicate(format: "ANY a.b >[c] 5")
        let comparison = try #require(made as? NSComparisonPredicate)
        #expect(comparison.predicateOperatorType == .greaterThan)
        #expect(comparison.comparisonPredicateModifier == .any)
        #expect(comparison.options == .caseInsensitive)
        #expect(comparison.leftExpression.expressionType == .keyPath && comparison.leftExpression.keyPath == "a.b")
        #expect(
            comparison.rightExpression.expressionType == .constantValue
                && comparison.rightExpression.constantValue as? Int == 5)
        let compound = try #require(NSPredicate(format: "a == 1 OR NOT b == 2 OR c == 3") as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .or && compound.subpredicates.count == 3)
        let negation = try #require(compound.subpredicates[1] as? NSCompoundPredicate)
        #expect(negation.compoundPredicateType == .not && negation.subpredicates.count == 1)
        #expect(NSPredicate(format: "TRUEPREDICATE").evaluate(with: nil))
    }

    @Test func comparisonsAreMadeOfExpressions() {
        let predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "title"), rightExpression: NSExpression(forConstantValue: "THE"),
            modifier: .direct,
            type: .beginsWith, options: [.caseInsensitive, .diacriticInsensitive])
        #expect(predicate.text == "title BEGINSWITH[cd] \"THE\"")
        #expect(predicate.evaluate(with: Self.novel))
        for type in [
            ComparisonNaming.Operator.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo,
            .notEqualTo, .matches, .like, .beginsWith, .endsWith, .in, .contains, .between,
        ] {
            let made = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forKeyPath: "b"),
                modifier: .all, type: type)
            #expect(made.predicateOperatorType == type && made.comparisonPredicateModifier == .all)
        }
    }

    @Test func foundationsCompoundsAndBlocksMixWithOurs() {
        let block = NSPredicate { object, _ in (object as? Novel)?.pages ?? 0 > 300 }
        let format = NSPredicate(format: "title CONTAINS \"Disp\"")
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [block, format, NSPredicate(value: true)])
        let either = NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(value: false), format])
        let neither = NSCompoundPredicate(notPredicateWithSubpredicate: both)
        #expect(
            both.evaluate(with: Self.novel) && either.evaluate(with: Self.novel) && !neither.evaluate(with: Self.novel))
        #expect(!both.evaluate(with: Novel("Disp", pages: 1)))
        // The same through trees, as the engine sees them.
        for (predicate, expected) in [(both, true), (either, true), (neither, false)] {
            let copy = NSPredicate.make(node: predicate.node)
            #expect(copy.evaluate(with: Self.novel) == expected)
            #expect(copy.node == predicate.node)
        }
        #expect(either.node.predicateFormat == "FALSEPREDICATE OR title CONTAINS \"Disp\"")
        #expect(NSPredicate.make(node: block.node) === block)
        #expect(both.node.containsBlocks && !either.node.containsBlocks)
    }

    @Test func blocksGetTheVariables() {
        let block = NSPredicate { object, variables in object as? Int == variables?["x"] as? Int }
        #expect(block.evaluate(with: 5, substitutionVariables: ["x": 5]))
        let compound = NSPredicate.make(node: .and([block.node, .constant(true)]))
        #expect(compound.evaluate(with: 5, substitutionVariables: ["x": 5]))
        #expect(!compound.evaluate(with: 5, substitutionVariables: ["x": 4]))
    }

    @Test func predicatesAreEqualByContent() {
        let a = NSPredicate(format: "a == %@ AND b > 2", "x")
        let b = NSPredicate(format: "a == 'x' && b > 2")
        #expect(a == b && a.hash == b.hash)
        #expect(a != NSPredicate(format: "a == 'y' && b > 2"))
        #expect(
            a.isEqual(
                NSCompoundPredicate(andPredicateWithSubpredicates: [
                    NSPredicate(format: "a == 'x'"), NSPredicate(format: "b > 2"),
                ])))
        #expect(Set([a, b]).count == 1)
        #expect(NSPredicate(format: "a == 1") == NSPredicate(format: "a == 1"))
        #expect(NSPredicate(format: "a == 1") != NSPredicate(format: "a == 2"))
        #expect(a != "a == 'x'" as NSString)
    }

    @Test func predicatesAreCopied() throws {
        for format in ["a == 1", "a == 1 AND b == 2", "NOT a == 1"] {
            let predicate = NSPredicate(format: format)
            let copy = try #require(predicate.copy() as? NSPredicate)
            #expect(copy == predicate && copy.text == format)
        }
    }

    @Test func changedCompoundsAreEvaluatedAnew() throws {
        let compound = try #require(NSPredicate(format: "SELF > 1 AND SELF < 9") as? NSCompoundPredicate)
        #expect(compound.evaluate(with: 5))
        compound.subpredicates = [NSPredicate(format: "SELF == 1")]
        #expect(!compound.evaluate(with: 5) && compound.evaluate(with: 1))
    }

    @Test func variablesAreSubstituted() {  // E12
        let template = NSPredicate(format: "title == $T AND pages > $P AND ANY tags IN $LIST")
        let some = template.withSubstitutionVariables(["T": "The Dispossessed", "P": 5])
        #expect(some.text == "title == \"The Dispossessed\" AND pages > 5 AND ANY tags IN $LIST")
        #expect(some.withSubstitutionVariables(["LIST": ["utopia"]]).evaluate(with: Self.novel))
        #expect(
            template.evaluate(
                with: Self.novel, substitutionVariables: ["T": "The Dispossessed", "P": 5, "LIST": ["utopia"]]))
        #expect(NSPredicate(format: "a == $X").withSubstitutionVariables(["X": NSNull()]).text == "a == nil")
        #expect(
            NSPredicate(format: "a == $X").withSubstitutionVariables(["X": NSExpression(forKeyPath: "b")]).text
                == "a == b")
    }

    @Test func wrongTextIsThrownWithItsPlace() throws {
        let error = try #require(throws: CocoaError.self) { try NSPredicate(validating: "name == 'x' AND age >> > 3") }
        #expect(error.code == .formatting)
        let text = error.localizedDescription
        #expect(text.contains("Unable to parse the format string \"name == 'x' AND age >> > 3\""))
        #expect(text.contains("1:24: error:") && text.contains("\n                           ^"), "\(text)")
        #expect(
            try NSPredicate(validating: "a == %@ AND b == %d", arguments: ["x", 5]).text == "a == \"x\" AND b == 5")
    }

    @Test func collectionsAreFiltered() {
        let novels = [Novel("B", pages: 2), Novel("A", pages: 1), Novel("C", pages: 3)]
        let predicate = NSPredicate(format: "pages >= 2")
        #expect((NSArray(array: novels).filtered(using: predicate) as? [Novel])?.map(\.title) == ["B", "C"])
        #expect(NSSet(array: novels).filtered(using: predicate).count == 2)
        #expect(NSOrderedSet(array: novels).filtered(using: predicate).count == 2)
        let array = NSMutableArray(array: novels)
        array.filter(using: predicate)
        #expect(array.count == 2)
        let orderedSet = NSMutableOrderedSet(array: novels)
        orderedSet.filter(using: predicate)
        #expect(orderedSet.count == 2)
        #expect(NSArray(array: [1, 5, 9]).filtered(using: NSPredicate(format: "SELF BETWEEN {2, 6}")) as? [Int] == [5])
        let sorted = NSArray(array: novels).sortedArray(using: [NSSortDescriptor(key: "title", ascending: true)])
        #expect((sorted as? [Novel])?.map(\.title) == ["A", "B", "C"])
    }

    @Test func objectsOfOtherClassesAreEqualByTheirOwnEquality() {
        let writer = Writer("x")
        #expect(NSPredicate(format: "author == %@", writer).evaluate(with: Novel("a", author: writer)))
        #expect(!NSPredicate(format: "author == %@", Writer("x")).evaluate(with: Novel("a", author: writer)))
        #expect(NSPredicate(format: "author IN %@", [writer]).evaluate(with: Novel("a", author: writer)))
        #expect(NSPredicate(format: "SELF == %@", writer).evaluate(with: writer))
    }

    @Test func predicatesOfOtherClassesAreCode() {
        final class Odd: NSPredicate {
            override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
                (object as? Int ?? 0) % 2 == 1
            }
        }
        let odd = Odd(value: true)
        let compound = NSPredicate.make(node: .not(odd.node))
        #expect(!compound.evaluate(with: 3) && compound.evaluate(with: 4))
        #expect(odd.node == odd.node)
    }
}
