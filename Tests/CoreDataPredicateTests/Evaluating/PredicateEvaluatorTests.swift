import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreDataPredicate

@Suite struct PredicateEvaluatorTests {
    @Test(
        arguments: [
            // E2: equality, nil included
            ("pages == 387", true), ("pages == 387.0", true), ("pages == \"387\"", false), ("pages != \"387\"", true),
            ("pages != 387", false),
            ("subtitle == nil", true), ("subtitle != nil", false), ("title == nil", false), ("nil == nil", true),
            ("nil != nil", false),
            ("subtitle == \"x\"", false), ("subtitle != \"x\"", true), ("title == \"The Dispossessed\"", true),
            ("isLent == YES", true),
            ("isLent == 1", true), ("isSold == FALSE", true), ("isSold != TRUE", true),
            ("\"é\" == \"e\\u0301\"", false),
            ("\"é\" ==[c] \"e\\u0301\"", true), ("1 == 1.0", true), ("0.1 == price", false), ("price == 9.99", true),
            ("price != 9.99", false),
            ("price == CAST(\"9.99\", \"NSDecimalNumber\")", true), ("price > 9", true), ("price < 9.995", true),
            ("9007199254740993 == 9007199254740992.0", false),
            ("id == CAST(\"3F2504E0-4F89-11D3-9A0C-0305E82C3301\", \"NSUUID\")", true), ("cover == <0102ff>", true),
            ("cover != <01>", true),
            ("published == CAST(-836000000, \"NSDate\")", true), ("published == -836000000", false),
            ("link == \"https://example.org/books/1.html\"", true),
            ("author == editor", false), ("author == author", true), ("author != nil", true), ("editor == nil", true),
            // E3: order
            ("pages > 386", true), ("pages >= 387", true), ("pages < 387", false), ("pages <= 387.0", true),
            ("subtitle < \"x\"", false),
            ("subtitle > \"x\"", false), ("subtitle <= nil", false), ("nil >= nil", false), ("NOT subtitle < 1", true),
            ("title < \"U\"", true),
            ("title < \"a\"", true), ("title <[c] \"a\"", false), ("title >[c] \"a\"", true),
            ("published < now()", true), ("cover < <02>", true),
            ("\"Z\" < \"a\"", true), ("\"Z\" <[l] \"a\"", false), ("\"a\" ==[l] \"a\"", true),
            // E4, E5: text
            ("title CONTAINS \"Disp\"", true), ("title CONTAINS \"disp\"", false), ("title CONTAINS[c] \"disp\"", true),
            ("title BEGINSWITH \"The\"", true),
            ("title ENDSWITH[c] \"SSED\"", true), ("accent CONTAINS[d] \"Brulee\"", true),
            ("accent ==[cd] \"creme brulee\"", true), ("accent ==[c] \"creme brulee\"", false),
            ("accent BEGINSWITH[cd] \"CREME\"", true), ("subtitle CONTAINS \"x\"", false),
            ("subtitle LIKE \"*\"", false), ("title CONTAINS nil", false), ("subtitle MATCHES \".*\"", false),
            ("title CONTAINS \"\"", false), ("empty == \"\"", true), ("empty BEGINSWITH \"\"", false),
            ("NOT title CONTAINS[cd] \"\"", true), ("title ENDSWITH \"\"", false), ("\"\" IN title", false),
            ("empty LIKE \"\"", true), ("title LIKE \"\"", false), ("empty MATCHES \"\"", true),
            ("chapters CONTAINS \"\"", false), ("FUNCTION(title, \"hasPrefix:\", \"\") == NO", true),
            ("link BEGINSWITH \"https:\"", true), ("title ==[n] \"the dispossessed\"", false),
            // E6: patterns
            ("title LIKE \"The*\"", true), ("title LIKE \"the*\"", false), ("title LIKE[c] \"the*d\"", true),
            ("title LIKE \"The\"", false), ("title LIKE \"T?e *\"", true),
            ("wild LIKE \"a\\\\*b\"", true), ("title MATCHES \"The .*\"", true), ("title MATCHES \"The\"", false),
            ("title MATCHES[c] \"the \\\\w+\"", true), ("isbn MATCHES '[0-9-]+'", true),
            // E7: membership
            ("pages IN {1, 387}", true), ("pages IN {}", false), ("pages IN {387.0}", true),
            ("title IN {\"x\"}", false), ("title IN[c] {\"the dispossessed\"}", true),
            ("\"Disp\" IN title", true), ("subtitle IN {nil}", false), ("NOT subtitle IN {nil}", true),
            ("subtitle IN nothing", false), ("pages IN nothing", false), ("2 IN numbers", true),
            ("numbers CONTAINS 2", true), ("numbers CONTAINS 5", false), ("chapters CONTAINS[c] \"two\"", true),
            ("chapters CONTAINS nil", false), ("1 IN dictionary", true), ("dictionary CONTAINS \"two\"", true),
            ("author IN {author}", true), ("pages NOT IN {1, 2}", true), ("pages IN {1,2,3,4,5,6,7,8,9,10,387}", true),
            ("rating IN {1,2,3,4,5,6,7,8,9,10,4.5}", true), ("price IN {1,2,3,4,5,6,7,8,9,10,9.99}", true),
            ("title IN[cd] {\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"thé dispossessed\"}", true),
            ("subtitle IN {1,2,3,4,5,6,7,8,9,nil}", false), ("numbers == {3, 1, 2, 2}", true),
            ("numbers == {1, 2, 3}", false),
            // E8
            ("pages BETWEEN {387, 400}", true), ("pages BETWEEN {300, 387}", true), ("pages BETWEEN {388, 400}", false),
            ("pages BETWEEN {400, 300}", false), ("subtitle BETWEEN {1, 2}", false),
            ("title BETWEEN {\"S\", \"U\"}", true),
            ("pages BETWEEN {nil, 400}", false), ("rating BETWEEN {4, 5}", true),
            // E9
            ("ANY loans.days > 9", true), ("ANY loans.days > 10", false), ("ALL loans.days > 2", true),
            ("ALL loans.days > 3", false), ("NONE loans.days > 10", true), ("SOME loans.days == 7", true),
            ("ANY reviews.stars > 1", false), ("ALL reviews.stars > 1", true), ("NONE reviews.stars > 1", true),
            ("ANY loans.fine == nil", true), ("ALL loans.fine != nil", false), ("ANY nothing > 1", false),
            ("ALL nothing > 1", true),
            ("ANY loans.reader ==[cd] \"emile\"", true), ("ANY loans.tags == \"y\"", true),
            ("ANY loans.days IN {10, 11}", true), ("ANY chapters LIKE \"T*\"", true), ("ANY numbers == 3", true),
            ("ALL chapters IN {\"One\", \"Two\", \"Three\"}", true),
            ("ANY loans.days BETWEEN {8, 12}", true), ("author.awards CONTAINS \"Hugo\"", true),
            ("ANY author.awards == nil", true),
            // E10
            ("title == \"x\" AND unknown == 1", false), ("pages == 387 OR unknown == 1", true), ("TRUEPREDICATE", true),
            ("FALSEPREDICATE OR isLent == YES", true), ("NOT (isLent == NO)", true), ("! isSold == YES", true),
            // E1, paths
            ("author.name CONTAINS \"Guin\"", true), ("author.country == nil", true), ("editor.name == nil", true),
            ("editor.name != \"x\"", true), ("SELF.pages == 387", true), ("self.author.age > 80", true),
            ("SELF == self", true), ("author.self == author", true),
            ("#size == 20", true), ("#first == \"f\"", true), ("#\"my key\" == 5", true), ("dictionary.a == 1", true),
            ("dictionary.zz == nil", true), ("title.length == 16", true),
            ("title.uppercaseString == \"THE DISPOSSESSED\"", true),
            ("id.UUIDString BEGINSWITH \"3F25\"", true), ("link.lastPathComponent == \"1.html\"", true),
            ("link.host == \"example.org\"", true), ("isbn.intValue == 0", true), ("\"42\".intValue == 42", true),
            ("pages.stringValue == \"387\"", true), ("cover.length == 3", true),
            // Collection operators, §5
            ("loans.@count == 3", true), ("reviews.@count == 0", true), ("nothing.@count == 0", true),
            ("editor.books.@count == 0", true), ("loans.@sum.days == 20", true), ("loans.@avg.days > 6.6", true),
            ("loans.@min.days == 3", true), ("loans.@max.days == 10", true),
            ("loans.@sum.fine == 2", true), ("loans.@avg.fine == 1", true), ("loans.@min.fine == 0.5", true),
            ("reviews.@sum.stars == 0", true), ("reviews.@avg.stars == 0", true), ("reviews.@min.stars == nil", true),
            ("@sum.loans.days == nil", nil), ("numbers.@sum.self == 8", true),
            ("numbers.@max.self == 3", true), ("loans.@max.reader == \"Émile\"", true),
            ("numbers.@distinctUnionOfObjects.self.@count == 3", true),
            ("numbers.@unionOfObjects.self.@count == 4", true), ("nested.@unionOfArrays.self.@count == 3", true),
            ("loans.tags.@count == 6", true),
            ("loans.@distinctUnionOfArrays.tags.@count == 2", true), ("loans.@sum.tags.@count == 6", true),
            ("loans.@count.days == 3", true), ("loans.@count.nope == 3", true), ("loans.@count.@count == 3", true),
            ("loans.@max.tags.@count == 2", true), ("editor.@count == 0", true),
            ("loans.@avg.days.intValue == 6", false), ("dictionary.@count == 2", true),
            // Indexes
            ("chapters[FIRST] == \"One\"", true), ("chapters[LAST] == \"Three\"", true), ("chapters[SIZE] == 3", true),
            ("chapters[1] == \"Two\"", true), ("chapters[7] == nil", true), ("chapters[numbers[1]] == \"Two\"", true),
            ("dictionary[\"b\"] == \"two\"", true), ("nothing[0] == nil", true),
            // E11
            ("SUBQUERY(loans, $l, $l.days > 5).@count == 2", true),
            ("SUBQUERY(loans, $l, $l.days > 5 AND $l.fine != nil).@count == 1", true),
            ("SUBQUERY(loans, $l, $l.days > 5).@sum.days == 17", true),
            ("SUBQUERY(nothing, $l, $l.a == 1).@count == 0", true),
            ("SUBQUERY(loans, $l, SUBQUERY(loans, $m, $m.days > $l.days).@count == 0).@count == 1", true),
            ("SUBQUERY(numbers, $n, SUBQUERY(numbers, $n, $n > 2).@count == 1 AND $n == 2).@count == 2", true),
            ("ANY SUBQUERY(loans, $l, $l.days > 5).reader == \"Bob\"", true),
            ("SUBQUERY(loans, $l, title == \"The Dispossessed\").@count == 3", true),
            // E12
            ("pages == $PAGES", true), ("$PAGES + 1 == 388", true), ("$AUTHOR.name == author.name", true),
            // Arithmetic
            ("7 / 2 == 3", true), ("-7 / 2 == -3", true), ("7 / 2.0 == 3.5", true), ("1 / 0 == nil", true),
            ("1 / 0.0 == nil", true), ("modulus:by:(7, 0) == nil", true), ("modulus:by:(-7, 3) == -1", true),
            ("modulus:by:(7.9, 3) == 1", true), ("2 ** 10 == 1024", true), ("pages + 1 == 388", true),
            ("price + price == 19.98", true), ("price * 2 == 19.98", true), ("subtitle + 1 == nil", true),
            ("9223372036854775807 + 1 > 9223372036854775807", true), ("-9223372036854775808 / -1 > 0", true),
            ("6 & 3 == 2", true), ("6 | 3 == 7", true), ("6 ^ 3 == 5", true), ("~5 == -6", true),
            ("1 << 4 == 16", true), ("-16 >> 2 == -4", true), ("1 << 64 == 0", true), ("1 << -1 == 0", true),
            ("-1 >> 70 == -1", true), ("2 + 3 * 4 == 14", true), ("(2 + 3) * 4 == 20", true), ("10 - 3 - 2 == 5", true),
            ("2 ** 3 ** 2 == 512", true), ("-2 ** 2 == 4", true), ("published + 60 > published", true),
            ("CAST(now() - published, \"NSNumber\") > 0", true),
            // Functions, §5
            ("now() == CAST(800000000, \"NSDate\")", true), ("sum(numbers) == 8", true),
            ("sum:(1, 2, 3.5) == 6.5", true), ("count(loans) == 3", true), ("min(numbers) == 1", true),
            ("max({4, 9, nil}) == 9", true), ("average(numbers) == 2", true), ("average({1, 2}) == 1.5", true),
            ("median({1, 3, 2, 10}) == 2.5", true),
            ("median({5, 1, 3}) == 3", true), ("mode({1, 2, 2}) CONTAINS 2", true),
            ("stddev({2, 4, 4, 4, 5, 5, 7, 9}) == 2", true), ("abs(-3) == 3", true), ("abs(-2.5) == 2.5", true),
            ("sqrt(16) == 4", true), ("sqrt(-1) == nil", true), ("log(1000) == 3", true), ("ln(1) == 0", true),
            ("exp(0) == 1", true), ("ceiling(1.2) == 2", true),
            ("floor(-1.2) == -2", true), ("trunc(-1.7) == -1", true), ("ceiling(price) == 10", true),
            ("uppercase(title) BEGINSWITH \"THE D\"", true), ("lowercase(\"ÀB\") == \"àb\"", true),
            ("canonical(accent) == \"creme brulee\"", true), ("length(title) == 16", true),
            ("length(subtitle) == nil", true), ("random() >= 0", true), ("randomn(5) < 5", true),
            ("noindex:(pages) == 387", true), ("distinct(numbers).@count == 3", true),
            ("TERNARY(pages > 300, \"long\", \"short\") == \"long\"", true),
            ("TERNARY(isSold == YES, 1, 0) == 0", true), ("({1, 2} UNION {2, 3}).@count == 3", true),
            ("({1, 2} INTERSECT {2, 3}) == {2}", true), ("({1, 2} MINUS {2, 3}) == {1}", true),
            ("(numbers MINUS nothing).@count == 3", true),
            // CAST, E14
            ("CAST(\"12\", \"NSNumber\") == 12", true), ("CAST(pages, \"NSString\") == \"387\"", true),
            ("CAST(\"1974-07-06T01:46:40Z\", \"NSDate\") == published", true),
            ("CAST(\"1.10\", \"NSDecimalNumber\") == 1.1", true), ("CAST(published, \"NSNumber\") == -836000000", true),
            ("CAST(\"x\", \"NSNumber\") == nil", true), ("CAST(\"2024-02-29\", \"NSDate\") > published", true),
            ("CAST(isbn, \"NSUUID\") == nil", true), ("CAST(nothing, \"NSDate\") == nil", true),
            ("CAST(1.9, \"Int64\") == 1", true),
            // FUNCTION
            ("FUNCTION(title, \"length\") == 16", true), ("FUNCTION(title, \"hasPrefix:\", \"The\") == YES", true),
            ("FUNCTION(\"a\", \"stringByAppendingString:\", \"b\") == \"ab\"", true),
            ("FUNCTION(published, \"dateByAddingTimeInterval:\", 60) > published", true),
            ("FUNCTION(author, \"valueForKey:\", \"age\") == 88", true),
            ("FUNCTION(numbers, \"containsObject:\", 3) == 1", true),
            ("FUNCTION(title, \"substringToIndex:\", 3) == \"The\"", true),
            ("FUNCTION(nothing, \"compare:\", 3) == nil", true),
            ("FUNCTION(chapters, \"objectAtIndex:\", 0) == \"One\"", true),
        ] as [(String, Bool?)])
    func predicatesAreTrueOrFalse(format: String, expected: Bool?) throws {  // predicates §7
        let variables: [String: Operand] = [
            "PAGES": 387, "AUTHOR": .object(Thing("author", ["name": "Ursula Le Guin"])),
        ]
        guard let expected else {
            #expect(throws: PredicateFailure.self) { try evaluate(format, .object(book), variables) }
            return
        }
        #expect(try evaluate(format, .object(book), variables) == expected)
        #expect(try evaluate("NOT (\(format))", .object(book), variables) == !expected)
    }

