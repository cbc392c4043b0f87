import CoreData
import CoreDataStoreTools
import Foundation
import Testing

@testable import CoreDataCLI
@testable import CoreDataToolkit

@Suite struct AttributeTextTests {
    /// What a text becomes and how it is written again.
    @Test(
        arguments: [
            (.integer16AttributeType, "-32768", "-32768"),
            (.integer32AttributeType, "3e2", "300"),
            (.integer64AttributeType, "9223372036854775807", "9223372036854775807"),
            (.doubleAttributeType, "0.1", "0.1"),
            (.doubleAttributeType, "1e300", "1e+300"),
            (.floatAttributeType, "0.1", "0.1"),
            (.decimalAttributeType, "12345678901234567890.123456789", "12345678901234567890.123456789"),
            (.booleanAttributeType, "YES", "true"),
            (.booleanAttributeType, "0", "false"),
            (.stringAttributeType, " Tin", " Tin"),
            (.dateAttributeType, "2024-05-01", "2024-05-01T00:00:00Z"),
            (.binaryDataAttributeType, "AQID", "AQID"),
            (.UUIDAttributeType, "6f997b6b-4c1e-4a5b-9c3d-0123456789ab", "6F997B6B-4C1E-4A5B-9C3D-0123456789AB"),
            (.URIAttributeType, "https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ] as [(NSAttributeType, String, String)])
    func textsBecomeValuesAndTextsAgain(type: NSAttributeType, text: String, written: String) throws {
        let attribute = NSAttributeDescription()
        attribute.attributeType = type
        let conversion = AttributeText(attribute: attribute)
        #expect(try conversion.cell(conversion.value(.text(text))).text == written)
    }

    @Test(
        arguments: [
            // (optional, empty is nil) → value
            (true, true, nil), (false, true, ""), (true, false, ""), (false, false, ""),
        ] as [(Bool, Bool, String?)])
    func anEmptyTextIsNoValueWhereTheFormatHasNoOther(isOptional: Bool, emptyIsNil: Bool, value: String?) throws {
        let attribute = NSAttributeDescription()
        attribute.attributeType = .stringAttributeType
        attribute.isOptional = isOptional
        #expect(try AttributeText(attribute: attribute, emptyIsNil: emptyIsNil).value(.text("")) as? String == value)
    }

    @Test func anEmptyNumberIsNoValue() throws {
        let attribute = NSAttributeDescription()
        attribute.attributeType = .integer32AttributeType
        #expect(try AttributeText(attribute: attribute).value(.text("")) == nil)
    }
}
