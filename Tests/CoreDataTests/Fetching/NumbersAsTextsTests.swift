import CoreData
import Foundation
import Testing

/// Numbers that an attribute of kind text is held against.
@Suite struct NumbersAsTextsTests {
    private func found(_ format: String, _ arguments: [Any] = [], saved: Bool = true) throws -> [String] {
        let stack = try LibraryStack()
        return try stack.story { context in
            for isbn in ["8", "9", "10", "9.5"] {
                let book = Book(context: context)
                (book.title, book.isbn) = ("Book", isbn)
                book.author = Author(context: context)
                book.author?.name = isbn
            }
            let nameless = Book(context: context)
            nameless.title = "Book"
            if saved { try context.save() }
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            return try context.fetch(request).map { $0.isbn ?? "nil" }.sorted()
        }
    }

    @Test("M16: a number means its text, in the store and before a save", arguments: Case.all)
    func numbers(_ example: Case) throws {
        #expect(try found(example.format, example.arguments) == example.found)
        #expect(try found(example.format, example.arguments, saved: false) == example.found)
    }

    struct Case: @unchecked Sendable, CustomTestStringConvertible {
        // Safe because nobody changes the arguments.
        let format: String
        let arguments: [Any]
        let found: [String]
        init(_ format: String, _ arguments: [Any], _ found: [String]) {
            (self.format, self.arguments, self.found) = (format, arguments, found)
        }

        static let all = [
            Case("%K IN %@", ["isbn", [9, 10, 11]], ["10", "9"]), Case("isbn IN {9, 10}", [], ["10", "9"]),
            Case("%K == %@", ["isbn", 9], ["9"]), Case("9 == isbn", [], ["9"]), Case("isbn == 9.5", [], ["9.5"]),
            Case("isbn != 9", [], ["10", "8", "9.5", "nil"]),
            Case("NOT isbn IN {9, 10}", [], ["8", "9.5", "nil"]), Case("author.name IN %@", [[8]], ["8"]),
            Case("isbn IN %@", [["8", 9] as [Any]], ["8", "9"]),
            Case("isbn == '9' AND isbn IN %@", [[9, 10]], ["9"]), Case("isbn IN %@", [[] as [Int]], []),
        ]

        var testDescription: String { "\(format) \(arguments)" }
    }
}
