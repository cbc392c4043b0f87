import CoreDataModel
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

@Suite struct NSPropertyDescriptionTests {
    @Test func defaultsAreApples() {
        let attribute = NSAttributeDescription()
        #expect(attribute.isOptional && !attribute.isTransient && attribute.name.isEmpty)
        #expect(attribute.attributeType == .undefinedAttributeType && attribute.type == .undefined)
        #expect(attribute.validationPredicates.isEmpty && attribute.validationWarnings.isEmpty)
        let relationship = NSRelationshipDescription()
        #expect(relationship.minCount == 0 && relationship.maxCount == 0 && relationship.isToMany)
        #expect(relationship.deleteRule == .nullifyDeleteRule && !relationship.isOrdered)
        #expect(NSFetchedPropertyDescription().isTransient)
        #expect(NSCompositeAttributeDescription().type == .composite)
        let element = NSFetchIndexElementDescription(property: attribute, collationType: .rTree)
        #expect(element.isAscending && element.property === attribute && element.indexDescription == nil)
    }

    /// api.md §1.7
    @Test func typesHaveApplesRawValuesAndClasses() {
        let types: [(NSAttributeType, UInt, String?)] = [
            (.undefinedAttributeType, 0, nil), (.integer16AttributeType, 100, "NSNumber"),
            (.integer32AttributeType, 200, "NSNumber"), (.integer64AttributeType, 300, "NSNumber"),
            (.decimalAttributeType, 400, "NSDecimalNumber"), (.doubleAttributeType, 500, "NSNumber"),
            (.floatAttributeType, 600, "NSNumber"), (.stringAttributeType, 700, "NSString"),
            (.booleanAttributeType, 800, "NSNumber"), (.dateAttributeType, 900, "NSDate"),
            (.binaryDataAttributeType, 1000, "NSData"), (.UUIDAttributeType, 1100, "NSUUID"),
            (.URIAttributeType, 1200, "NSURL"), (.transformableAttributeType, 1800, nil),
            (.objectIDAttributeType, 2000, "NSManagedObjectID"), (.compositeAttributeType, 2100, "NSDictionary"),
        ]
        for (type, raw, name) in types {
            #expect(type.rawValue == raw)
            #expect(NSAttributeType(type.compiled) == type && UInt(type.compiled.rawValue) == raw)
            let attribute = NSAttributeDescription()
            attribute.attributeType = type
            #expect(attribute.attributeValueClassName == name)
        }
        #expect(NSDeleteRule.denyDeleteRule.rawValue == 3 && NSDeleteRule.noActionDeleteRule.rawValue == 0)
        #expect(NSFetchIndexElementType.rTree.rawValue == 1)
    }

    @Test func aTransformablesClassCanBeSet() {
        let color = GroceryModel.attribute("color", .transformable)
        color.attributeValueClassName = "Color"
        #expect(color.attributeValueClassName == "Color")
        color.attributeValueClassName = nil
        #expect(color.attributeValueClassName == nil)
    }

    @Test func valuesConvertByType() {
        let uuid = UUID()
        let url = URL(string: "https://example.org/a?b")!
        let cases: [(Any?, CoreDataModel.AttributeType, Value?)] = [
            (5, .integer64, .integer(5)), (Int16(-3), .integer16, .integer(-3)), (UInt8(7), .integer32, .integer(7)),
            (NSNumber(value: 9), .integer64, .integer(9)), (true, .boolean, .integer(1)), (5, .boolean, .integer(1)),
            (Float(1.5), .float, .double(1.5)), (2, .double, .double(2)), (Decimal(3), .decimal, .decimal(3)),
            (NSDecimalNumber(string: "1.25"), .decimal, .decimal(Decimal(string: "1.25")!)),
            ("a", .string, .string("a")), (NSString("a"), .string, .string("a")),
            (Date(timeIntervalSinceReferenceDate: 8), .date, .date(8)), (Data([1]), .binaryData, .data(Data([1]))),
            (NSData(data: Data([1])), .binaryData, .data(Data([1]))), (uuid, .uuid, .uuid(uuid)),
            (NSUUID(uuidString: uuid.uuidString), .uuid, .uuid(uuid)), (url, .uri, .uri(url.absoluteString)),
            (nil, .string, .null), (NSNull(), .string, .null),
            ("5", .integer64, nil), (5, .string, nil), ("a", .date, nil), ("a", .uri, nil), ("a", .composite, nil),
        ]
        for (object, type, value) in cases {
            #expect(AttributeValueConversion.value(of: object, as: type) == value, "\(String(describing: object))")
        }
    }

    @Test func numbersComeBackAsAnyNumberType() {
        let integer = AttributeValueConversion.object(for: .integer(5), as: .integer64)
        #expect(integer as? Int == 5 && integer as? Int16 == 5 && integer as? NSNumber == 5)
        let truth = AttributeValueConversion.object(for: .integer(1), as: .boolean)
        #expect(truth as? Bool == true)
        let half = AttributeValueConversion.object(for: .double(0.5), as: .float)
        #expect(half as? Float == 0.5 && half as? Double == 0.5)
    }

    @Test func equalOpaqueValuesAreEqual() {
        let a = AttributeValueConversion.value(of: ["x", "y"], as: .transformable)
        #expect(a == AttributeValueConversion.value(of: ["x", "y"], as: .transformable))
        #expect(a != AttributeValueConversion.value(of: ["x"], as: .transformable))
    }
}
