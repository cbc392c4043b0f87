import CoreData
import Foundation
import Testing

/// Numbers that an integer attribute is too narrow for (C7, G4, G5).
@Suite struct IntegerWidthTests {
    private static func model() -> NSManagedObjectModel {
        let entity = Library.entity("Widths", nil)
        entity.properties = [
            Library.attribute("short", .integer16AttributeType), Library.attribute("medium", .integer32AttributeType),
            Library.attribute("long", .integer64AttributeType),
            Library.attribute("name", .stringAttributeType, optional: false),
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private static let tooWide: [(key: String, value: any Sendable, code: Int)] = [
        ("short", 70000, 1610), ("short", -70000, 1620), ("short", 32768, 1610), ("short", Int32(-32769), 1620),
        ("short", NSNumber(value: 70000), 1610), ("short", 1e6, 1610), ("medium", Int64(1) << 31, 1610),
        ("medium", -(Int64(1) << 31) - 1, 1620), ("long", UInt64.max, 1610), ("long", 1e30, 1610),
        ("long", -1e30, 1620),
        ("long", NSDecimalNumber(string: "1e30"), 1610), ("short", UInt64.max, 1610),
    ]

    @Test(arguments: 0..<tooWide.count)
    func validationRefusesWhatDoesNotFit(_ number: Int) throws {
        let (key, value, code) = Self.tooWide[number]
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            let object = NSEntityDescription.insertNewObject(forEntityName: "Widths", into: context)
            object.setValue("name", forKey: "name")
            object.setValue(value, forKey: key)
            func check(_ error: (any Error)?) {
                let error = error as? CocoaError
                #expect(error?.code.rawValue == code && error?.validationKey == key, "\(key) \(value)")
                #expect((error?.validationObject as? NSManagedObject) === object)
            }
            check(#expect(throws: CocoaError.self) { try object.validateForInsert() })
            check(#expect(throws: CocoaError.self) { try context.save() })
            #expect(object.isInserted, "nothing was stored")
            object.setValue(1, forKey: key)
            try context.save()
            object.setPrimitiveValue(value, forKey: key)
            object.setValue("other", forKey: "name")
            check(#expect(throws: CocoaError.self) { try context.save() })
            context.refresh(object, mergeChanges: false)
            #expect(object.value(forKey: key) as? Int == 1)
        }
    }

    @Test func aNumberIsKeptAsItWasSetAndToldWithTheOtherErrors() throws {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { context in
            let object = NSEntityDescription.insertNewObject(forEntityName: "Widths", into: context)
            object.setValue(70000, forKey: "short")
            #expect(object.value(forKey: "short") as? Int == 70000)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            let details = error?.userInfo[NSDetailedErrorsKey] as? [CocoaError]
            #expect(error?.code.rawValue == 1560 && Set(details?.map(\.code.rawValue) ?? []) == [1570, 1610])
            for fitting: (String, any Sendable) in [
                ("short", Int16.min), ("short", Int16.max), ("medium", Int32.min), ("medium", Int32.max),
                ("long", Int64.min),
                ("long", Int64.max), ("long", UInt64(Int64.max)),
            ] {
                object.setValue("name", forKey: "name")
                object.setValue(fitting.1, forKey: fitting.0)
                try context.save()
                context.refresh(object, mergeChanges: false)
                #expect((object.value(forKey: fitting.0) as? NSNumber)?.isEqual(fitting.1) == true, "\(fitting)")
            }
        }
    }

    @Test func oneValueIsValidatedToo() throws {
        let stack = try LibraryStack(model: Self.model())
        stack.story { context in
            let object = NSEntityDescription.insertNewObject(forEntityName: "Widths", into: context)
            for (value, code) in [(70000, 1610), (-70000, 1620), (7, 0)] {
                var pointee = NSNumber(value: value) as AnyObject?
                let error = Result {
                    try withUnsafeMutablePointer(to: &pointee) {
                        try object.validateValue(AutoreleasingUnsafeMutablePointer($0), forKey: "short")
                    }
                }
                if case .failure(let error) = error {
                    #expect((error as? CocoaError)?.code.rawValue == code)
                } else {
                    #expect(code == 0)
                }
            }
        }
    }
}
