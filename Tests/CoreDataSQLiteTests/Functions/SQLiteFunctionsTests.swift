import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataSQLite

private typealias F = SQLFunction

private func text(_ value: String) -> SQLExpression { .bind(.text(value)) }
private func call(_ function: SQLFunction, _ values: SQLValue...) -> SQLExpression {
    .function(function, values.map { .bind($0) })
}

@Suite struct SQLiteFunctionsTests {
    @Test(
        arguments: [
            (call(F.textEqual, .text("Café"), .text("cafe"), .integer(3)), .integer(1)),
            (call(F.textEqual, .text("Café"), .text("cafe"), .integer(1)), .integer(0)),
            (call(F.textEqual, .null, .text("a"), .integer(0)), .null),
            (call(F.textEqual, .text("a"), .null, .integer(0)), .null),
            (call(F.textBeginsWith, .text("Große"), .text("GR"), .integer(1)), .integer(1)),
            (call(F.textEndsWith, .text("Milk"), .text("ilk"), .integer(0)), .integer(1)),
            (call(F.textContains, .text("Große"), .text("SS"), .integer(1)), .integer(1)),
            (call(F.textContains, .text("Milk"), .text(""), .integer(0)), .integer(0)),
            (call(F.textBeginsWith, .text("Milk"), .text(""), .integer(1)), .integer(0)),
            (call(F.textEndsWith, .text(""), .text(""), .integer(3)), .integer(0)),
            (call(F.textLike, .text("Anna"), .text("A*n?"), .integer(0)), .integer(1)),
            (call(F.textLike, .integer(1234), .text("1*"), .integer(0)), .integer(1)),
            (call(F.textMatches, .text("b12"), .text("[A-C]\\d+"), .integer(1)), .integer(1)),
            (call(F.textMatches, .text("b12x"), .text("[a-c]\\d+"), .integer(0)), .integer(0)),
            (call(F.textMatches, .null, .text("("), .integer(0)), .null),
            (call(F.textCompare, .text("a"), .text("B"), .integer(1)), .integer(-1)),
            (call(F.textCompare, .text("a"), .text("B"), .integer(0)), .integer(1)),
            (call(F.uppercase, .text("straße")), .text("STRASSE")),
            (call(F.lowercase, .text("ÄÖÜ")), .text("äöü")),
            (call(F.uppercase, .null), .null),
            (call(F.uppercase, .text("")), .text("")),
            (call(F.canonical, .text("Éclair")), .text("eclair")),
            (call(F.textLength, .text("aé🥛")), .integer(4)),
            (call(F.textLength, .text("")), .integer(0)),
            (call(F.textLength, .null), .null),
            (call(F.power, .integer(2), .integer(10)), .real(1024)),
            (call(F.power, .null, .integer(10)), .null),
            (call(F.squareRoot, .real(6.25)), .real(2.5)),
            (call(F.squareRoot, .integer(-1)), .null),
            (call(F.naturalLogarithm, .integer(1)), .real(0)),
            (call(F.logarithm, .integer(1000)), .real(3)),
            (call(F.exponential, .integer(0)), .real(1)),
            (call(F.floor, .real(-1.5)), .real(-2)),
            (call(F.ceiling, .real(-1.5)), .real(-1)),
            (call(F.truncate, .real(-1.5)), .real(-1)),
            (call(F.floor, .integer(.max)), .integer(.max)),
            (call(F.floor, .text("milk")), .null),
            (call(F.bitwiseXor, .integer(6), .integer(3)), .integer(5)),
            (call(F.divide, .integer(7), .integer(2)), .integer(3)),
            (call(F.divide, .integer(7), .real(2)), .real(3.5)),
            (call(F.divide, .integer(7), .integer(0)), .null),
            (call(F.divide, .real(7), .integer(0)), .null),
            (call(F.divide, .integer(.min), .integer(-1)), .real(0x1p63)),
            (call(F.absolute, .integer(.min)), .real(0x1p63)),
            (call(F.absolute, .integer(-3)), .integer(3)),
            (call(F.absolute, .real(-2.5)), .real(2.5)),
            (call(F.absolute, .null), .null),
            (call(F.decimalAdd, .real(0.1), .real(0.2)), .real(0.3)),
            (call(F.decimalAdd, .real(0.5), .real(0.5)), .integer(1)),
            (call(F.decimalAdd, .integer(.max), .real(0.5)), .real(9223372036854775807.5)),
            (call(F.decimalSubtract, .integer(1), .real(0.9)), .real(0.1)),
            (call(F.decimalSubtract, .null, .real(0.9)), .null),
            (call(F.decimalMultiply, .real(1.1), .integer(3)), .real(3.3)),
            (call(F.decimalMultiply, .real(-1234567.891), .real(1000000.1)), .real(-1234568014456.7891)),
            (call(F.decimalMultiply, .real(1.23456789012), .real(1.23456789012)), .real(1.5241578753153484)),
            (call(F.decimalMultiply, .real(1e300), .real(1e300)), .null),
            (call(F.decimalDivide, .integer(3), .integer(2)), .real(1.5)),
            (call(F.decimalDivide, .real(0.3), .integer(3)), .real(0.1)),
            (call(F.decimalDivide, .real(0.3), .integer(0)), .null),
            (call(F.decimalDivide, .real(0.3), .text("milk")), .null),
            (call(F.modulus, .integer(-7), .integer(2)), .integer(-1)),
            (call(F.modulus, .integer(7), .integer(0)), .null),
            (call(F.modulus, .integer(.min), .integer(-1)), .integer(0)),
            (call(F.leftShift, .integer(1), .integer(70)), .integer(0)),
            (call(F.rightShift, .integer(-8), .integer(1)), .integer(-4)),
            (call(F.random, .integer(1)), .integer(0)),
            (call(F.random, .integer(0)), .null),
        ] as [(SQLExpression, SQLValue)])
    func computes(expression: SQLExpression, expected: SQLValue) throws {
        #expect(try makeDatabase().value("SELECT \(expression)") == expected)
    }

