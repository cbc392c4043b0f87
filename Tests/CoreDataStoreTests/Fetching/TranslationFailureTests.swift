import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataStore

/// What cannot be translated says so, with the part at fault (predicates.md §8.2, pain 12, 36).
@Suite struct TranslationFailureTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var entity: String
        var format: String
        var message: String
        var hint: String?
        var testDescription: String { format }

        init(_ entity: String, _ format: String, _ message: String, hint: String? = nil) {
            self.entity = entity
            self.format = format
            self.message = message
            self.hint = hint
        }
    }

    static let cases: [Case] = [
        Case("Book", "note == 'x'", "keypath note not found in entity Book", hint: "transient"),
        Case("Book", "titel == 'x'", "keypath titel not found in entity Book", hint: "did you mean 'title'?"),
        Case("Book", "author.nam == 'x'", "keypath nam not found in entity Author", hint: "did you mean 'name'?"),
        Case("Book", "artist == 'x'", "keypath artist not found in entity Book", hint: "subentity 'Comic'"),
        Case("Book", "tags.name == 'x'", "to-many key not allowed here", hint: "ANY"),
        Case("Book", "tags == nil", "to-many key not allowed here"),
        Case("Book", "ANY title < 3", "a string cannot be ordered against a number"),
        Case("Book", "FUNCTION(title, 'hasPrefix:', 'a') == YES", "Unsupported expression FUNCTION"),
        Case("Book", "tags UNION tags == nil", "Unsupported expression"),
        Case("Book", "pages CONTAINS 'x'", "Can't do a substring operation"),
        Case("Book", "pages MATCHES 'x'", "Can't do regex matching on a number"),
        Case("Book", "title MATCHES '('", "is not a regular expression"),
        Case("Book", "pages < 'x'", "a number cannot be ordered against a string"),
        Case("Book", "published < 3", "a date cannot be ordered against a number"),
        Case("Book", "title + 1 == 2", "a string is no number"),
        Case("Book", "pages BETWEEN {1}", "BETWEEN needs a lower and an upper bound"),
        Case("Book", "cover == digest", "unimplemented SQL generation for predicate", hint: "nil"),
        Case("Book", "$x == 1", "no value for variable $x", hint: "withSubstitutionVariables"),
        Case("Book", "tags[FIRST].name == 'x'", "Unsupported function expression", hint: "ordered"),
        Case(
            "Author", "name != nil AND ANY " + String(repeating: "books.author.", count: 65) + "name == 'x'",
            "more than the 64 tables", hint: "in memory"),
        Case("Tag", "books.@sum > 1", "'@sum' needs a key path to its right"),
        Case("Tag", "books.@max == 2", "'@max' needs a key path to its right"),
        Case("Tag", "books.pages.@avg == 2", "'@avg' needs a key path to its right"),
        Case("Tag", "books.@distinctUnionOfObjects.@count == 2", "needs a key path to its right"),
        Case("Tag", "@count.books > 1", "'@count' needs a collection"),
        Case("Tag", "@sum.books.pages > 1", "'@sum' needs a collection"),
        Case("Book", "title.@count == 0", "'@count' needs a collection"),
        Case("Book", "author.@count == 1", "'@count' needs a collection"),
        Case("Tag", "books.@max.author == nil", "objects have neither an order nor a sum"),
        Case("Tag", "books.@sum.self == 3", "objects have neither an order nor a sum"),
        Case("Tag", "max:(books) == nil", "objects have neither an order nor a sum"),
        Case("Book", "TERNARY(isOut == 1, title, pages) == 1", "both branches of TERNARY must have one type"),
    ]

    @Test(arguments: cases) func aFailureNamesThePart(_ example: Case) throws {
        let failure = #expect(throws: PredicateFailure.self) {
            try TranslationCase.text(example.entity, example.format)
        }
        let found = try #require(failure)
        #expect(found.diagnostic.message.contains(example.message), "\(found.diagnostic.message)")
        #expect(found.subexpression != nil)
        if let hint = example.hint { #expect(found.diagnostic.hint?.contains(hint) ?? false) }
    }

    @Test func aBlockIsNoSQL() throws {
        var plan = try Bookshop.plan("Book")
        plan.predicate = .and([.constant(true), .block(PredicateBlock { _, _ in true })])
        let failure = #expect(throws: PredicateFailure.self) {
            try FetchPlanner(model: Bookshop.model, layout: Bookshop.layout, now: 0, dialect: .sqlite).count(plan)
        }
        #expect(failure?.diagnostic.message.hasPrefix("Problem with subpredicate BLOCKPREDICATE") ?? false)
        #expect(failure?.kind == .unsupported)
    }

    @Test func anEntityOfAnotherConfigurationIsNamed() throws {
        var layout = Bookshop.layout
        layout.entities[Bookshop.ordinal("Tag")] = nil
        let planner = FetchPlanner(model: Bookshop.model, layout: layout, now: 0, dialect: .sqlite)
        let failure = #expect(throws: PredicateFailure.self) { try planner.count(Bookshop.plan("Tag")) }
        #expect(failure?.diagnostic.message == "entity 'Tag' is not in this store")
    }

    // MARK: Objects

    static func key(_ entity: String, _ primaryKey: Int64) -> FormatArgument {
        .constant(.key(RowKey(entity: Bookshop.ordinal(entity), primaryKey: primaryKey)))
    }

    @Test func objectsAreKeys() throws {
        func check(_ entity: String, _ format: String, _ argument: FormatArgument, _ sql: String) throws {
            let count = format.split(separator: "%").count - (format.hasPrefix("%") ? 0 : 1)
            let text = try TranslationCase.text(entity, format, Array(repeating: argument, count: count))
            #expect(text.sql == "SELECT COUNT(*) FROM " + sql)
        }
        let author = Self.key("Author", 7)
        let nowhere = FormatArgument.constant(.key(nil))
        try check("Book", "author == %@", author, "ZBOOK t0 WHERE t0.ZAUTHOR = ?")
        try check("Book", "author != %@", author, "ZBOOK t0 WHERE t0.ZAUTHOR <> ? OR t0.ZAUTHOR IS NULL")
        try check("Book", "author == %@", nowhere, "ZBOOK t0 WHERE 1 = 0")
        try check("Book", "author != %@", nowhere, "ZBOOK t0")
        try check("Author", "SELF == %@", author, "ZAUTHOR t0 WHERE t0.Z_PK = ?")
        try check("Author", "SELF != %@", author, "ZAUTHOR t0 WHERE t0.Z_PK <> ?")
        try check("Author", "objectID IN {%@, %@}", author, "ZAUTHOR t0 WHERE t0.Z_PK IN (?, ?)")
        try check("Book", "SELF == %@", author, "ZBOOK t0 WHERE 1 = 0")
        try check("Tag", "%@ IN books", Self.key("Comic", 3), "ZTAG t0 WHERE \(Self.linked)")
        try check("Tag", "books CONTAINS %@", Self.key("Comic", 3), "ZTAG t0 WHERE \(Self.linked)")
        try check("Tag", "ANY books == %@", Self.key("Comic", 3), "ZTAG t0 WHERE \(Self.linked)")
        try check("Tag", "NOT %@ IN books", Self.key("Comic", 3), "ZTAG t0 WHERE NOT \(Self.linked)")
    }

    static let linked = "EXISTS (SELECT 1 FROM Z_2TAGS t1 WHERE t1.Z_6TAGS = t0.Z_PK AND t1.Z_2BOOKS1 = ?)"
}
