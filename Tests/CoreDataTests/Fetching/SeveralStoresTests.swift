import CoreData
import Foundation
import Testing

/// Dictionaries of several stores are sorted, distinct, grouped and cut over all of them.
@Suite struct SeveralStoresTests {
    /// Books of three stores: 1, 4, 7 pages; 2, 5, 8; 3, 6, 9. Every third is lent, the fourth has no rating above 0.
    private func library(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let stack = try LibraryStack()
        let coordinator = stack.coordinator
        for _ in 0..<2 {
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        }
        try stack.story { context in
            for (index, store) in coordinator.persistentStores.enumerated() {
                let author = Author(context: context)
                author.name = "Author \(index)"
                context.assign(author, to: store)
                for step in 0..<3 {
                    let book = Book(context: context)
                    let pages = index + 1 + step * 3
                    book.title = pages % 2 == 0 ? "even" : "odd"
                    book.pages = Int32(pages)
                    book.rating = Double(pages) / 2
                    book.price = pages < 9 ? Decimal(pages) : nil
                    book.isLent = pages % 3 == 0
                    book.author = author
                    context.assign(book, to: store)
                }
            }
            try context.save()
            context.reset()
            try body(context)
        }
    }

    private func request(_ properties: [Any], sort: String? = nil) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        return request
    }

    private func value(_ name: String, _ format: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        return description
    }

    private func lines(_ rows: [NSDictionary]) -> [String] {
        rows.map { row in
            let keys = row.allKeys.compactMap { $0 as? String }.sorted()
            return keys.map { "\($0) \((row[$0] as? NSObject)?.description ?? "")" }.joined(separator: " ")
        }
    }

    @Test("Sort, limit and offset are over all stores")
    func windows() throws {
        try library { context throws in
            let request = request(["pages"], sort: "pages")
            func pages() throws -> [Int] { try context.fetch(request).compactMap { $0["pages"] as? Int } }
            #expect(try pages() == Array(1...9))
            request.fetchLimit = 2
            #expect(try pages() == [1, 2])
            request.fetchOffset = 3
            #expect(try pages() == [4, 5])
            #expect(try context.count(for: request) == 2)
            request.fetchLimit = 0
            request.fetchOffset = 7
            #expect(try pages() == [8, 9])
            request.sortDescriptors = [
                NSSortDescriptor(key: "isLent", ascending: false),
                NSSortDescriptor(key: "author.name", ascending: false),
                NSSortDescriptor(key: "pages", ascending: false),
            ]
            request.fetchOffset = 2
            request.fetchLimit = 3
            #expect(try pages() == [3, 8, 5])
            request.fetchOffset = 20
            #expect(try pages().isEmpty)
            #expect(try context.count(for: request) == 0)
        }
    }

    @Test("Rows that are equal in two stores come once; object IDs never are")
    func distinctRows() throws {
        try library { context throws in
            let request = request(["title"], sort: "title")
            request.returnsDistinctResults = true
            #expect(try lines(context.fetch(request)) == ["title even", "title odd"])
            #expect(try context.count(for: request) == 2)
            request.fetchOffset = 1
            #expect(try lines(context.fetch(request)) == ["title odd"])
            request.fetchOffset = 0
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: false)]
            #expect(try lines(context.fetch(request)) == ["title odd", "title even"])
            request.propertiesToFetch = ["author"]
            let authors = try context.fetch(request).compactMap { $0["author"] as? NSManagedObjectID }
            #expect(authors.count == 3 && Set(authors.map { $0.persistentStore?.identifier }).count == 3)
        }
    }

    @Test("Functions of all rows are of the rows of all stores")
    func functions() throws {
        try library { context throws in
            let request = request([
                value("sum", "sum:(pages)"), value("least", "min:(pages)"), value("most", "@max.pages"),
                value("count", "count:(price)"), value("mean", "average:(pages)"),
                value("span", "max:(pages) - min:(pages)"),
                value("price", "sum:(price)"), value("twice", "sum:(pages * 2)"),
            ])
            let found = try lines(context.fetch(request))
            #expect(found == ["count 8 least 1 mean 5.0 most 9 price 36 span 8 sum 45 twice 90"])
            #expect(try context.count(for: request) == 1)
            request.predicate = NSPredicate(format: "pages > 100")
            let nothing = try lines(context.fetch(request))
            #expect(nothing == ["count 0 price 0 sum 0 twice 0"])
        }
    }

    @Test("Groups are over all stores, and so is what is asked of them")
    func groups() throws {
        try library { context throws in
            let request = request(
                ["title", value("n", "count:(pages)"), value("mean", "average:(rating)")], sort: "title")
            request.propertiesToGroupBy = ["title"]
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 4 title even", "mean 2.5 n 5 title odd"])
            #expect(try context.count(for: request) == 2)
            request.havingPredicate = NSPredicate(format: "$n > 4 AND max:(pages) == 9 AND title != nil")
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 5 title odd"])
            #expect(try context.count(for: request) == 1)
            request.havingPredicate = NSPredicate(format: "n < 5")
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 4 title even"])
            request.havingPredicate = nil
            request.fetchOffset = 1
            #expect(try lines(context.fetch(request)) == ["mean 2.5 n 5 title odd"])
            request.fetchOffset = 0
            request.propertiesToFetch = ["author", value("n", "count:(pages)")]
            request.propertiesToGroupBy = ["author"]
            request.sortDescriptors = nil
            #expect(try context.fetch(request).compactMap { $0["n"] as? Int } == [3, 3, 3])
        }
    }

    @Test("Functions of a row's own to-many are of that row")
    func rowsOwnMembers() throws {
        try library { context throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Author")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name", value("n", "books.@count"), value("most", "max:(books.pages)")]
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: false)]
            request.fetchLimit = 2
            #expect(try lines(context.fetch(request)) == ["most 9 n 3 name Author 2", "most 8 n 3 name Author 1"])
            #expect(try context.count(for: request) == 2)
        }
    }

    @Test(
        "What cannot be made of several answers is a 134060 that says so",
        arguments: [
            ("median:(pages)", false, "several stores"), ("stddev:(pages)", false, "several stores"),
            ("pages", true, "neither grouped nor an aggregate"), ("max:(SELF)", true, "several stores"),
        ])
    func inexact(_ format: String, _ hasSum: Bool, _ reason: String) throws {
        try library { context throws in
            let request = request([value("x", format)] + (hasSum ? [value("sum", "sum:(pages)")] : []))
            let error = #expect(throws: CocoaError.self) { try context.fetch(request) }
            #expect(error?.code.rawValue == 134060)
            #expect(error?.localizedDescription.contains(reason) == true, "\(error?.localizedDescription ?? "")")
            #expect(throws: CocoaError.self) { try context.count(for: request) }
        }
    }

    @Test("The count of a dictionary request is the number of its dictionaries")
    func counts() throws {
        try library { context throws in
            let request = request(["title"])
            request.affectedStores = Array(context.persistentStoreCoordinator?.persistentStores.prefix(1) ?? [])
            func check(_ expected: Int) throws {
                #expect(try context.fetch(request).count == expected)
                #expect(try context.count(for: request) == expected)
            }
            try check(3)
            request.returnsDistinctResults = true
            try check(2)
            request.fetchLimit = 1
            try check(1)
            request.fetchOffset = 2
            try check(0)
            (request.returnsDistinctResults, request.fetchLimit, request.fetchOffset) = (false, 0, 0)
            request.propertiesToGroupBy = ["title"]
            try check(2)
            request.propertiesToFetch = ["title", value("n", "count:(pages)")]
            request.havingPredicate = NSPredicate(format: "$n > 1")
            try check(1)
            (request.propertiesToGroupBy, request.havingPredicate) = (nil, nil)
            request.propertiesToFetch = [value("n", "sum:(pages)")]
            try check(1)
            request.propertiesToFetch = ["title"]
            let unsaved = Book(context: context)
            unsaved.title = "Unsaved"
            try check(3)
        }
    }
}
