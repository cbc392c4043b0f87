import CoreData
import Foundation
import Testing

/// No column keeps what is not a number: SQLite makes NULL of it.
@Suite struct NotANumberTests {
    @Test(
        "NaN is refused by the save, and stays until it is mended (G8)", arguments: ["rating", "price", "published"],
        [true, false])
    func isRefused(_ key: String, isNew: Bool) throws {
        // A date like this cannot be described, so it is no argument.
        let value: Any =
            switch key {
            case "rating": Double.nan
            case "price": Decimal.nan
            default: Date(timeIntervalSinceReferenceDate: .nan)
            }
        try LibraryStack().story { context in
            let book = Book(context: context)
            book.title = "Emma"
            if !isNew { try context.save() }
            book.setValue(value, forKey: key)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectValidationError)
            #expect(error?.validationKey == key && error?.validationObject as? Book === book)
            #expect(error?.localizedDescription.hasPrefix("\(key) is not a number (NaN)") == true)
            #expect(book.hasChanges && book.isInserted == isNew)
            // Whoever prints the error prints the object too.
            #expect(book.description.contains("\(key) = nan") || key == "price")
            book.setValue(nil, forKey: key)
            try context.save()
            context.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: key) == nil)
        }
    }

    @Test func infinityIsKept() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book.title = "Emma"
            for value in [Double.infinity, -.infinity, .greatestFiniteMagnitude, -0.0] {
                book.rating = value
                try context.save()
                context.refresh(book, mergeChanges: false)
                #expect(book.rating == value)
            }
        }
    }
}
