import CoreData
import Foundation
import Testing

/// Values that no row has, and values that were put into the object itself.
@Suite struct TransientAndPrimitiveTests {
    /// Sets primitive values when it is inserted, as Apple's documentation advises.
    private final class Sheet: NSManagedObject {
        override func awakeFromInsert() {
            super.awakeFromInsert()
            setPrimitiveValue("fresh", forKey: "text")
            setPrimitiveValue(3, forKey: "number")
        }

        static func model() -> NSManagedObjectModel {
            let entity = Library.entity("Sheet", nil)
            entity.managedObjectClassName = String(reflecting: Sheet.self)
            let values: [(String, NSAttributeType, Any)] = [
                ("state", .stringAttributeType, "new"), ("rank", .integer16AttributeType, 4),
                ("weight", .doubleAttributeType, 1.5), ("isOpen", .booleanAttributeType, true),
                ("day", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 9)),
                ("mark", .decimalAttributeType, NSDecimalNumber(string: "2.5")),
            ]
            let transients = values.map { name, type, value in
                let attribute = Library.attribute(name, type, optional: false)
                attribute.isTransient = true
                attribute.defaultValue = value
                return attribute
            }
            let (parent, children) = Library.pair("parent", of: entity, "children", of: entity)
            entity.properties =
                transients + [
                    Library.attribute("text", .stringAttributeType),
                    Library.attribute("number", .integer64AttributeType),
                    Library.attribute("unset", .stringAttributeType), parent, children,
                ]
            let model = NSManagedObjectModel()
            model.entities = [entity]
            return model
        }
    }

    @Test("C13, G1: a transient attribute has its default after fetch and refresh, so that it can be saved")
    func defaultsOfTransients() throws {
        let stack = try LibraryStack(model: Sheet.model())
        try stack.story { context in
            let sheet = Sheet(context: context)
            try context.save()
            func check(_ sheet: Sheet, _ when: String) {
                let expected: [String: NSObject] = [
                    "state": NSString("new"), "rank": NSNumber(value: 4), "weight": NSNumber(value: 1.5),
                    "isOpen": NSNumber(value: true), "day": NSDate(timeIntervalSinceReferenceDate: 9),
                    "mark": NSDecimalNumber(string: "2.5"),
                ]
                for (key, value) in expected {
                    #expect(value.isEqual(sheet.value(forKey: key)), "\(key) \(when)")
                    #expect(value.isEqual(sheet.primitiveValue(forKey: key)), "\(key) \(when)")
                }
                #expect(NSPredicate(format: "state == 'new' AND rank == 4").evaluate(with: sheet))
            }
            check(sheet, "after the save")
            sheet.setValue("old", forKey: "state")
            context.refresh(sheet, mergeChanges: false)
            check(sheet, "after a refresh")
            sheet.setValue("changed", forKey: "text")
            try context.save()
            context.reset()
            let fetched = try #require(try context.all(Sheet.self, "Sheet").first)
            check(fetched, "after a fetch")
            fetched.setValue("again", forKey: "text")
            try context.save()
            #expect(fetched.value(forKey: "text") as? String == "again")
        }
    }

    @Test("D3: changed values have what awakeFromInsert set by primitive values")
    func primitivesOfAnInsertedObject() throws {
        let stack = try LibraryStack(model: Sheet.model())
        try stack.story { context in
            let sheet = Sheet(context: context)
            #expect(sheet.changedValues() as NSDictionary == ["text": "fresh", "number": 3] as NSDictionary)
            let parent = Sheet(context: context)
            sheet.setPrimitiveValue(parent, forKey: "parent")
            sheet.setPrimitiveValue(nil, forKey: "number")
            #expect(
                sheet.changedValues() as NSDictionary
                    == ["text": "fresh", "number": NSNull(), "parent": parent] as NSDictionary)
            try context.save()
            #expect(sheet.changedValues().isEmpty)
            // C2: a clean object's are not saved; one's that is saved are.
            sheet.setPrimitiveValue("quiet", forKey: "text")
            #expect(sheet.changedValues().isEmpty && !sheet.hasPersistentChangedValues)
            sheet.setValue("loud", forKey: "unset")
            #expect(sheet.changedValues() as NSDictionary == ["text": "quiet", "unset": "loud"] as NSDictionary)
        }
    }

    @Test("B5: a new object that is refreshed without its changes is as it was made")
    func refreshingANewObject() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let author = Author(context: context)
            author.name = "Author"
            try context.save()
            let book = Book(context: context)
            book.title = "Title"
            book.pages = 12
            book.author = author
            book.note = "note"
            book.chapters = stack.chapters(["one"], in: context)
            let chapter = book.chapters[0]
            context.refresh(book, mergeChanges: true)
            #expect(book.title == "Title" && book.author === author)
            context.refresh(book, mergeChanges: false)
            #expect(book.isInserted && !book.isFault && context.insertedObjects.contains(book))
            #expect(
                book.title == nil && book.pages == 0 && book.note == nil && book.author == nil && book.chapters.isEmpty)
            #expect(book.changedValues().isEmpty && author.books.isEmpty && chapter.book == nil)
            #expect(throws: CocoaError.self) { try context.save() }
            book.title = "Other"
            try context.save()
            #expect(try context.all(Book.self, "Book", "title == 'Other' AND pages == 0").count == 1)
        }
    }
}