    @Test(arguments: [
        ("unknown == 1", "no key 'unknown'"), ("pages CONTAINS \"3\"", "isn't a string"),
        ("title BEGINSWITH 3", "isn't a string"), ("pages LIKE \"3*\"", "isn't a string"),
        ("pages MATCHES \"3\"", "isn't a string"), ("title MATCHES \"(\"", "not a regular expression"),
        ("pages < \"x\"", "cannot be ordered"), ("published > 5", "cannot be ordered"),
        ("author < author", "cannot be ordered"), ("pages BETWEEN {1}", "two values"),
        ("pages BETWEEN 5", "two values"), ("pages BETWEEN {\"a\", \"b\"}", "cannot be ordered"),
        ("pages IN 5", "needs a collection"),
        ("ANY pages > \"x\"", "cannot be ordered"), ("ALL author.name < 1", "cannot be ordered"),
        ("pages.@count == 1", "needs a collection"), ("loans.@foo == 1", "no collection operator"),
        ("loans.@sum.reader == 1", "expected numbers"), ("title + 1 == 2", "needs numbers"),
        ("uppercase(pages) == \"x\"", "needs a string"),
        ("pages == $MISSING", "$MISSING"), ("pages[0] == 1", "no elements"), ("chapters[\"x\"] == 1", "index"),
        ("SUBQUERY(pages, $x, $x == 1).@count == 0", "needs a collection"),
        ("pages UNION {1} == {}", "need a collection"),
        ("FUNCTION(title, \"removeItemAtPath:\", 1) == 1", "cannot call"),
        ("FUNCTION(title, \"dealloc\") == 1", "no key"),
        ("CAST(title, \"NSView\") == nil", "no cast"), ("CAST(cover, \"NSDate\") == nil", "cannot be cast"),
        ("distanceToLocation:fromLocation:(author, author) > 1", "locations"),
        ("FETCH(author, author, NO) == 1", "context"), ("ANYKEY == 1", "ANYKEY"), ("title.nope == 1", "no key 'nope'"),
        ("loans.@sum > 1", "needs a key path to its right"), ("loans.@max == 1", "needs a key path to its right"),
        ("nothing.@avg == 0", "needs a key path to its right"), ("numbers.@min.@count == 1", "needs a key path"),
        ("numbers.@unionOfObjects == {}", "needs a key path to its right"),
        ("title.@count == 16", "needs a collection"), ("author.@count == 1", "needs a collection"),
        ("@count.loans == 3", "needs a collection"), ("loans.@max.self == nil", "an object has no order"),
        ("max:(SUBQUERY(loans, $l, $l.days == 3)) == nil", "an object has no order"),
        ("ANY loans.days > \"x\"", "cannot be ordered"), ("loans.days > 5", "cannot be ordered"),
    ])
    func wrongOperandsAreErrors(format: String, expected: String) throws {
        let failure = try #require(throws: PredicateFailure.self) { try evaluate(format) }
        #expect(failure.kind == .evaluation)
        #expect(failure.diagnostic.message.contains(expected), "\(failure.diagnostic.message)")
        #expect(failure.subexpression != nil)
    }

