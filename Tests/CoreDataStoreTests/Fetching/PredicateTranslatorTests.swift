import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// predicates.md §8.1: what becomes of each construct.
@Suite struct PredicateTranslatorTests {
    static func sql(_ entity: String, _ format: String, _ arguments: [FormatArgument] = []) throws -> SQLText {
        let planner = FetchPlanner(model: Library.model, layout: Library.layout, now: 1000)
        return try planner.count(Library.plan(entity, format, arguments)).text
    }

    struct Case: CustomTestStringConvertible, Sendable {
        var entity: String
        var format: String
        var sql: String
        var bindings: [SQLValue]
        var testDescription: String { format }

        init(_ format: String, _ sql: String, _ bindings: SQLValue..., on entity: String = "Tag") {
            self.format = format
            self.entity = entity
            self.sql = sql
            self.bindings = bindings
        }
    }

    static let cases: [Case] = [
        Case("name == \"a\"", ""),
    ]

    @Test func dump() throws {
        let formats: [(String, String)] = [
            ("Tag", "name == 'a'"), ("Tag", "name != 'a'"), ("Tag", "NOT name == 'a'"), ("Tag", "name == nil"),
            ("Tag", "name != nil"), ("Tag", "'a' == name"), ("Tag", "NOT (heft < 3 OR name == 'b')"),
            ("Tag", "heft BETWEEN {1, 3}"), ("Tag", "NOT heft BETWEEN {1, 3}"), ("Tag", "name IN {'a', 'b', nil}"),
            ("Tag", "NOT name IN {'a', 'b'}"), ("Tag", "name BEGINSWITH 'ab'"), ("Tag", "NOT name BEGINSWITH 'ab'"),
            ("Tag", "name BEGINSWITH[cd] 'ab'"), ("Tag", "name CONTAINS 'x'"), ("Tag", "name LIKE[c] 'a*'"),
            ("Tag", "name MATCHES 'a.*'"), ("Tag", "name ==[c] 'a'"), ("Tag", "name <[c] 'a'"), ("Tag", "name IN[c] {'a','b'}"),
            ("Tag", "heft + 1 > heft * 2 - 3"), ("Tag", "heft == 'x'"), ("Tag", "heft / 2 == 1"),
            ("Tag", "books.@count > 0"), ("Tag", "books.@count == 2"), ("Tag", "ANY books.title == 'x'"),
            ("Tag", "ALL books.pages > 3"), ("Tag", "NONE books.pages > 3"), ("Tag", "ANY books.author.name == nil"),
            ("Author", "SUBQUERY(books, $b, $b.pages > 3 AND $b.author == SELF).@count > 1"),
            ("Author", "books.@sum.pages > 10"), ("Author", "books.@avg.price > 10"), ("Author", "books.@max.published < now()"),
            ("Author", "ANY books.tags.name == 'x'"), ("Author", "books.tags.@count > 3"), ("Tag", "ANY books.author.books.pages > 1"),
            ("Book", "author.name == 'x' AND author.rating > 1"), ("Book", "author == nil"), ("Comic", "artist == title"),
            ("Book", "entity.name == 'Comic'"), ("Comic", "hero.name == 'x'"), ("Book", "chapters[FIRST].title == 'x'"),
            ("Book", "chapters[LAST].length > 1"), ("Book", "chapters[SIZE] == 3"), ("Book", "TERNARY(isOut == YES, pages, stock) > 3"),
            ("Book", "uppercase(title) == 'X'"), ("Book", "title.length > 3"), ("Book", "max({pages, stock}) > 3"), ("Shelf", "ANY picks.name == 'x'"),
            ("Shelf", "SUBQUERY(books, $b, SUBQUERY($b.tags, $t, $t.heft > 1).@count > 2).@count == 0"),
            ("Book", "'x' IN tags.name"), ("Book", "published > CAST(100, 'NSDate') + 5"), ("Book", "1 + 1 == 2"),
            ("Shelf", "books[0].title == 'x'"), ("Book", "author IN tags.books.author"), ("Book", "tags.@distinctUnionOfObjects.name.@count > 1"),
            ("Book", "cover != nil"), ("Book", "noindex(pages) == 3"), ("Book", "max:(pages, stock) == 3"), ("Tag", "FALSEPREDICATE OR heft == 1"),
            ("Book", "SUBQUERY(tags, $t, $t.heft > 1 AND $t.name == title).@max.heft > 3"),
        ]
        for (entity, format) in formats {
            do {
                let text = try Self.sql(entity, format)
                print("        Case(\n            \(format.debugDescription),\n            \(text.sql.debugDescription),\n            \(text.bindings.map { ".\($0)" }.joined(separator: ", ")), on: \"\(entity)\"),")
            } catch let failure as PredicateFailure {
                print(entity, format, failure.diagnostic.rendered)
            }
        }
    }
}
