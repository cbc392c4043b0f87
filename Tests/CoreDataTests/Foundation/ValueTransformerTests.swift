import CoreData
import Foundation
import Testing

private final class ReversingTransformer: ValueTransformer {
    override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { String($0.reversed()) } }
}

private final class StringsOnlyTransformer: NSSecureUnarchiveFromDataTransformer {
    override class var allowedTopLevelClasses: [AnyClass] { [NSString.self] }
}

final class Stranger: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }

    override init() {}

    init?(coder: NSCoder) {}

    func encode(with coder: NSCoder) {}
}

@Suite struct ValueTransformerTests {
    @Test func aRegisteredTransformerIsFoundByName() throws {
        let name = NSValueTransformerName("ReversingTransformer")
        #expect(ValueTransformer(forName: name) == nil)
        let transformer = ReversingTransformer()
        ValueTransformer.setValueTransformer(transformer, forName: name)
        #expect(ValueTransformer(forName: name) === transformer)
        #expect(ValueTransformer(forName: name)?.transformedValue("abc") as? String == "cba")
        #expect(ValueTransformer(forName: name)?.reverseTransformedValue("cba") as? String == "abc")
        #expect(ValueTransformer.valueTransformerNames().contains(name))
        ValueTransformer.setValueTransformer(nil, forName: name)
        #expect(ValueTransformer(forName: name) == nil)
    }

    /// api.md §9
    @Test(arguments: [
        "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSKeyedUnarchiveFromData",
        "NSUnarchiveFromData",
    ])
    func archivingTransformersAreThere(name: String) throws {
        let transformer = try #require(ValueTransformer(forName: NSValueTransformerName(rawValue: name)))
        let data = try #require(transformer.reverseTransformedValue(["a": [1, 2]]) as? Data)
        let value = try #require(transformer.transformedValue(data) as? [String: [Int]])
        #expect(value == ["a": [1, 2]])
        #expect(transformer.transformedValue(nil) == nil && transformer.reverseTransformedValue(nil) == nil)
        #expect(transformer.transformedValue(Data([1, 2, 3])) == nil)
    }

    @Test func onlyAllowedClassesComeThrough() throws {
        let transformer = StringsOnlyTransformer()
        let text = try #require(transformer.reverseTransformedValue("text"))
        #expect(transformer.transformedValue(text) as? String == "text")
        for stranger in [Date(), ["text"], 5] as [Any] {
            #expect(transformer.reverseTransformedValue(stranger) == nil)
            let data = try #require(NSSecureUnarchiveFromDataTransformer().reverseTransformedValue(stranger))
            #expect(transformer.transformedValue(data) == nil)
        }
        // Nor inside of what is allowed.
        #expect(NSSecureUnarchiveFromDataTransformer().reverseTransformedValue(["a", Stranger()]) == nil)
    }

    /// Foundation stops the program here.
    @Test func aClassInsideACollectionIsRefusedToo() throws {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: [NSString("a"), Stranger(), NSDate()]), requiringSecureCoding: true)
        #expect(NSSecureUnarchiveFromDataTransformer().transformedValue(data) == nil)
    }

    @Test func booleansAndNilAreTested() {
        #expect(ValueTransformer(forName: .negateBooleanTransformerName)?.transformedValue(true) as? Bool == false)
        #expect(ValueTransformer(forName: .isNilTransformerName)?.transformedValue(nil) as? Bool == true)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue(nil) as? Bool == false)
        #expect(ValueTransformer(forName: .isNotNilTransformerName)?.transformedValue("x") as? Bool == true)
    }

    @Test func aPointerIsMadeOfAVariable() {
        func capitalize(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) {
            if let text = value.pointee as? String { value.pointee = NSString(string: text.uppercased()) }
        }
        var value: AnyObject? = NSString("oslo")
        capitalize(&value)
        #expect(value as? String == "OSLO")
    }

    @Test func kindsAndVersionsHaveApplesValues() {
        #expect(NSKeyValueSetMutationKind.union.rawValue == 1 && NSKeyValueSetMutationKind.set.rawValue == 4)
        #expect(NSCoreDataVersionNumber10_4 == 46 && NSCoreDataVersionNumber_iPhoneOS_9_3 == 641.6)
        #expect(NSCoreDataVersionNumber > NSCoreDataVersionNumber10_11_3)
    }
}