    @Test func errorsNeverTellStoredValues() throws {
        let failure = try #require(throws: PredicateFailure.self) { try evaluate("title < pages") }
        #expect(!failure.diagnostic.message.contains("Dispossessed"))
        #expect(failure.subexpression == "title < pages")
    }

    @Test func plainValuesAreEvaluated() throws {  // E13
        let table: [(String, Operand, Bool)] = [
            ("SELF > 3", 5, true), ("SELF == \"x\"", "x", true), ("SELF.length == 1", "x", true),
            ("SELF BETWEEN {1, 3}", 2.5, true), ("SELF IN {1, 2}", 3, false), ("SELF == nil", nil, true),
            ("SELF.x == nil", nil, true), ("@count == 2", [1, 2], true), ("ANY SELF > 1", [1, 2], true),
            ("SELF CONTAINS 2", [1, 2], true),
            ("@sum.self == 3", [1, 2], true), ("SELF[0] == 1", [1, 2], true), ("SELF BEGINSWITH[c] \"A\"", "abc", true),
        ]
        for (format, value, expected) in table {
            #expect(try evaluate(format, value) == expected, "\(format)")
        }
    }

    @Test func blocksSeeTheObjectAndTheVariables() throws {
        let node = PredicateNode.block(
            PredicateBlock { object, variables in
                guard case .value(.integer(let number)) = object, case .value(.integer(let limit))? = variables["limit"]
                else { return false }
                return number > limit
            })
        let evaluator = PredicateEvaluator(.and([node, .constant(true)]))
        #expect(try evaluator.evaluate(5, in: EvaluationFrame(variables: ["limit": 4])))
        #expect(try !evaluator.evaluate(4, in: EvaluationFrame(variables: ["limit": 4])))
        #expect(try !evaluator.evaluate(5))
    }

