import CoreData
import Foundation
import StoreTestSupport
import Testing

@testable import CoreData

/// What a request means does not depend on the store that is asked.
@Suite struct RequestSpecification {
    /// A predicate and the titles that it finds, or a function and its values.
    struct Expectation: Sendable, CustomTestStringConvertible {
        var format: String
        var expected: [String]
        var testDescription: String { format }

        init(_ format: String, _ expected: [String]) { (self.format, self.expected) = (format, expected) }
    }

    private static func fill(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let author = context.insert("Author", ["name": "Ann"])
        let objects = [
            context.insert("Book", ["title": "book", "author": author]), context.insert("Novel", ["title": "novel"]),
            context.insert("Comic", ["title": "comic", "author": author]),
        ]
        try context.save()
        return objects
    }

    static let entityPredicates = [
        Expectation("entity == %@", ["novel"]),
        Expectation("SELF.entity == %@", ["novel"]),
        Expectation("entity != %@", ["book", "comic"]),
        Expectation("%@ == entity", ["novel"]),
        Expectation("NOT SELF.entity == %@", ["book", "comic"]),
        Expectation("entity IN {%@}", ["novel"]),
        Expectation("entity IN %@", ["novel"]),
        Expectation("SELF.entity.name == 'Novel'", ["novel"]),
        Expectation("entity.name IN {'Book', 'Comic'}", ["book", "comic"]),
        Expectation("objectID.entity == %@", ["novel"]),
        Expectation("entity == %@ OR title == 'book'", ["book", "novel"]),
        Expectation("author.entity == %@", []),
        Expectation("author.entity.name == 'Author'", ["book", "comic"]),
        Expectation("SELF.author.entity.name == 'Author'", ["book", "comic"]),
    ]

