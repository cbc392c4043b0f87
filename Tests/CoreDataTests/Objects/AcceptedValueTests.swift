import CoreDataModel
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

/// What an attribute takes, by its type and what it is given: the one answer for setting a value, for batch requests, for the
/// stores of a program's own class and for migrations.
@Suite struct AcceptedValueTests {
    private static let uuid = UUID()

    /// What is given, by its name.
    private static var given: [(name: String, value: Any)] {
        [
            ("Int", 5), ("Int16", Int16(5)), ("UInt8", UInt8(5)), ("Double", 2.5), ("Float", Float(2.5)),
            ("CGFloat", CGFloat(2.5)), ("Bool", true), ("NSNumber", NSNumber(value: 5)), ("Decimal", Decimal(5)),
            ("NSDecimalNumber", NSDecimalNumber(value: 5)), ("String", "a"), ("NSString", NSString("a")),
            ("Date", Date(timeIntervalSinceReferenceDate: 8)), ("Data", Data([1])), ("NSData", NSData(data: Data([1]))),
            ("UUID", uuid), ("NSUUID", NSUUID(uuidString: uuid.uuidString) ?? NSUUID()),
            ("URL", URL(fileURLWithPath: "/a")), ("NSNull", NSNull()), ("nil", Int?.none as Any), ("array", ["a"]),
        ]
    }

    /// The given values that a type takes, beside no value; of the others it takes none.
    private static let accepted: [(type: AttributeType, names: Set<String>)] = {
        let numbers: Set<String> = [
            "Int", "Int16", "UInt8", "Double", "Float", "CGFloat", "Bool", "NSNumber", "Decimal", "NSDecimalNumber",
        ]
        return [
            (.integer16, numbers), (.integer32, numbers), (.integer64, numbers), (.boolean, numbers),
            (.double, numbers), (.float, numbers), (.decimal, numbers), (.string, ["String", "NSString"]),
            (.date, ["Date"]), (.binaryData, ["Data", "NSData"]), (.uuid, ["UUID", "NSUUID"]), (.uri, ["URL"]),
            (.objectID, []), (.transformable, Set(given.map(\.name))), (.undefined, Set(given.map(\.name))),
        ]
    }()

    @Test(arguments: accepted.map(\.type))
    func isTakenOrNot(_ type: AttributeType) throws {
        let names = try #require(Self.accepted.first { $0.type == type }).names
        for (name, value) in Self.given {
            let result = ManagedObjectValues.acceptedValue(value, type.kind)
            if name == "NSNull" || name == "nil" {
                #expect(result == .null, "\(type) given \(name)")
            } else {
                #expect((result != nil) == names.contains(name), "\(type) given \(name)")
                #expect(result != .null, "\(type) given \(name)")
            }
        }
    }

    @Test(
        "what is given is converted",
        arguments: [
            (AttributeType.integer16, 2.5 as Double, Value.integer(2)), (.boolean, 2.5, .integer(1)),
            (.double, 0.1, .double(0.1)), (.float, 0.1, .double(Double(Float(0.1)))), (.decimal, 2.5, .decimal(2.5)),
        ])
    func numbersAreConverted(type: AttributeType, number: Double, value: Value) {
        #expect(ManagedObjectValues.acceptedValue(number, type.kind) == value)
        #expect(ManagedObjectValues.acceptedValue(NSNumber(value: number), type.kind) == value)
        #expect(ManagedObjectValues.acceptedValue(CGFloat(number), type.kind) == value)
    }
}
