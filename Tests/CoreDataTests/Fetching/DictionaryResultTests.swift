import Foundation
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression

/// Dictionary results are Foundation's dictionaries in every respect, however they were made.
@Suite struct DictionaryResultTests {
    private let names = [
        "title", "pages", "price", "isbn", "published", "cover", "identifier", "website", "rating", "isLent", "author",
    ]

    private func rows(_ fill: (NSManagedObjectContext) throws -> Void) throws -> [NSDictionary] {
        let stack = try LibraryStack()
        return try stack.story { context in
            try fill(context)
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = names
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            return try context.fetch(request)
        }
    }

    private func twoRows() throws -> [NSDictionary] {
        try rows { context in
            let bare = Book(context: context)
            bare.title = "A title that no word can hold"
            let full = Book(context: context)
            full.title = "Emma"
            full.pages = 5000
            full.price = Decimal(string: "9.99")
            full.isbn = "1"
            full.published = Date(timeIntervalSinceReferenceDate: 5)
            full.cover = Data([1, 2])
            full.identifier = UUID(uuidString: "3F2504E0-4F89-11D3-9A0C-0305E82C3301")
            full.website = URL(string: "https://example.org")
            full.rating = 4.25
            full.isLent = true
            let author = Author(context: context)
            author.name = "Jane"
            full.author = author
        }
    }

    private var fullRow: [String: AnyHashable] {
        [
            "title": "Emma", "pages": NSNumber(value: 5000), "price": NSDecimalNumber(string: "9.99"), "isbn": "1",
            "published": Date(timeIntervalSinceReferenceDate: 5), "cover": Data([1, 2]),
            "rating": NSNumber(value: 4.25), "isLent": true,
        ]
    }

