import Foundation
import Testing

@testable import CoreData

private typealias NSExpression = CoreData.NSExpression

/// Arithmetic of decimals and of the greatest integers means the same in a store and in memory.
@Suite struct ExactDecimalTests {
    private func stack() throws -> LibraryStack {
        let model = Library.model()
        model.entitiesByName["Book"]?.properties.append(Library.attribute("amount", .integer64AttributeType))
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Jane"
            for (title, price, size) in [("a", "1.10", Int64.min), ("b", "2.20", -1), ("c", "0.3", 5)] {
                let book = Book(context: context)
                book.title = title
                book.price = Decimal(string: price)
                book.rating = Double(price) ?? 0
                book.setValue(size, forKey: "amount")
                if title != "c" { book.author = author }
            }
            try context.save()
            context.reset()
        }
        return stack
    }

    @Test(arguments: [
        ("author.books.@sum.price == 3.3", 2), ("author.books.@sum.price > 3.3", 0),
        ("author.books.@avg.price == 1.65", 2), ("price * 3 == 3.3", 1), ("price * 3 == 0.9", 1),
        ("price - 1 == 0.1", 1), ("price / 3 == 0.1", 1), ("price / 0 == nil", 3),
        ("SUBQUERY(author.books, $b, $b.price * 3 == 6.6).@count == 1", 2), ("price * 2 == 2.2", 1),
        ("rating * 3 == 0.9", 0), ("rating * 3 > 3.3", 2), ("price * 1 == price", 3), ("price / 2 == 0.55", 1),
        ("abs:(amount) > 0", 3), ("author.books.@sum.amount < 0", 2), ("amount / -1 > 0", 2),
        ("amount + amount < 0", 2),
        ("author.books.@avg.amount < 0", 2), ("-(amount) > 0", 2),
    ])
    func predicates(_ format: String, _ count: Int) throws {
        try stack().story { context in
            let predicate = NSPredicate(format: format)
            let (all, fetched) = (try context.all(Book.self, "Book"), try context.all(Book.self, "Book", format))
            #expect(all.filter { predicate.evaluate(with: $0) }.count == count)
            #expect(fetched.count == count)
        }
    }

    @Test(arguments: [
        ("sum:(price)", "3.6"), ("average:(price)", "1.2"), ("sum:(price * pages)", "0"), ("max:(price)", "2.2"),
        ("sum:(price * 3)", "10.8"),
    ])
    func dictionaryResults(_ format: String, _ expected: String) throws {
        try stack().story { context in
            let column = NSExpressionDescription()
            column.name = "value"
            column.expression = NSExpression(format: format)
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            let value = try context.fetch(request).first?["value"] as? NSDecimalNumber
            #expect(value == NSDecimalNumber(string: expected))
        }
    }
}