    @Test func fetchExpressionsAskTheFrame() throws {
        let frame = EvaluationFrame { request, context, countOnly in
            #expect(!countOnly)
            #expect(OperandComparison.equal(request, "r") && OperandComparison.equal(context, "c"))
            return [1, 2]
        }
        #expect(try PredicateEvaluator(parse("2 IN FETCH('r', 'c', NO)")).evaluate(nil, in: frame))
    }

    @Test func assignmentsBindAVariable() throws {
        let frame = EvaluationFrame()
        let value = try ExpressionEvaluator(PredicateParser.parseExpression(format: "$x := pages + 1")).value(
            for: .object(book), in: frame)
        #expect(OperandComparison.equal(value, 388))
        #expect(frame.variables["x"].map { OperandComparison.equal($0, 388) } == true)
    }

    @Test func numbersInSetsAreFoundByValue() {
        let set = OperandSet([
            1, 2.5, .value(.decimal(3)), .value(.decimal(Decimal(string: "0.1") ?? 0)), "a", nil, 1e300,
        ])
        for member in [
            1.0, 2.5, 3, 0.1, "a", nil, .value(.decimal(Decimal(string: "2.5") ?? 0)), .value(.uri("a")), 1e300,
        ] as [Operand] {
            #expect(set.contains(member), "\(member)")
        }
        for other in [2, 2.4, "b", .value(.decimal(Decimal(string: "2.4") ?? 0)), [1]] as [Operand] {
            #expect(!set.contains(other))
        }
    }

