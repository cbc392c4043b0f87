import CoreData
import Foundation
import Testing

/// Accessors whose types no attribute type has.
@Suite struct AnyValueTests {
    private enum Length: Int32 {
        case short = 1
        case long = 900
    }

    private static let title = PropertyKey<NSString?>("title")
    private static let published = PropertyKey<NSDate?>("published")
    private static let length = PropertyKey<Length>("pages")
    private static let primitiveTitle = PropertyKey<String?>("title")
    private static let primitivePages = PropertyKey<Int32>("pages")

    @Test func classesOfFoundationStandForValues() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            #expect(book[Self.title] == nil)
            book[Self.title] = "Emma"
            book[Self.published] = NSDate(timeIntervalSinceReferenceDate: 5)
            #expect(book.title == "Emma" && book[Self.title] == "Emma")
            #expect(book.published == Date(timeIntervalSinceReferenceDate: 5))
            #expect(book[Self.published]?.timeIntervalSinceReferenceDate == 5)
        }
    }

    @Test func enumerationStandsForItsRawValue() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book[Self.length] = .long
            #expect(book.pages == 900)
            book.pages = 1
            #expect(book[Self.length] == .short)
        }
    }

    @Test func primitiveValueIsWrittenWithoutAChange() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book.title = "Emma"
            try context.save()
            #expect(book[primitive: Self.primitiveTitle] == "Emma")
            book[primitive: Self.primitiveTitle] = "Persuasion"
            book[primitive: Self.primitivePages] = 3
            #expect(book.title == "Persuasion" && book.pages == 3)
            #expect(!book.hasChanges)
        }
    }
}