    @Test(
        "A computed value is of the type that its description declares",
        arguments: [
            ("pages", .stringAttributeType, "5000"), ("pages", .doubleAttributeType, "5000.0"),
            ("pages", .decimalAttributeType, "5000"), ("pages", .booleanAttributeType, "true"),
            ("pages", .dateAttributeType, "2001-01-01 01:23:20 +0000"), ("rating", .integer32AttributeType, "4"),
            ("price", .doubleAttributeType, "9.99"), ("rating", .decimalAttributeType, "4.25"),
            ("sum:(pages)", .stringAttributeType, "5000"), ("price", .stringAttributeType, "9.99"),
            ("average:(rating)", .integer64AttributeType, "4"), ("isbn", .integer16AttributeType, "1"),
            ("title", .integer64AttributeType, "Emma"), ("pages", .undefinedAttributeType, "5000"),
        ] as [(String, NSAttributeType, String)])
    func declaredTypes(_ format: String, _ type: NSAttributeType, _ expected: String) throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            (book.title, book.pages, book.isbn, book.rating) = ("Emma", 5000, "1", 4.25)
            book.price = Decimal(string: "9.99")
            try context.save()
            let column = NSExpressionDescription()
            column.name = "value"
            column.expression = NSExpression(format: format)
            column.expressionResultType = type
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            let value = try #require(try context.fetch(request).first?["value"])
            #expect("\(value)" == expected)
            #expect((value is NSDecimalNumber) == (type == .decimalAttributeType))
            #expect((value is Date) == (type == .dateAttributeType))
            #expect((value is String) == (type == .stringAttributeType || expected == "Emma"))
        }
    }

    @Test func valuesAreThoseOfTheirAttributes() throws {
        let rows = try twoRows()
        #expect(rows.count == 2)
        #expect(Set(rows[0].allKeys.compactMap { $0 as? String }) == ["title", "pages", "isLent"], "nil has no entry")
        #expect(rows[0]["title"] as? String == "A title that no word can hold")
        #expect(rows[0]["isLent"] as? Bool == false && rows[0]["pages"] as? Int == 0)
        #expect(rows[1].count == names.count)
        for (key, value) in fullRow { #expect(rows[1][key] as? AnyHashable == value, "\(key)") }
        #expect((rows[1]["identifier"] as? UUID)?.uuidString == "3F2504E0-4F89-11D3-9A0C-0305E82C3301")
        #expect((rows[1]["website"] as? URL)?.absoluteString == "https://example.org")
        #expect((rows[1]["author"] as? NSManagedObjectID)?.entity.name == "Author")
        #expect(rows[1]["nothing"] == nil)
    }

    @Test func resultsAreCastToDictionaries() throws {
        let rows = try twoRows()
        let values = try #require(rows[1] as? [String: Any])
        #expect(values.count == names.count && values["title"] as? String == "Emma" && values["pages"] as? Int == 5000)
        #expect((rows[0] as? [String: AnyObject])?.count == 3)
        #expect((rows as? [[String: Any]])?.map(\.count) == [3, names.count])
        #expect((rows as [Any] as? [[String: Any]])?.map(\.count) == [3, names.count])
        #expect((rows[0] as? [AnyHashable: Any])?["title"] as? String == "A title that no word can hold")
        #expect(rows.allSatisfy { type(of: $0) == NSMutableDictionary.self })
    }

    @Test func resultsEqualDictionariesOfTheSameEntries() throws {
        let (rows, again) = (try twoRows(), try twoRows())
        let made = NSMutableDictionary()
        for key in rows[0].allKeys { made.setObject(rows[0][key] as Any, forKey: (key as? String) ?? "") }
        #expect(rows[0].isEqual(made) && made.isEqual(rows[0]) && rows[0].hash == made.hash)
        #expect(rows[0].isEqual(again[0]) && !rows[0].isEqual(rows[1]))
        // Foundation prints entries in any order.
        func lines(_ row: NSDictionary) -> [Substring] { row.description.split(separator: "\n").sorted() }
        #expect(lines(rows[0]) == lines(made) && lines(made).count == 5)
        var read: [String: Any] = [:]
        for (key, value) in rows[0] { read[key as? String ?? ""] = value }
        #expect(NSDictionary(dictionary: read).isEqual(rows[0]))
    }

    @Test func resultsAreCopiedChangedAndCoded() throws {
        let rows = try twoRows()
        let copy = try #require(rows[0].mutableCopy() as? NSMutableDictionary)
        copy["title"] = "other"
        copy["more"] = 1
        #expect(rows[0]["title"] as? String == "A title that no word can hold" && rows[0].count == 3)
        let row = try #require(rows[0] as? NSMutableDictionary)
        row["title"] = "changed"
        row.removeObject(forKey: "pages")
        #expect(row.count == 2 && rows[1]["title"] as? String == "Emma", "each has entries of its own")
        let data = try NSKeyedArchiver.archivedData(withRootObject: copy, requiringSecureCoding: false)
        let classes = [NSDictionary.self, NSString.self, NSNumber.self]
        let decoded = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? NSDictionary
        #expect(decoded?["title"] as? String == "other" && decoded?["more"] as? Int == 1)
    }

    @Test func entriesLieWhereTheyAreExpected() throws {
        let offset = try #require(DictionaryEntries.offset, "Foundation keeps them elsewhere: results are slower")
        let key = NSString(string: "key")
        let dictionary = DictionaryEntries.dictionary([key: NSNumber(value: 3)], at: offset)
        #expect(dictionary["key"] as? Int == 3 && dictionary.count == 1)
    }

    @Test func makerTakesAnyPatternOfNil() {
        for count in [1, 2, 5, 64, 65, 100] {
            var maker = DictionaryMaker(keys: (0..<count).map { "key \($0)" })
            for step in 1...7 {
                var values = (0..<count).map { $0 % step == 0 ? NSNumber(value: $0) : nil as AnyObject? }
                if step == 7 { values = values.map { _ in nil } }
                let expected = values.count { $0 != nil }
                let dictionary = maker.make(&values)
                #expect(dictionary.count == expected && values.allSatisfy { $0 == nil })
                for index in stride(from: 0, to: count, by: step) where step < 7 {
                    #expect(dictionary["key \(index)"] as? Int == index)
                }
            }
        }
    }

    @Test func columnsOfOneNameAreOneEntry() {
        var maker = DictionaryMaker(keys: ["a", "a"])
        var values: [AnyObject?] = [NSNumber(value: 1), NSNumber(value: 2)]
        let dictionary = maker.make(&values)
        #expect(dictionary.count == 1 && dictionary["a"] as? Int == 2)
    }

    @Test func recentNumbersAreTheNumbersThemselves() {
        var recent = RecentNumbers()
        for round in 0..<3 {
            for value in stride(from: -400.0, to: 400, by: 0.25) {
                let number = recent.number(value, isFloat: round == 1)
                #expect(number.doubleValue == value)
            }
        }
        #expect(recent.number(-0.0, isFloat: false).doubleValue.sign == .minus)
    }
}