    @Test(
        arguments: [
            (.integer(1), .double(1), 0), (.integer(.max), .double(9.223372036854775807e18), -1),
            (.integer(.min), .double(-9.223372036854775808e18), 0), (.integer(1), .double(1.5), -1),
            (.integer(-1), .double(-1.5), 1), (.double(.nan), .double(.nan), 0), (.double(.nan), .integer(.min), -1),
            (.double(.infinity), .integer(.max), 1), (.double(0.1), .decimal(Decimal(string: "0.1") ?? 0), 0),
            (.double(1e200), .decimal(5), 1), (.integer(5), .decimal(Decimal(string: "5.0") ?? 0), 0),
            (.double(0.30000000000000004), .decimal(Decimal(string: "0.3") ?? 0), 1),
        ] as [(Value, Value, Int)])
    func numbersCompareByValue(a: Value, b: Value, expected: Int) {
        #expect(Numbers.order(a, b)?.signum() == expected)
        #expect(Numbers.order(b, a)?.signum() == -expected)
    }

    @Test(arguments: PredicateFunction.allCases)
    func everyFunctionOfTheLanguageIsComputed(_ function: PredicateFunction) throws {
        let number = ExpressionNode.constant(.value(.integer(3)))
        let text = ExpressionNode.constant(.value(.string("NSString")))
        let arguments: [ExpressionNode] =
            switch function {
            case .uppercase, .lowercase, .canonical, .length, .characters: [text]
            case .cast: [number, text]
            case .element: [.aggregate([number]), .constant(.value(.integer(0)))]
            default: Array(repeating: number, count: function.argumentCount.lowerBound)
            }
        let expression = ExpressionEvaluator(.function(function.rawValue, arguments))
        if function == .distance {
            #expect(throws: PredicateFailure.self) { try expression.value(for: .null) }
        } else {
            #expect(!(try expression.value(for: .null)).isNull)
        }
    }
}