    @Test(
        arguments: [
            ([.integer(.max), .integer(1)], .real(0x1p63), .real(0x1p62), .real(0x1p63)),
            ([.integer(1), .integer(2)], .integer(3), .real(1.5), .integer(3)),
            ([.real(0.1), .real(0.2)], .real(0.1 + 0.2), .real((0.1 + 0.2) / 2), .real(0.3)),
            (
                [.real(12345678901.5), .real(0.000001)], .real(12345678901.500001), .real(6172839450.7500005),
                .real(12345678901.500001)
            ),
            ([], .null, .null, .null),
        ] as [([SQLValue], SQLValue, SQLValue, SQLValue)])
    func sums(numbers: [SQLValue], sum: SQLValue, average: SQLValue, decimalSum: SQLValue) throws {
        let database = try makeDatabase()
        try database.write { connection in
            try connection.execute("CREATE TABLE ZN ( N ); INSERT INTO ZN VALUES (NULL)")
            for number in numbers { try connection.run("INSERT INTO ZN VALUES (\(bind: number))") }
        }
        let columns = [SQLAggregate.sum, .average, .decimalSum].map {
            SelectStatement.ResultColumn(.aggregate($0, .column(nil, "N"), distinct: false))
        }
        let select = SelectStatement(columns, from: .init("ZN", as: "t0"))
        #expect(try database.rows(select.text) == [[sum, average, decimalSum]])
    }

    @Test func aPatternThatIsNoneIsAnError() throws {
        let database = try makeDatabase()
        let failed = failure {
            _ = try database.value("SELECT \(call(F.textMatches, .text("a"), .text("("), .integer(0)))")
        }
        #expect(failed?.message == "\"(\" is not a regular expression")
        guard case .pattern? = failed?.kind else { return #expect(Bool(false), "\(String(describing: failed?.kind))") }
    }

    @Test func randomIsNewForEveryRow() throws {
        let rows = try makeDatabase().rows(
            "WITH c(x) AS (VALUES (1), (2), (3), (4)) SELECT \(SQLExpression.function(F.random, [])) FROM c")
        #expect(Set(rows).count > 1)
    }

    @Test func nowCountsFrom2001() throws {
        let value = try makeDatabase().value("SELECT \(SQLExpression.function(F.now, [])) > 800000000")
        #expect(value == .integer(1))
    }

    @Test(
        arguments: [
            ([1, 3, 2], .real(2), .real((2.0 / 3).squareRoot()), .real(1)),
            ([4, 1, 4, 1], .real(2.5), .real(1.5), .real(1)),
            ([7], .real(7), .real(0), .real(7)),
            ([], .null, .null, .null),
        ] as [([Int64], SQLValue, SQLValue, SQLValue)])
    func aggregates(numbers: [Int64], median: SQLValue, deviation: SQLValue, mode: SQLValue) throws {
        let database = try makeDatabase()
        try database.write { connection in
            // NULL is no number.
            try connection.execute("CREATE TABLE ZN ( N ); INSERT INTO ZN VALUES (NULL)")
            for number in numbers { try connection.run("INSERT INTO ZN VALUES (\(bind: .integer(number)))") }
        }
        let columns = [SQLAggregate.median, .standardDeviation, .mode].map {
            SelectStatement.ResultColumn(.aggregate($0, .column(nil, "N"), distinct: false))
        }
        let select = SelectStatement(columns, from: .init("ZN", as: "t0"))
        #expect(try database.rows(select.text) == [[median, deviation, mode]])
    }

    @Test(arguments: [
        (SQLCollation.caseInsensitive, ["a", "B", "c"]),
        (SQLCollation.localized, ["a", "B", "c"]),
        (SQLCollation.localizedCaseInsensitive, ["a", "B", "c"]),
        (SQLCollation.localizedStandard, ["item 9", "Item 10"]),
    ])
    func collations(collation: SQLCollation, expected: [String]) throws {
        let database = try makeDatabase()
        try database.write { connection in
            for (key, title) in expected.reversed().enumerated() {
                try connection.run("INSERT INTO ZBOOK VALUES (\(integer: Int64(key)), 1, \(bind: .text(title)))")
            }
        }
        var select = SelectStatement([.init(.column(nil, "ZTITLE"))], from: .init("ZBOOK", as: ""))
        select.orders = [.init(.collate(.column(nil, "ZTITLE"), collation))]
        #expect(try database.rows(select.text) == expected.map { [.text($0)] })
    }

    @Test func functionsMayBeUsedInAnIndex() throws {
        let database = try makeDatabase()
        let canonical = SQLExpression.function(F.canonical, [.column(nil, "ZTITLE")])
        try database.write { try $0.run("CREATE INDEX i ON ZBOOK (\(canonical))") }
        let plan = try database.rows("EXPLAIN QUERY PLAN SELECT Z_PK FROM ZBOOK WHERE \(canonical) = 'x'")
        #expect("\(plan)".contains("USING COVERING INDEX i") || "\(plan)".contains("USING INDEX i"))
    }
}
