import CoreData
import Foundation
import Testing

/// Compounds that programs add up: as many conditions as they like, and an end to what alternates.
@Suite struct DeepPredicateTests {
    private func book(_ number: Int) -> NSPredicate { NSPredicate(format: "pages == %d", number) }

    private func stack() throws -> LibraryStack {
        let stack = try LibraryStack()
        try stack.story { context in
            for pages in [7, 4_999] {
                let book = Book(context: context)
                (book.title, book.pages) = ("\(pages)", Int32(pages))
            }
            try context.save()
        }
        return stack
    }

    private func titles(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [String] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = predicate
        return try context.fetch(request).compactMap(\.title).sorted()
    }

    @Test(
        "Conditions that are added one after another, or all at once, are fetched and evaluated, however many they are")
    func chains() throws {
        try stack().story { context in
            let either = (1..<5_000).reduce(book(0)) {
                NSCompoundPredicate(orPredicateWithSubpredicates: [$0, book($1)])
            }
            let wide = NSCompoundPredicate(orPredicateWithSubpredicates: (0..<5_000).map(book))
            let all = (0..<5_000).reduce(book(7)) { predicate, number in
                NSCompoundPredicate(
                    andPredicateWithSubpredicates: [NSPredicate(format: "pages != %d", number + 100_000), predicate])
            }
            let one = try #require(try context.all(Book.self, "Book", "pages == 7").first)
            for predicate in [either, wide] {
                #expect(try titles(predicate, in: context) == ["4999", "7"])
                #expect(predicate.evaluate(with: one))
            }
            #expect(try titles(all, in: context) == ["7"] && all.evaluate(with: one))
            one.rating = 1
            #expect(try titles(all, in: context) == ["7"] && titles(either, in: context) == ["4999", "7"])
        }
    }

    /// p AND (q OR (p AND (q OR …
    private func alternating(_ depth: Int) -> NSPredicate {
        (0..<depth).reduce(book(7)) { predicate, level in
            level.isMultiple(of: 2)
                ? NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "pages > 0"), predicate])
                : NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "pages < 0"), predicate])
        }
    }

    @Test(
        "What alternates is fetched to a depth that nobody writes, and refused with a reason beyond",
        arguments: [20, 24, 25, 40, 190, 300, 5_000])
    func alternations(_ depth: Int) throws {
        try stack().story { context in
            let predicate = alternating(depth)
            let one = try #require(try context.all(Book.self, "Book", "pages == 7").first)
            #expect(predicate.evaluate(with: one))
            guard depth > 24 else {
                #expect(try titles(predicate, in: context) == ["7"])
                return
            }
            let error = #expect(throws: CocoaError.self) { try titles(predicate, in: context) }
            let limit = depth > 200 ? 200 : 24
            #expect(error?.localizedDescription.contains("nested more than \(limit) levels deep") == true)
        }
    }
}
