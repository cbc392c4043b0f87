import Testing

@testable import CoreDataSQL

private let a = SQLExpression.column("t0", "ZA")
private let b = SQLExpression.column(nil, "ZB")
private let c = SQLExpression.column(nil, "ZC")
private let one = SQLExpression.integer(1)
private let select = SelectStatement([.init(one)], from: .init("ZITEM", as: "t1"))
private let isA = SQLExpression.comparison(.equal, a, .bind(.integer(7)))
private let isB = SQLExpression.isNull(b)

@Suite struct SQLExpressionRenderingTests {
    @Test(
        arguments: [
            // Operands
            (.bind(.text("x")), "?"),
            (.integer(-3), "-3"),
            (.integer(.min), "-9223372036854775808"),
            (.null, "NULL"),
            (a, "t0.ZA"),
            (.column("order", "group"), "\"order\".\"group\""),
            (.column("", "ZA"), "ZA"),
            (.countAll, "COUNT(*)"),
            // Comparisons
            (.comparison(.equal, a, .bind(.null)), "t0.ZA = ?"),
            (.comparison(.notEqual, a, b), "t0.ZA <> ZB"),
            (.comparison(.identical, a, .null), "t0.ZA IS NULL"),
            (.comparison(.notIdentical, a, b), "t0.ZA IS NOT ZB"),
            (.comparison(.equal, .comparison(.less, a, b), one), "(t0.ZA < ZB) = 1"),
            (.comparison(.less, .arithmetic(.add, a, b), one), "t0.ZA + ZB < 1"),
            (.comparison(.equal, isB, .or([isA, isB])), "(ZB IS NULL) = (t0.ZA = ? OR ZB IS NULL)"),
            (.isNull(isA), "(t0.ZA = ?) IS NULL"),
            (.isNotNull(.arithmetic(.multiply, a, b)), "t0.ZA * ZB IS NOT NULL"),
            (.between(a, one, .bind(.integer(2))), "t0.ZA BETWEEN 1 AND ?"),
            (.between(isB, .and([isA, isB]), one), "(ZB IS NULL) BETWEEN (t0.ZA = ? AND ZB IS NULL) AND 1"),
            (.inList(a, [one, .bind(.null)]), "t0.ZA IN (1, ?)"),
            (.inList(a, []), "1 = 0"),
            (.inSelect(a, select), "t0.ZA IN (SELECT 1 FROM ZITEM t1)"),
            (.exists(select), "EXISTS (SELECT 1 FROM ZITEM t1)"),
            (.not(.exists(select)), "NOT EXISTS (SELECT 1 FROM ZITEM t1)"),
            (.comparison(.greater, .scalar(select), one), "(SELECT 1 FROM ZITEM t1) > 1"),
            // Logic
            (.and([]), "1 = 1"),
            (.or([]), "1 = 0"),
            (.and([isA]), "t0.ZA = ?"),
            (.and([isA, isB, isA]), "t0.ZA = ? AND ZB IS NULL AND t0.ZA = ?"),
            (.and([.or([isA, isB]), isB]), "(t0.ZA = ? OR ZB IS NULL) AND ZB IS NULL"),
            (.or([.and([isA, isB]), isB]), "(t0.ZA = ? AND ZB IS NULL) OR ZB IS NULL"),
            (.and([.and([isA, isB]), isB]), "(t0.ZA = ? AND ZB IS NULL) AND ZB IS NULL"),
            (.and([.or([isA]), isB]), "t0.ZA = ? AND ZB IS NULL"),
            (.and([.and([]), .or([])]), "1 = 1 AND 1 = 0"),
            (.not(isA), "NOT (t0.ZA = ?)"),
            (.not(.not(isA)), "NOT (NOT (t0.ZA = ?))"),
            (.not(.and([])), "NOT (1 = 1)"),
            (.and([.not(isA), isB]), "NOT (t0.ZA = ?) AND ZB IS NULL"),
            (.comparison(.equal, .not(isA), one), "(NOT (t0.ZA = ?)) = 1"),
            // Arithmetic
            (.arithmetic(.subtract, .arithmetic(.subtract, a, b), c), "t0.ZA - ZB - ZC"),
            (.arithmetic(.subtract, a, .arithmetic(.subtract, b, c)), "t0.ZA - (ZB - ZC)"),
            (.arithmetic(.divide, a, .arithmetic(.multiply, b, c)), "t0.ZA / (ZB * ZC)"),
            (.arithmetic(.multiply, .arithmetic(.add, a, b), c), "(t0.ZA + ZB) * ZC"),
            (.arithmetic(.add, .arithmetic(.multiply, a, b), c), "t0.ZA * ZB + ZC"),
            (.arithmetic(.bitOr, .arithmetic(.bitAnd, a, b), c), "(t0.ZA & ZB) | ZC"),
            (.arithmetic(.concatenate, a, .arithmetic(.add, b, c)), "t0.ZA || (ZB + ZC)"),
            (.arithmetic(.subtract, a, .integer(-1)), "t0.ZA - -1"),
            (.negation(a), "-t0.ZA"),
            (.negation(.integer(-1)), "-(-1)"),
            (.negation(.negation(a)), "-(-t0.ZA)"),
            (.negation(.arithmetic(.add, a, b)), "-(t0.ZA + ZB)"),
            (.onesComplement(.arithmetic(.bitOr, a, b)), "~(t0.ZA | ZB)"),
            (.arithmetic(.multiply, .negation(a), b), "-t0.ZA * ZB"),
            // Functions and the rest
            (.function(.substring, [a, .bind(.integer(1)), b]), "SUBSTR(t0.ZA, ?, ZB)"),
            (.function(.now, []), "CDNow()"),
            (.function(.greatest, [a, b]), "MAX(t0.ZA, ZB)"),
            (.aggregate(.count, a, distinct: true), "COUNT(DISTINCT t0.ZA)"),
            (.aggregate(.sum, .arithmetic(.add, a, b), distinct: false), "SUM(t0.ZA + ZB)"),
            (.cast(a, to: .integer), "CAST(t0.ZA AS INTEGER)"),
            (.cast(a, to: .real), "CAST(t0.ZA AS REAL)"),
            (
                .collate(.arithmetic(.concatenate, a, b), .caseInsensitive),
                "(t0.ZA || ZB) COLLATE CDCaseInsensitive"
            ),
            (.comparison(.less, .collate(a, .localized), b), "t0.ZA COLLATE CDLocalized < ZB"),
            (.negation(.collate(a, .localized)), "-(t0.ZA COLLATE CDLocalized)"),
            (
                .caseWhen([.init(isA, one), .init(isB, .bind(.null))], otherwise: c),
                "CASE WHEN t0.ZA = ? THEN 1 WHEN ZB IS NULL THEN ? ELSE ZC END"
            ),
            (.caseWhen([], otherwise: .arithmetic(.add, a, b)), "(t0.ZA + ZB)"),
        ] as [(SQLExpression, String)])
    func rendersWithTheParenthesesThatAreNeeded(expression: SQLExpression, expected: String) {
        #expect(expression.text.sql == expected)
    }

    @Test func valuesAreBoundInTheOrderOfTheirPlaceholders() {
        let expression = SQLExpression.caseWhen(
            [.init(.inList(a, [.bind(.integer(1)), .bind(.text("b"))]), .bind(.real(0.5)))], otherwise: .bind(.null))
        #expect(expression.text.bindings == [.integer(1), .text("b"), .real(0.5), .null])
    }
}
