import CoreDataPredicate
import Foundation
import Testing

@testable import CoreData

@Suite struct KeyValueCodingTests {
    @Test func anOptionalThatIsNilIsNil() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            let (text, number, other) = (String?.none, Int??.some(nil), Author?.none)
            for (key, value, empty) in [
                ("title", "Emma", text as Any), ("pages", 3, number as Any),
                ("author", Author(context: context), other as Any),
                ("price", Decimal(1), Decimal?.none as Any), ("cover", Data([1]), Data?.none as Any),
                ("tags", NSSet(object: Tag(context: context)), Set<NSManagedObject>?.none as Any),
            ] as [(String, Any, Any)] {
                book.setValue(value, forKey: key)
                book.setValue(empty, forKey: key)
                #expect(book.value(forKey: key) == nil || (book.value(forKey: key) as? NSSet)?.count == 0, "\(key)")
                book.setValue(value, forKey: key)
                book.setValuesForKeys([key: empty])
                #expect(book.value(forKey: key) == nil || (book.value(forKey: key) as? NSSet)?.count == 0, "\(key)")
            }
            book.setValue(String?.some("Emma") as Any, forKey: "title")
            #expect(book.title == "Emma")
        }
    }

    @Test("NSNull is no value of a property by key; nil is, and NSNull in setValuesForKeys(_:)")
    func nullIsRefused() async throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book.title = "Emma"
            book.pages = 3
            book.author = Author(context: context)
            book.setValuesForKeys(["title": NSNull(), "pages": NSNull(), "author": NSNull()])
            #expect(book.value(forKey: "title") == nil && book.value(forKey: "pages") == nil && book.author == nil)
        }
        await #expect(processExitsWith: .failure) {
            try LibraryStack().story { Book(context: $0).setValue(NSNull(), forKey: "title") }
        }
        await #expect(processExitsWith: .failure) {
            try LibraryStack().story { Book(context: $0).setValue(NSNull(), forKey: "author") }
        }
    }

    @Test("The message names the property, the type that it takes and NSNull")
    func messageOfNull() throws {
        let runtime = try LibraryStack().coordinator.runtime
        let book = try #require(runtime.entity(named: "Book"))
        for (key, kind, type) in [
            ("title", "attribute", "NSString"), ("pages", "attribute", "NSNumber"),
            ("author", "to-one relationship", "\"Author\""),
            ("tags", "to-many relationship", "a collection of \"Tag\""),
        ] {
            let slot = try #require(book.slot(forKey: key))
            let message = KeyValueCoding.nullMessage(book.slots[slot], of: book)
            #expect(
                message.hasPrefix(
                    "Unacceptable type of value for \(kind): property = \"\(key)\"; entity = \"Book\"; desired type = \(type); "
                        + "given type = NSNull."), "\(message)")
        }
    }

    @Test func whatEveryManagedObjectHasIsFoundByKey() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            for (key, value) in [
                "inserted": true, "updated": false, "deleted": false, "fault": false, "hasChanges": true,
            ] {
                #expect(book.value(forKey: key) as? Bool == value, "\(key)")
                let predicate = NSPredicate(format: "%K == %@", key, NSNumber(value: value))
                #expect(predicate.evaluate(with: book), "\(key)")
            }
            #expect(
                book.value(forKey: "isInserted") as? Bool == true && book.value(forKey: "faultingState") as? Int == 0)
            #expect(book.value(forKey: "hash") as? Int == book.hash)
            #expect((book.value(forKey: "description") as? String)?.contains("entity: Book") == true)
            #expect(book.value(forKey: "debugDescription") is String)
            book.title = "Emma"
            #expect((book.value(forKey: "changedValues") as? [String: Any])?["title"] as? String == "Emma")
        }
    }

    @Test func valuesAreSetFromAnyNumber() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            let thirties: [Any] = [
                30, Int64(30), Int32(30), Int16(30), UInt8(30), 30.0, Float(30), CGFloat(30), NSNumber(value: 30),
            ]
            for number in thirties {
                book.setValue(number, forKey: "pages")
                #expect(book.pages == 30, "\(type(of: number))")
                book.setValue(number, forKey: "rating")
                #expect(book.rating == 30, "\(type(of: number))")
                book.setValue(nil, forKey: "pages")
                book.setValue(nil, forKey: "rating")
                #expect(book.value(forKey: "pages") == nil && book.value(forKey: "rating") == nil)
            }
            book.setValue(NSNumber(value: 2.75), forKey: "pages")
            #expect(book.pages == 2)
            for yes in [true, 1, NSNumber(value: true), NSNumber(value: 5)] as [Any] {
                book.setValue(yes, forKey: "isLent")
                #expect(book.isLent, "\(type(of: yes))")
                book.setValue(nil, forKey: "isLent")
                #expect(book.value(forKey: "isLent") == nil)
            }
            for text in ["Emma", NSString("Emma"), NSMutableString("Emma")] as [Any] {
                book.setValue(text, forKey: "title")
                #expect(book.title == "Emma", "\(type(of: text))")
            }
            let day = Date(timeIntervalSinceReferenceDate: 5)
            for date in [day, day as NSDate] as [Any] {
                book.setValue(date, forKey: "published")
                #expect(book.published == day, "\(type(of: date))")
                book.setValue(nil, forKey: "published")
            }
        }
    }

    private static let size = PropertyKey<CGFloat>("rating")
    private static let optionalSize = PropertyKey<CGFloat?>("rating")

    @Test func aCGFloatIsANumber() throws {
        let model = Library.model()
        let rating = model.entitiesByName["Book"]?.attributesByName["rating"]
        rating?.defaultValue = CGFloat(1.5)
        try LibraryStack(model: model).story { context in
            let book = Book(context: context)
            #expect(book.rating == 1.5)
            book.title = "Emma"
            book.setValue(CGFloat(2.5), forKey: "rating")
            #expect(book.rating == 2.5 && book[Self.size] == 2.5)
            book.setPrimitiveValue(CGFloat(3.5), forKey: "rating")
            #expect(book[Self.optionalSize] == 3.5)
            book[Self.optionalSize] = nil
            #expect(book[Self.size] == 0 && book.value(forKey: "rating") == nil)
            book[Self.size] = 4.5
            book.setValue(CGFloat(7.25), forKey: "price")
            book.setValue(CGFloat(1), forKey: "isLent")
            #expect(book.price == 7.25 && book.isLent)
            try context.save()
            for predicate in [
                NSPredicate(format: "rating == %f", CGFloat(4.5)),
                NSPredicate(format: "rating > %@", argumentArray: [CGFloat(4.25)]),
                NSPredicate(format: "rating < %K + 1 AND price >= $least", argumentArray: ["rating"])
                    .withSubstitutionVariables(["least": CGFloat(7.25)]),
            ] {
                #expect(predicate.evaluate(with: book), "\(predicate)")
                let request = NSFetchRequest<Book>(entityName: "Book")
                request.predicate = predicate
                #expect(try context.fetch(request) == [book], "\(predicate)")
            }
        }
    }

    @Test func anIDAnswersForItsProperties() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            #expect(book.value(forKeyPath: "objectID.isTemporaryID") as? Bool == true)
            #expect(book.value(forKeyPath: "objectID.persistentStore") == nil)
            try context.save()
            let id = book.objectID
            #expect(book.value(forKeyPath: "objectID.isTemporaryID") as? Bool == false)
            #expect(book.value(forKeyPath: "objectID.entity.name") as? String == "Book")
            #expect(book.value(forKeyPath: "objectID.uriRepresentation") as? URL == id.uriRepresentation())
            #expect(book.value(forKeyPath: "objectID.URIRepresentation") as? URL == id.uriRepresentation())
            #expect(
                book.value(forKeyPath: "objectID.persistentStore") as? NSPersistentStore
                    === stack.coordinator.persistentStores[0])
            #expect(([id] as NSArray).value(forKey: "isTemporaryID") as? [Bool] == [false])
            #expect(NSPredicate(format: "objectID.isTemporaryID == NO").evaluate(with: book))
        }
    }

    @Test func aKeyThatAnIDDoesNotHaveIsNamedWithThoseThatItHas() throws {
        try LibraryStack().story { context in
            let id = Book(context: context).objectID
            for (key, isProperty) in [("title", true), ("nothing", false)] {
                let failure = #expect(throws: PredicateFailure.self) { try id.predicateOperand(forKey: key) }
                let text = failure?.diagnostic.rendered ?? ""
                #expect(text.contains("isTemporaryID, persistentStore, uriRepresentation"), "\(text)")
                #expect(text.contains("ask the object, not its ID") == isProperty, "\(text)")
            }
        }
    }

    @Test func valuesAreGivenAsFoundationHasThem() throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            let author = Author(context: context)
            book.title = "Emma"
            book.author = author
            for saved in [false, true] {
                for pages: Int32 in [0, -16, -17, 1023, 1024, 70000] {
                    book.pages = pages
                    let number = try #require(book.value(forKey: "pages") as? NSNumber)
                    #expect(number.int32Value == pages && number == NSNumber(value: pages))
                }
                for lent in [false, true] {
                    book.isLent = lent
                    #expect(book.value(forKey: "isLent") as? Bool == lent)
                    #expect((book.value(forKey: "isLent") as? NSNumber) === NSNumber(value: lent))
                }
                book.rating = -0.0
                #expect((book.value(forKey: "rating") as? Double)?.sign == .minus)
                #expect(book.value(forKey: "title") as? String == "Emma")
                #expect(book.value(forKey: "author") as? Author === author)
                book.published = Date(timeIntervalSinceReferenceDate: 7)
                #expect(book.value(forKey: "published") as? Date == book.published)
                #expect(book.value(forKey: "isbn") == nil && book.value(forKey: "chapters") is NSOrderedSet)
                if !saved {
                    author.name = "Jane"
                    book.isbn = nil
                    try context.save()
                    context.refresh(book, mergeChanges: false)
                    #expect(book.value(forKey: "title") as? String == "Emma", "a fault is fired")
                }
            }
        }
    }

    @Test(arguments: [0, 1, 2.5, 255, 256, -0.0, -1, .infinity, .nan] as [Float])
    func sharedFloatsAreTheNumbersThemselves(_ value: Float) {
        let number = SharedNumbers.float(value)
        #expect(number.floatValue.bitPattern == value.bitPattern)
        #expect(String(cString: number.objCType) == String(cString: NSNumber(value: value).objCType))
    }

    @Test func sharedIntegersAreTheNumbersThemselves() {
        for value in [Int64.min, -17, -16, -1, 0, 1, 1023, 1024, .max] {
            let number = SharedNumbers.integer(value)
            #expect(number.int64Value == value)
            #expect(String(cString: number.objCType) == String(cString: NSNumber(value: value).objCType))
        }
    }

    @Test func slotsAreFoundByName() {
        // Names whose first, middle and last bytes and lengths are the same.
        let names =
            ["", "a", "b", "ab", "größe", "Ähre", "name", "nime", String(repeating: "long ", count: 40)]
            + (0..<200).map { "p\($0)x" } + (0..<50).map { "a\($0 % 10)b\($0 / 10)c" }
        let table = SlotTable(names)
        defer { table.deallocate() }
        for (slot, name) in names.enumerated() {
            #expect(table.slot(name) == slot)
            #expect(table.slot(String(decoding: Array(name.utf8), as: UTF8.self)) == slot)
            #expect(table.slot(name + "?") == nil)
        }
        let empty = SlotTable([])
        defer { empty.deallocate() }
        #expect(empty.slot("name") == nil && empty.slot("") == nil)
    }

    @Test func anotherSpellingOfALetterIsTheSameKey() throws {
        let entity = Library.entity("Ware", nil)
        entity.properties = [Library.attribute("größe", .integer64AttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        try LibraryStack(model: model).story { context in
            let ware = NSEntityDescription.insertNewObject(forEntityName: "Ware", into: context)
            ware.setValue(4, forKey: "gro\u{308}ße")
            #expect(ware.value(forKey: "größe") as? Int == 4)
        }
    }
}
