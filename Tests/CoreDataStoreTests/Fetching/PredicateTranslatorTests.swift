import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// What a predicate becomes: what stands behind `SELECT COUNT(*) FROM`, and the bound values.
struct TranslationCase: CustomTestStringConvertible, Sendable {
    var entity: String
    var format: String
    var sql: String
    var bindings: [SQLValue]
    var testDescription: String { format }

    static func check(_ entity: String, _ format: String, _ sql: String, _ bindings: SQLValue...) -> Self {
        Self(entity: entity, format: format, sql: sql, bindings: bindings)
    }

    static func text(_ entity: String, _ format: String, _ arguments: [FormatArgument] = []) throws -> SQLText {
        let planner = FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 1000, dialect: .sqlite)
        return try planner.count(Bookshop.plan(entity, format, arguments)).text
    }

    func run() throws {
        let text = try Self.text(entity, format)
        #expect(text.sql == "SELECT COUNT(*) FROM " + sql)
        #expect(text.bindings == bindings)
    }
}

/// predicates.md §8.1, row by row.
@Suite struct PredicateTranslatorTests {
    typealias Case = TranslationCase

    static let comparisons: [Case] = [
        .check("Tag", "name == 'a'", "ZTAG t0 WHERE t0.ZNAME = ?", .text("a")),
        .check("Tag", "name != 'a'", "ZTAG t0 WHERE t0.ZNAME <> ? OR t0.ZNAME IS NULL", .text("a")),
        .check("Tag", "NOT name == 'a'", "ZTAG t0 WHERE t0.ZNAME <> ? OR t0.ZNAME IS NULL", .text("a")),
        .check("Tag", "name == nil", "ZTAG t0 WHERE t0.ZNAME IS NULL"),
        .check("Tag", "name != nil", "ZTAG t0 WHERE t0.ZNAME IS NOT NULL"),
        .check("Tag", "'a' == name", "ZTAG t0 WHERE ? = t0.ZNAME", .text("a")),
        .check(
            "Tag", "NOT (heft < 3 OR name == 'b')",
            "ZTAG t0 WHERE (t0.ZHEFT >= ? OR t0.ZHEFT IS NULL) AND (t0.ZNAME <> ? OR t0.ZNAME IS NULL)", .integer(3),
            .text("b")),
        .check("Tag", "heft BETWEEN {1, 3}", "ZTAG t0 WHERE t0.ZHEFT BETWEEN ? AND ?", .integer(1), .integer(3)),
        .check(
            "Tag", "NOT heft BETWEEN {1, 3}",
            "ZTAG t0 WHERE t0.ZHEFT < ? OR t0.ZHEFT IS NULL OR t0.ZHEFT > ?", .integer(1), .integer(3)),
        .check("Tag", "name IN {'a', 'b', nil}", "ZTAG t0 WHERE t0.ZNAME IN (?, ?)", .text("a"), .text("b")),
        .check(
            "Tag", "NOT name IN {'a', 'b'}",
            "ZTAG t0 WHERE NOT (t0.ZNAME IN (?, ?)) OR t0.ZNAME IS NULL", .text("a"), .text("b")),
        .check("Tag", "heft == 'x'", "ZTAG t0 WHERE 1 = 0"),
        .check("Comic", "artist == title", "ZBOOK t0 WHERE t0.Z_ENT = ? AND t0.ZARTIST IS t0.ZTITLE", .integer(3)),
        .check("Book", "cover != nil", "ZBOOK t0 WHERE t0.ZCOVER IS NOT NULL"),
        // Doubles are held against doubles, unless that would change the number.
        .check("Book", "weight == 3", "ZBOOK t0 WHERE t0.ZWEIGHT = ?", .real(3)),
        .check("Book", "weight BETWEEN {1, 2.5}", "ZBOOK t0 WHERE t0.ZWEIGHT BETWEEN ? AND ?", .real(1), .real(2.5)),
        .check(
            "Book", "weight < 9007199254740993", "ZBOOK t0 WHERE t0.ZWEIGHT < ?", .integer(9_007_199_254_740_993)),
    ]

    @Test(arguments: comparisons) func aComparisonSaysWhatBecomesOfNil(_ example: TranslationCase) throws {
        try example.run()
    }

