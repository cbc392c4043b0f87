import CoreData
import Foundation
import Testing

@testable import CoreDataService

@Suite struct WhereClauseTests {
    private static func compile(_ text: String, _ arguments: [String: [String]] = [:]) throws -> String {
        let model = try ServedModel(ShopModel.make()) { $0.name != "Secret" }
        let item = try #require(model.entities["Item"])
        return try WhereClause.compile(text, arguments: arguments, of: item, in: model).description
    }

    private static let id = "6F997B6B-0000-4000-8000-000000000001"

    @Test(arguments: [
        ("name == 'Milk'", "name == \"Milk\""), ("name BEGINSWITH[cd] 'm'", "name BEGINSWITH[cd] \"m\""),
        ("price > '1.5' AND NOT listed == YES", "price > 1.5 AND NOT listed == 1"),
        ("unit == '\(id)'", "unit.id == "), ("unit == nil", "unit == nil"), ("unit._id == '\(id)'", "unit.id == "),
        ("SELF == '\(id)'", "id == "), ("_id IN {'\(id)'}", "id IN "), ("tags CONTAINS '\(id)'", "ANY tags.id == "),
        ("ANY tags.name == 'x'", "ANY tags.name == \"x\""), ("tags.@count > 2", "tags.@count > 2"),
        ("SUBQUERY(tags, $t, $t.name == 'x').@count > 0", "SUBQUERY(tags, $t, $t.name == \"x\").@count > 0"),
        ("place.number BETWEEN {1, 2}", "place.number BETWEEN {1, 2}"),
        ("lowercase(name) == 'milk'", "lowercase:(name) == \"milk\""),
        ("quantity * 2 + 1 < 5", "quantity * 2 + 1 < 5"), ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("day < now()", "day < now()"),
    ])
    func compiles(_ text: String, _ expected: String) throws {
        let compiled = try Self.compile(text)
        #expect(compiled.hasPrefix(expected), "\(compiled)")
    }

    @Test func argumentsTakeTheTypeOfTheOtherSide() throws {
        #expect(
            try Self.compile("name == $n", ["n": ["O'Brien \" OR TRUEPREDICATE"]]).contains("\\\" OR TRUEPREDICATE"))
        #expect(try Self.compile("stock IN $n", ["n": ["1", "2"]]) == "stock IN {1, 2}")
    }

    /// A refused text, words of the reason, and the place.
    @Test(arguments: [
        ("", "", nil), ("name ==", "", nil), ("name == 'a", "", nil),
        ("name MATCHES '(a+)+$'", "MATCHES is not allowed", 6),
        ("nam == 'a'", "Item has no property 'nam'", 1), ("unit.password == 'a'", "Unit has no property 'password'", 6),
        ("secret == nil", "no property 'secret'", 1), ("temporary == 'a'", "is not stored", 1),
        ("FUNCTION(name, 'length') > 1", "is not allowed", nil),
        ("random() > 0", "the function random is not allowed", 1),
        ("CAST(name, 'NSDate') == nil", "is not allowed", nil),
        ("unit.items.unit.items.name == 'a'", "at most 4 keys", 1),
        ("day > 'yesterday'", "'day' is a date", 8), ("code == 'x'", "is a UUID", nil), ("day > 5", "not a number", 1),
        ("name == $n", "send it as arg.n", 9), ("1 == 1", "needs a property", 3),
        ("unit > '\(id)'", "does not compare objects", 6),
        ("unit == 5", "", nil), ("tags.name == 'a'", "write ANY or ALL", 1),
        ("photo == 'AQID'", "compared with nil only", 1),
        ("place == 'x'", "compare one of them", 1), ("stock BEGINSWITH '1'", "compares texts", 7),
        ("name LIKE '*a*a*a*a*a*a*a*'", "at most 6 wildcards", 6), ("name ==[l] 'a'", "[l] is not allowed", nil),
        (
            "SUBQUERY(tags, $a, SUBQUERY($a.items, $b, SUBQUERY($b.tags, $c, $c.name == 'x').@count > 0).@count > 0).@count > 0",
            "more than 2 SUBQUERYs", nil
        ),
        ("color == nil", "no property 'color'", 1), ("ANYKEY == 'x'", "is not allowed", nil),
        ("%K == 'x'", "", nil), ("name == %@", "", nil), ("name.@count > 0", "relationship to many", 6),
    ])
    func refuses(_ text: String, _ words: String, _ position: Int?) throws {
        do {
            let compiled = try Self.compile(text)
            Issue.record("accepted: \(compiled)")
        } catch let problem as Problem {
            #expect(problem.status == 400)
            #expect(words.isEmpty || problem.detail.contains(words), "\(problem.detail)")
            if let position { #expect(problem.position == position, "\(problem)") }
        }
    }

    @Test(arguments: [
        String(repeating: "(", count: 4000), String(repeating: "NOT ", count: 1000) + "listed == YES",
        Array(repeating: "name == 'a'", count: 300).joined(separator: " OR "),
        "name == '" + String(repeating: "x", count: 5000) + "'",
        "name IN {" + Array(repeating: "'a'", count: 1000).joined(separator: ",") + "}", "name == 'a\0'",
        "price > " + String(repeating: "9", count: 3000), String(repeating: "-", count: 3000) + "1 < price",
        "\u{FEFF}\u{202E}", "$a.$b == 1",
    ])
    func hostileTextsAreRefused(_ text: String) {
        #expect(throws: Problem.self) { try Self.compile(text) }
    }
}
