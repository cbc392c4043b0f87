import Foundation
import Testing

@testable import CoreData

private final class UTF8Transformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8) } }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
}

private struct NotArchivable {}

/// U5
@Suite struct TransformableCoderTests {
    private func attribute(_ transformer: String?) -> NSAttributeDescription {
        let attribute = GroceryModel.attribute("value", .transformable)
        attribute.valueTransformerName = transformer
        return attribute
    }

    @Test func aTransformerOfTheApplicationMakesTheData() throws {
        ValueTransformer.setValueTransformer(UTF8Transformer(), forName: NSValueTransformerName("UTF8Transformer"))
        let coder = try TransformableCoder(attribute("UTF8Transformer"))
        #expect(try coder.data(of: "abc") == Data("abc".utf8))
        #expect(try coder.value(in: Data("abc".utf8)) as? String == "abc")
        #expect(throws: TransformableCoder.Failure.self) { try coder.data(of: 5) }
    }

    @Test(arguments: ["NSSecureUnarchiveFromData", "NSKeyedUnarchiveFromData", nil])
    func unarchivingIsUsedInReverse(name: String?) throws {
        let coder = try TransformableCoder(attribute(name))
        let data = try coder.data(of: ["a", "b"])
        #expect(data.starts(with: Data("bplist".utf8)))
        #expect(try coder.value(in: data) as? [String] == ["a", "b"])
        #expect(throws: TransformableCoder.Failure.self) { try coder.value(in: Data([1, 2, 3])) }
        #expect(throws: TransformableCoder.Failure.self) { try coder.data(of: NotArchivable()) }
        #expect(throws: TransformableCoder.Failure.self) { try coder.data(of: ["a": [NotArchivable()]]) }
    }

    @Test func aTransformerThatIsNotRegisteredIsToldAbout() {
        let failure = #expect(throws: TransformableCoder.Failure.self) {
            _ = try TransformableCoder(attribute("Missing"))
        }
        #expect(failure?.description.contains("'Missing'") == true)
    }
}