    static let texts: [Case] = [
        .check(
            "Tag", "name BEGINSWITH 'ab'",
            "ZTAG t0 WHERE t0.ZNAME >= ? AND t0.ZNAME < ?", .text("ab"), .text("ac")),
        .check(
            "Tag", "NOT name BEGINSWITH 'ab'",
            "ZTAG t0 WHERE t0.ZNAME < ? OR t0.ZNAME >= ? OR t0.ZNAME IS NULL", .text("ab"), .text("ac")),
        .check("Tag", "name BEGINSWITH[cd] 'ab'", "ZTAG t0 WHERE CDTextBeginsWith(t0.ZNAME, ?, 3)", .text("ab")),
        .check("Tag", "name CONTAINS 'x'", "ZTAG t0 WHERE CDTextContains(t0.ZNAME, ?, 0)", .text("x")),
        .check("Tag", "name LIKE[c] 'a*'", "ZTAG t0 WHERE CDTextLike(t0.ZNAME, ?, 1)", .text("a*")),
        .check("Tag", "name MATCHES 'a.*'", "ZTAG t0 WHERE CDTextMatches(t0.ZNAME, ?, 0)", .text("a.*")),
        .check("Tag", "name ==[c] 'a'", "ZTAG t0 WHERE CDTextEqual(t0.ZNAME, ?, 1)", .text("a")),
        .check("Tag", "name <[c] 'a'", "ZTAG t0 WHERE CDTextCompare(t0.ZNAME, ?, 1) < 0", .text("a")),
        .check(
            "Tag", "name IN[c] {'a','b'}",
            "ZTAG t0 WHERE CDTextEqual(?, t0.ZNAME, 1) OR CDTextEqual(?, t0.ZNAME, 1)", .text("a"), .text("b")),
        .check("Book", "uppercase(title) == 'X'", "ZBOOK t0 WHERE CDUppercase(t0.ZTITLE) = ?", .text("X")),
        .check("Book", "title.length > 3", "ZBOOK t0 WHERE CDTextLength(t0.ZTITLE) > ?", .integer(3)),
    ]

    @Test(arguments: texts) func textsCompareByFunctionsUnlessBytesSuffice(_ example: TranslationCase) throws {
        try example.run()
    }

    static let paths: [Case] = [
        .check(
            "Book", "author.name == 'x' AND author.rating > 1",
            "ZBOOK t0 LEFT OUTER JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZAUTHOR WHERE t1.ZNAME = ? AND t1.ZRATING > ?",
            .text("x"), .real(1)),
        .check("Book", "author == nil", "ZBOOK t0 WHERE t0.ZAUTHOR IS NULL"),
        .check("Book", "entity.name == 'Comic'", "ZBOOK t0 WHERE t0.Z_ENT = ?", .integer(3)),
        .check(
            "Comic", "hero.name == 'x'",
            "ZBOOK t0 LEFT OUTER JOIN ZAUTHOR t1 ON t1.Z_PK = t0.ZHERO WHERE t0.Z_ENT = ? AND t1.ZNAME = ?",
            .integer(3), .text("x")),
    ]

    @Test(arguments: paths) func toOnesJoinOnceAndKeysStandForRows(_ example: TranslationCase) throws {
        try example.run()
    }

    static let expressions: [Case] = [
        .check(
            "Tag", "heft + 1 > heft * 2 - 3",
            "ZTAG t0 WHERE t0.ZHEFT + ? > t0.ZHEFT * ? - ?", .integer(1), .integer(2), .integer(3)),
        .check("Tag", "heft / 2 == 1", "ZTAG t0 WHERE CDDivide(t0.ZHEFT, ?) = ?", .integer(2), .integer(1)),
        .check(
            "Book", "TERNARY(isOut == YES, pages, stock) > 3",
            "ZBOOK t0 WHERE CASE WHEN t0.ZISOUT = ? THEN t0.ZPAGES ELSE t0.ZSTOCK END > ?", .integer(1), .integer(3)),
        .check(
            "Book", "max({pages, stock}) > 3",
            "ZBOOK t0 WHERE MAX(COALESCE(t0.ZPAGES, t0.ZSTOCK), COALESCE(t0.ZSTOCK, t0.ZPAGES)) > ?", .integer(3)),
        .check("Book", "published > CAST(100, 'NSDate') + 5", "ZBOOK t0 WHERE t0.ZPUBLISHED > ?", .real(105.0)),
        .check("Book", "1 + 1 == 2", "ZBOOK t0 WHERE ? = ?", .integer(2), .integer(2)),
        .check("Book", "noindex(pages) == 3", "ZBOOK t0 WHERE COALESCE(t0.ZPAGES, NULL) = ?", .integer(3)),
        .check(
            "Book", "max:(pages, stock) == 3",
            "ZBOOK t0 WHERE MAX(COALESCE(t0.ZPAGES, t0.ZSTOCK), COALESCE(t0.ZSTOCK, t0.ZPAGES)) = ?", .integer(3)),
        .check("Tag", "FALSEPREDICATE OR heft == 1", "ZTAG t0 WHERE t0.ZHEFT = ?", .integer(1)),
    ]

    @Test(arguments: expressions) func expressionsBecomeSQL(_ example: TranslationCase) throws { try example.run() }
}
