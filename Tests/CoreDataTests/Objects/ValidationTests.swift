import CoreData
import Foundation
import Testing

// semantics G: validation
@Suite struct ValidationTests {
    @Test(
        "G4: every check of the model has its code",
        arguments: [
            ("title", nil, 1570), ("title", "", 1670), ("title", String(repeating: "x", count: 101), 1660),
        ] as [(String, String?, Int)])
    func codes(_ key: String, _ value: String?, _ code: Int) throws {
        let stack = try LibraryStack()
        stack.story { context in
            let book = Book(context: context)
            book.setValue(value, forKey: key)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == code)
            #expect(error?.validationKey == key)
            #expect(error?.validationObject as? Book === book)
            #expect(book.isInserted)
        }
    }

    @Test("validateValue checks the counts of a to-many that is not set yet, as the save does")
    func proposedMembers() throws {
        let model = Library.model()
        let tags = model.entitiesByName["Book"]?.relationshipsByName["tags"]
        tags?.minCount = 2
        tags?.maxCount = 3
        try LibraryStack(model: model).story { context in
            let book = Book(context: context)
            let members = (0..<4).map { _ in Tag(context: context) }
            for (count, code) in [(0, 0), (1, 1580), (2, 0), (4, 1590)] {
                for value in [NSSet(array: Array(members[..<count])), NSArray(array: Array(members[..<count]))]
                    as [AnyObject]
                {
                    var value: AnyObject? = value
                    do {
                        try book.validateValue(&value, forKey: "tags")
                        #expect(code == 0)
                    } catch {
                        #expect((error as NSError).code == code)
                    }
                }
            }
            var none: AnyObject?
            try book.validateValue(&none, forKey: "tags")
        }
    }

    @Test(
        "validateValue refuses NaN with 1550, as the save does",
        arguments: [("rating", 0), ("price", 0), ("price", 1), ("published", 2)])
    func proposedNaN(_ key: String, _ kind: Int) throws {
        try LibraryStack().story { context in
            let book = Book(context: context)
            book.title = "Emma"
            let nan: AnyObject =
                switch kind {
                case 0: NSNumber(value: Double.nan)
                case 1: NSDecimalNumber.notANumber
                default: NSDate(timeIntervalSinceReferenceDate: .nan)
                }
            var value: AnyObject? = nan
            let error = #expect(throws: CocoaError.self) { try book.validateValue(&value, forKey: key) }
            #expect(error?.code.rawValue == 1550 && error?.validationKey == key)
            book.setValue(nan, forKey: key)
            let saving = #expect(throws: CocoaError.self) { try context.save() }
            #expect(saving?.code.rawValue == 1550)
        }
    }

    @Test("G2: several problems are one error 1560 with all of them")
    func severalProblems() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let book = Book(context: context)
            book.title = ""
            book.pages = -1
            _ = Loan(context: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMultipleErrors)
            let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError] ?? []
            #expect(details.map(\.code.rawValue).sorted() == [1570, 1570, 1620, 1670])
        }
    }

    @Test("G8: what failed to save can be mended and saved")
    func mending() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            #expect(throws: CocoaError.self) { try context.save() }
            book.title = "Now"
            try context.save()
            book.title = nil
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMissingMandatoryProperty)
            context.rollback()
            #expect(book.title == "Now")
        }
    }

    @Test("G6: an overridden validateValue is asked, and its replacement is saved")
    func overriding() throws {
        let model = Library.model()
        model.entitiesByName["Tag"]?.managedObjectClassName = "CoreDataTests.CheckedTag"
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let tag = CheckedTag(context: context)
            tag.setValue("forbidden", forKey: "name")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectValidationError)
            tag.setValue("  spaced  ", forKey: "name")
            try context.save()
            #expect(tag.value(forKey: "name") as? String == "spaced")
            context.reset()
            #expect(try context.all(CheckedTag.self, "Tag", "name == 'spaced'").count == 1)
        }
    }
}

final class CheckedTag: NSManagedObject {
    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        try super.validateValue(value, forKey: key)
        guard key == "name", let text = value.pointee as? String else { return }
        if text == "forbidden" {
            throw CocoaError(
                .managedObjectValidation, userInfo: [NSLocalizedDescriptionKey: "\(text) is not allowed"])
        }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        if trimmed != text { value.pointee = trimmed as NSString }
    }
}