    @Test(arguments: SpecifiedStore.all, entityPredicates)
    func entitiesInPredicates(_ store: SpecifiedStore, _ expectation: Expectation) throws {  // M16
        let (format, expected) = (expectation.format, expectation.expected)
        try store.checkContexts { stack in
            try stack.story { context throws in
                let objects = try Self.fill(context)
                let novel = objects[1].entity
                let argument: Any = format.hasSuffix("IN %@") ? [novel] : novel
                let arguments = format.contains("%@") ? [argument] : []
                let predicate = NSPredicate(format: format, argumentArray: arguments)
                for step in ["saved", "changed"] {
                    #expect(try Self.titles(context, format, arguments) == expected, "\(step)")
                    #expect(
                        objects.filter { predicate.evaluate(with: $0) }.map { $0.text("title") }.sorted() == expected)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                    request.predicate = predicate
                    #expect(try context.count(for: request) == expected.count, "\(step)")
                    objects.forEach { $0.setValue(9, forKey: "pages") }
                }
            }
        }
    }

    @Test(
        arguments: SpecifiedStore.all,
        ["SELF IN %@", "self IN %@", "objectID IN %@", "SELF.objectID IN %@", "NOT SELF IN %@", "NOT (self IN %@)"])
    func objectsInCollections(_ store: SpecifiedStore, _ format: String) throws {  // M16
        try store.checkContexts { stack in
            try stack.story { context throws in
                let objects = try Self.fill(context)
                let wanted = Array(objects.prefix(2))
                let ids = wanted.map(\.objectID)
                let unsaved = context.insert("Book", ["title": "unsaved"])
                let collections: [Any] = [
                    wanted, Set(wanted), NSSet(array: wanted), NSOrderedSet(array: wanted), NSArray(array: wanted), ids,
                    Set(ids), NSOrderedSet(array: ids), wanted + [unsaved], ids + [unsaved.objectID],
                ]
                for collection in collections {
                    let hasUnsaved = (collection as? [Any])?.count == 3
                    let predicate = NSPredicate(format: format, argumentArray: [collection])
                    let all = objects + [unsaved]
                    let members = wanted + (hasUnsaved ? [unsaved] : [])
                    let expected = (format.hasPrefix("NOT") ? all.filter { !members.contains($0) } : members)
                        .map { $0.text("title") }.sorted()
                    #expect(
                        try Self.titles(context, format, [collection]) == expected,
                        "\(type(of: collection))")
                    #expect(
                        all.filter { predicate.evaluate(with: $0) }.map { $0.text("title") }.sorted() == expected,
                        "\(type(of: collection))")
                }
                let nothing: [Any] = [[NSManagedObject](), Set<NSManagedObject>(), NSSet(), NSOrderedSet()]
                for collection in nothing {
                    let found = try Self.titles(context, format, [collection])
                    #expect(found.count == (format.hasPrefix("NOT") ? 4 : 0), "\(type(of: collection))")
                }
                context.rollback()
                let rows = NSFetchRequest<NSDictionary>(entityName: "Book")
                rows.resultType = .dictionaryResultType
                rows.propertiesToFetch = ["title"]
                rows.predicate = NSPredicate(format: format, argumentArray: [Set(wanted)])
                #expect(try context.fetch(rows).count == (format.hasPrefix("NOT") ? 1 : 2))
            }
        }
    }

    @Test(
        arguments: SpecifiedStore.all,
        [
            "title == $NAME", "title == 'none' AND title == $NAME", "FALSEPREDICATE AND title == $NAME",
            "TRUEPREDICATE OR title == $NAME", "SELF IN $NAME", "ANY tags.name == $NAME",
            "SUBQUERY(tags, $t, $t.name == $NAME).@count > 0", "title BETWEEN {$NAME, 'z'}", "author == $NAME",
        ])
    func aVariableWithoutAValueIsAnError(_ store: SpecifiedStore, _ format: String) throws {  // M18
        try store.checkContexts { stack in
            try stack.story { context throws in
                for isEmpty in [true, false] {
                    if !isEmpty { _ = try Self.fill(context) }
                    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
                    request.predicate = NSPredicate(format: format).withSubstitutionVariables(["OTHER": 1])
                    for type in [
                        NSFetchRequestResultType.managedObjectResultType, .managedObjectIDResultType,
                        .dictionaryResultType, .countResultType,
                    ] {
                        request.resultType = type
                        let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                        #expect(error?.localizedDescription.contains("$NAME") == true, "\(error as Any)")
                        #expect(error?.localizedDescription.contains("'Book'") == true, "\(error as Any)")
                    }
                    #expect(throws: CocoaError.self) { try context.count(for: request) }
                    let object = try context.all("Book").first
                    #expect(request.predicate?.evaluate(with: object) == format.hasPrefix("TRUE"))
                }
            }
        }
    }

    private static func titles(
        _ context: NSManagedObjectContext, _ format: String, _ arguments: [Any]
    ) throws -> [String] {
        try context.all("Book", format, arguments, by: "title").map { $0.text("title") }
    }

    private static func column(_ name: String, _ format: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: format)
        return column
    }

    private static func lines(_ rows: [NSDictionary], _ keys: [String]) -> [String] {
        rows.map { row in keys.map { row[$0].map { "\($0)" } ?? "nil" }.joined(separator: " ") }
    }

    /// Authors a, b, a, c with 2, 1, 3 and no books.
    private static func fillGroups(_ context: NSManagedObjectContext) throws {
        var pages = 0
        for (name, count) in [("a", 2), ("b", 1), ("a", 3), ("c", 0)] {
            let author = context.insert("Author", ["name": name])
            for _ in 0..<count {
                pages += 10
                let published = Date(timeIntervalSinceReferenceDate: Double(pages))
                _ = context.insert(
                    "Book",
                    [
                        "title": "t\(pages)", "pages": pages, "price": Decimal(pages) / 4, "published": published,
                        "author": author,
                    ])
            }
        }
        try context.save()
    }

    static let groupedFunctions = [
        Expectation("count:(books)", ["5", "1", "0"]),
        Expectation("books.@count", ["5", "1", "0"]),
        Expectation("sum:(books.pages)", ["180", "30", "0"]),
        Expectation("books.@sum.pages", ["180", "30", "0"]),
        Expectation("min:(books.pages)", ["10", "30", "nil"]),
        Expectation("books.@min.pages", ["10", "30", "nil"]),
        Expectation("max:(books.pages)", ["60", "30", "nil"]),
        Expectation("books.@max.pages", ["60", "30", "nil"]),
        Expectation("min:(books.title)", ["t10", "t30", "nil"]),
        Expectation("books.@max.title", ["t60", "t30", "nil"]),
        Expectation("sum:(books.price)", ["45", "7.5", "0"]),
        Expectation("max:(books.published)", ["60.0", "30.0", "nil"]),
        Expectation("books.@min.published", ["10.0", "30.0", "nil"]),
        Expectation("sum:(books.@count)", ["5", "1", "0"]),
        Expectation("max:(books.@count)", ["3", "1", "0"]),
        Expectation("max:(count:(books))", ["3", "1", "0"]),
        Expectation("min:(books.@sum.pages)", ["30", "30", "0"]),
        Expectation("count:(books) + 1", ["6", "2", "1"]),
        Expectation("count:(name)", ["2", "1", "1"]),
        Expectation("SUBQUERY(books, $b, $b.pages > 15).@count", ["4", "1", "0"]),
        Expectation("count:(SUBQUERY(books, $b, $b.pages > 15))", ["4", "1", "0"]),
    ]

    // A store of a program's own has the groups that it makes.
    @Test(arguments: SpecifiedStore.having(.groupsAndExpressions), groupedFunctions)
    func functionsOfToManysInGroups(_ store: SpecifiedStore, _ expectation: Expectation) throws {  // M6
        let (format, expected) = (expectation.format, expectation.expected)
        try store.checkContexts { stack in
            try stack.story { context throws in
                try Self.fillGroups(context)
                let request = NSFetchRequest<NSDictionary>(entityName: "Author")
                request.resultType = .dictionaryResultType
                request.propertiesToGroupBy = ["name"]
                request.propertiesToFetch = ["name", Self.column("value", format)]
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let rows = try context.fetch(request)
                #expect(rows.map { $0["name"] as? String } == ["a", "b", "c"])
                let found = rows.map { row in
                    switch row["value"] {
                    case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
                    case let value?: "\(value)"
                    case nil: "nil"
                    }
                }
                #expect(found == expected)
                guard let first = Int(expected[0]), first > Int(expected[1]) ?? .max else { return }
                request.havingPredicate = NSPredicate(format: "\(format) >= \(first)")
                #expect(try context.fetch(request).map { $0["name"] as? String } == ["a"])
                #expect(try context.count(for: request) == 1)
            }
        }
    }

    @Test(
        arguments: SpecifiedStore.having(.groupsAndExpressions), ["average:(books.pages)", "books.@avg.pages"])
    func whatCannotBeGroupedIsAnError(_ store: SpecifiedStore, _ format: String) throws {  // M6
        try store.checkContexts { stack in
            try stack.story { context throws in
                try Self.fillGroups(context)
                let request = NSFetchRequest<NSDictionary>(entityName: "Author")
                request.resultType = .dictionaryResultType
                request.propertiesToGroupBy = ["name"]
                request.propertiesToFetch = ["name", Self.column("value", format)]
                let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
                #expect(error?.localizedDescription.contains("cannot be grouped") == true, "\(error as Any)")
                request.propertiesToGroupBy = nil
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                #expect(try context.fetch(request).count == 4)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.groupsAndExpressions), [0, 3])
    func entitiesWithoutAttributes(_ store: SpecifiedStore, _ batchSize: Int) throws {  // M2, M5, M9
        let entities = [
            Entity("Bare").toOne("owner", "Owner", inverse: "bares"), Entity("Barer", parent: "Bare"),
            Entity("Owner").string("name").toMany("bares", "Bare", inverse: "owner"),
        ]
        try store.checkContexts(StoreTestSupport.document(entities)) { stack in
            try stack.story { context throws in
                let owner = context.insert("Owner", ["name": "one"])
                for number in 0..<10 {
                    let bare = context.insert(number % 5 == 0 ? "Barer" : "Bare")
                    if number < 4 { bare.setValue(owner, forKey: "owner") }
                }
                try context.save()
                for isPending in [false, true] {
                    if isPending { _ = context.insert("Bare") }
                    let total = isPending ? 11 : 10
                    for (limit, offset) in [(0, 0), (4, 0), (0, 7), (3, 6), (5, 20), (1, 9), (20, 2)] {
                        let rest = max(0, total - offset)
                        let expected = limit > 0 ? min(limit, rest) : rest
                        let objects = NSFetchRequest<NSManagedObject>(entityName: "Bare")
                        (objects.fetchLimit, objects.fetchOffset, objects.fetchBatchSize) = (limit, offset, batchSize)
                        objects.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
                        let found = try context.fetch(objects)
                        #expect(found.count == expected, "limit \(limit), offset \(offset)")
                        #expect(Set(found.map(\.objectID)).count == expected)
                        #expect(
                            found.allSatisfy {
                                $0.isInserted || $0.object("owner") == nil || $0.object("owner") === owner
                            })
                        #expect(try context.count(for: objects) == expected)
                        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Bare")
                        (ids.resultType, ids.fetchLimit, ids.fetchOffset) = (.managedObjectIDResultType, limit, offset)
                        #expect(try context.fetch(ids).count == expected)
                        // Dictionaries are of what is saved.
                        let saved = max(0, 10 - offset)
                        let rows = NSFetchRequest<NSDictionary>(entityName: "Bare")
                        rows.resultType = .dictionaryResultType
                        (rows.fetchLimit, rows.fetchOffset, rows.fetchBatchSize) = (limit, offset, batchSize)
                        let expectedRows = limit > 0 ? min(limit, saved) : saved
                        #expect(try context.fetch(rows) == [NSDictionary](repeating: [:], count: expectedRows))
                        #expect(try context.count(for: rows) == expectedRows)
                        rows.propertiesToFetch = ["objectID", "owner.name"]
                        #expect(try context.fetch(rows).count == expectedRows)
                        rows.propertiesToFetch = nil
                        rows.returnsDistinctResults = true
                        #expect(try context.fetch(rows).count == (offset == 0 ? 1 : 0))
                        #expect(try context.count(for: rows) == (offset == 0 ? 1 : 0))
                    }
                }
                let owned = NSFetchRequest<NSDictionary>(entityName: "Bare")
                owned.resultType = .dictionaryResultType
                owned.predicate = NSPredicate(format: "owner != nil")
                #expect(try context.fetch(owned).count == 4)
                owned.propertiesToFetch = ["owner", Self.column("n", "count:(SELF)")]
                owned.propertiesToGroupBy = ["owner"]
                #expect(try context.fetch(owned).map { $0["n"] as? Int } == [4])
            }
        }
    }
}
