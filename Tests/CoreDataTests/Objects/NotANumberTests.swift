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

    @Test("G8: NaN is found with the other mistakes, before anything is written")
    func isOneOfSeveralMistakes() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            (book.rating, book.pages) = (.nan, -1)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSValidationMultipleErrorsError)
            let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError] ?? []
            #expect(Set(details.compactMap(\.validationKey)) == ["rating", "title", "pages"])
            #expect(throws: CocoaError.self) { try book.validateForInsert() }
        }
    }

    @Test("H6: of several stores none is written where an object of one has NaN")
    func keepsSeveralStoresAsTheyAre() throws {
        let stack = try LibraryStack()
        try stack.coordinator.addPersistentStore(
            type: .sqlite, at: stack.folder.appendingPathComponent("Second.sqlite"))
        try stack.story { context in
            for (index, store) in stack.coordinator.persistentStores.enumerated() {
                let book = Book(context: context)
                (book.title, book.rating) = ("\(index)", index == 1 ? .nan : 1)
                context.assign(book, to: store)
            }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectValidationError)
            let fresh = stack.newContext()
            let saved = try fresh.performAndWait { try fresh.all(Book.self, "Book") }
            #expect(saved.isEmpty)
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
