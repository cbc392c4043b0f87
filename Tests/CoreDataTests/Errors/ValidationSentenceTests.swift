import CoreData
import Foundation
import Testing

// semantics G3, G10: what validation errors say
@Suite struct ValidationSentenceTests {
    /// An entity with one property of every check, and what breaks each.
    private static func model(_ names: [String: String]? = nil) -> NSManagedObjectModel {
        let item = Library.entity("Item", nil)
        let parent = Library.entity("Thing", nil)
        func attribute(_ name: String, _ type: NSAttributeType, _ format: String, _ warning: Any) {
            let attribute = Library.attribute(name, type)
            attribute.setValidationPredicates([NSPredicate(format: format)], withValidationWarnings: ["\(warning)"])
            item.properties.append(attribute)
        }
        parent.properties = [Library.attribute("name", .stringAttributeType, optional: false)]
        parent.subentities = [item]
        attribute("title", .stringAttributeType, "length >= 2", 1670)
        attribute("summary", .stringAttributeType, "length <= 3", 1660)
        attribute("code", .stringAttributeType, "SELF MATCHES '[a-z]+'", 1680)
        attribute("count", .integer32AttributeType, "SELF >= 1", 1620)
        attribute("rank", .integer32AttributeType, "SELF <= 5", 1610)
        attribute("from", .dateAttributeType, "SELF >= CAST(0, 'NSDate')", 1640)
        attribute("to", .dateAttributeType, "SELF <= CAST(0, 'NSDate')", 1630)
        attribute("odd", .integer32AttributeType, "modulus:by:(SELF, 2) == 1", 1550)
        attribute("own", .integer32AttributeType, "SELF != 3", "Three is taken.")
        let (owner, items) = Library.pair("owner", of: item, "items", of: item)
        items.isOptional = true
        items.minCount = 2
        items.maxCount = 3
        items.deleteRule = .denyDeleteRule
        item.properties += [owner, items]
        let model = NSManagedObjectModel()
        model.entities = [parent, item]
        model.localizationDictionary = names
        return model
    }

    /// The error of one change of a valid item.
    private func error(
        _ names: [String: String]? = nil, _ change: (NSManagedObject, NSManagedObjectContext) throws -> Void
    ) throws -> CocoaError? {
        let stack = try LibraryStack(model: Self.model(names))
        return try stack.story { context in
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("a", forKey: "name")
            try change(item, context)
            return #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    @Test(
        arguments: [
            ("name", nil, 1570, "name is a required value."), ("title", "a", 1670, "title is too short."),
            ("summary", "long", 1660, "summary is too long."), ("code", "A1", 1680, "code is invalid."),
            ("count", 0, 1620, "count is too small."), ("rank", 6, 1610, "rank is too large."),
            ("from", Date(timeIntervalSinceReferenceDate: -1), 1640, "from is too soon."),
            ("to", Date(timeIntervalSinceReferenceDate: 1), 1630, "to is too late."),
            ("odd", 2, 1550, "odd is not valid."), ("own", 3, 1550, "Three is taken."),
        ] as [(String, (any Sendable)?, Int, String)])
    func attributes(key: String, value: (any Sendable)?, code: Int, sentence: String) throws {
        let found = try error { item, _ in item.setValue(value, forKey: key) }
        #expect(found?.code.rawValue == code)
        #expect(found?.localizedDescription == sentence)
        let info = (found.map { $0 as NSError })?.userInfo ?? [:]
        #expect(info[NSValidationKeyErrorKey] as? String == key)
        #expect(info[NSValidationObjectErrorKey] is NSManagedObject)
        #expect((info[NSValidationPredicateErrorKey] is NSPredicate) == (code != 1570))
        #expect((info[NSValidationValueErrorKey] is NSNull) == (value == nil))
    }

    @Test func relationships() throws {
        func add(_ count: Int) -> (NSManagedObject, NSManagedObjectContext) throws -> Void {
            { item, context in
                for _ in 0..<count {
                    let other = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    other.setValue("b", forKey: "name")
                    other.setValue(item, forKey: "owner")
                }
            }
        }
        let few = try error(nil, add(1))
        #expect(few?.code.rawValue == 1580 && few?.localizedDescription == "Too few items in items.")
        let many = try error(nil, add(4))
        #expect(many?.code.rawValue == 1590 && many?.localizedDescription == "Too many items in items.")
        #expect((many?.validationValue as? NSSet)?.count == 4)
        let denied = try error(nil) { item, context in
            try add(2)(item, context)
            try context.save()
            context.delete(item)
        }
        #expect(denied?.code.rawValue == 1600 && denied?.localizedDescription == "Items cannot be deleted from items.")
    }

    @Test("G2: several are one, of which each can be had as an NSError")
    func several() throws {
        let found = try error { item, _ in
            item.setValue(nil, forKey: "name")
            item.setValue(0, forKey: "count")
        }
        #expect(found?.code == .validationMultipleErrors)
        #expect(found?.localizedDescription == "Multiple validation errors occurred.")
        let details = found?.userInfo[NSDetailedErrorsKey] as? [NSError]
        #expect(
            Set(details?.map(\.localizedDescription) ?? []) == ["name is a required value.", "count is too small."])
    }

    @Test(
        "G3: names and sentences of the model's localization dictionary, the nearest first",
        arguments: [
            (["Property/name": "Name"], "Name is a required value."),
            (["Property/name/Entity/Thing": "Dingname", "Property/name": "Name"], "Dingname is a required value."),
            (
                ["Property/name/Entity/Item": "Artikelname", "Property/name/Entity/Thing": "Dingname"],
                "Artikelname is a required value."
            ),
            (["Entity/Item": "Artikel", "Property/other": "x"], "name is a required value."),
            (
                ["Property/name": "Name", "ErrorString/%{PROPERTY}@ is a required value.": "%{PROPERTY}@ fehlt."],
                "Name fehlt."
            ),
            (["ErrorString/name is a required value.": "Wie heißt es?"], "Wie heißt es?"),
        ] as [([String: String], String)])
    func localization(names: [String: String], sentence: String) throws {
        let found = try error(names) { item, _ in item.setValue(nil, forKey: "name") }
        #expect(found?.localizedDescription == sentence)
        #expect(found?.validationKey == "name")
    }

    @Test("A warning of the model is a sentence to be localized too")
    func localizedWarnings() throws {
        let found = try error(["ErrorString/Three is taken.": "Drei ist vergeben."]) { item, _ in
            item.setValue(3, forKey: "own")
        }
        #expect(found?.localizedDescription == "Drei ist vergeben.")
    }
}
