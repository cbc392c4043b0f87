import Testing

@testable import CoreDataModelTools

@Suite struct SimplePredicateTests {
    static let rows: [(String, [SimplePredicate.Row], Bool)] = [
        ("listed == 1", [.init(key: "listed", comparator: "==", value: "1")], false),
        (
            "name BEGINSWITH[c] 'A' AND unit.name != nil",
            [
                .init(key: "name", comparator: "BEGINSWITH[c]", value: "\"A\""),
                .init(key: "unit.name", comparator: "!=", value: "nil"),
            ], false
        ),
        (
            "a > $X OR b IN $Y",
            [
                .init(key: "a", comparator: ">", value: "$X"), .init(key: "b", comparator: "IN", value: "$Y"),
            ], true
        ),
    ]

    @Test(arguments: rows) func comparisonsAreRows(text: String, rows: [SimplePredicate.Row], matchesAny: Bool) throws {
        let predicate = try #require(SimplePredicate(text))
        #expect(predicate.rows == rows)
        #expect(predicate.matchesAny == matchesAny)
        #expect(SimplePredicate(predicate.text) == predicate)
    }

    @Test(
        arguments: [
            "ANY items.name == 'A'", "NOT a == 1", "a == b", "1 == a", "a == 1 AND (b == 2 OR c == 3)", "TRUEPREDICATE",
            "SUBQUERY(items, $i, $i.a == 1).@count > 0", "a ==", "",
        ])
    func otherPredicatesAreNone(text: String) {
        #expect(SimplePredicate(text) == nil)
    }

    @Test(
        arguments: [
            ("Milk", true, "\"Milk\""), ("a \"b\" \\", true, #""a \"b\" \\""#), ("\"Milk\"", true, "\"Milk\""),
            ("$NAME", true, "$NAME"), ("nil", true, "nil"), ("5", true, "\"5\""), ("5", false, "5"), ("", true, "\"\""),
        ] as [(String, Bool, String)])
    func wordsAreQuoted(text: String, isText: Bool, literal: String) {
        #expect(SimplePredicate.literal(text, isText: isText) == literal)
    }
}
