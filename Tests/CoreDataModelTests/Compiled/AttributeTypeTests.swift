import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreDataModel

@Suite struct AttributeTypeTests {
    @Test func namesTellTypesApart() {
        let traits = AttributeType.allCases.map(\.traits)
        #expect(Set(traits.compactMap(\.fileName)).count == traits.count - 1)
        #expect(Set(traits.map(\.swiftName)).count == traits.count)
        #expect(Set(traits.map(\.storeName)).count == traits.count)
        for type in AttributeType.allCases {
            #expect(AttributeType(swiftName: type.traits.swiftName) == type)
            if let name = type.fileName { #expect(AttributeType(fileName: name) == type) }
        }
        #expect(AttributeType(fileName: "ObjectID") == nil && AttributeType(swiftName: "Integer 16") == nil)
    }

    /// Every kind is some type's; what a kind's values are kept as.
    @Test func kindsAreOfUse() {
        #expect(Set(AttributeType.allCases.map(\.kind)) == Set(ValueKind.allCases))
    }

    @Test(arguments: [
        (AttributeType.integer16, "7", Value.integer(7)), (.integer32, "-7", .integer(-7)),
        (.integer64, "9223372036854775807", .integer(.max)), (.boolean, "YES", .integer(1)),
        (.double, "0.5", .double(0.5)), (.float, "0.1", .double(0.1)), (.decimal, "1.25", .decimal(Decimal(125) / 100)),
        (.string, " a ", .string(" a ")), (.date, "8", .date(8)), (.uri, "a:b", .uri("a:b")),
        (
            .uuid, "2B7F0C3A-9B54-4E1F-8B1D-0D9C7B8E6A51",
            .uuid(UUID(uuidString: "2B7F0C3A-9B54-4E1F-8B1D-0D9C7B8E6A51") ?? UUID())
        ),
    ])
    func defaultsGoToTextAndBack(type: AttributeType, text: String, value: Value) {
        #expect(DefaultValue.value(text, type: type) == value)
        #expect(DefaultValue.text(of: value, type: type) == text)
    }

    @Test(arguments: [
        (AttributeType.integer16, "32768"), (.integer16, "-32769"), (.integer32, "2147483648"),
        (.integer64, "9223372036854775808"), (.uuid, "x"), (.date, "x"), (.double, "1e999"), (.decimal, "1x"),
    ])
    func defaultsThatDoNotFitAreNone(type: AttributeType, text: String) {
        #expect(DefaultValue.value(text, type: type) == nil)
    }

    /// A column's words are what was put in, for each type whose values a row keeps as they are.
    @Test(arguments: [
        (AttributeType.integer16, Value.integer(-7)), (.boolean, .integer(1)), (.double, .double(0.5)),
        (.float, .double(0.25)), (.decimal, .decimal(Decimal(125) / 100)), (.string, .string("ä")),
        (.date, .date(8.5)), (.binaryData, .data(Data([1, 2]))), (.uri, .uri("a:b")), (.uuid, .uuid(UUID())),
        (.transformable, .data(Data([3]))), (.string, .null), (.uuid, .null),
    ])
    func valuesGoThroughRows(type: AttributeType, value: Value) {
        let builder = RowBuilder(columnCount: 1)
        builder.set(value, type.kind.columnKind, at: 0)
        let row = builder.finish(primaryKey: 1, version: 1, entity: 0)
        #expect(row.value(0, type.kind) == value)
        #expect(row.value(-1, type.kind) == .null)
    }

    @Test func bytesThatAreNoUUIDAreNone() {
        let builder = RowBuilder(columnCount: 1)
        builder.set(.data(Data([1, 2])), .blob, at: 0)
        #expect(builder.finish(primaryKey: 1, version: 1, entity: 0).value(0, .identifier) == .null)
    }
}
