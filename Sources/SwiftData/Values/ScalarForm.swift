import CoreData
import Foundation

/// How the values of a Swift type are kept in one column.
struct ScalarForm: @unchecked Sendable {
    // Safe because the closures capture nothing that changes.
    let type: NSAttributeType
    let samples: [Any]
    /// What the managed object takes; `nil` for a value of another type.
    let encode: (Any) -> Any?
    /// The Swift value; `nil` for a stored value of another type.
    let decode: (Any) -> Any?
    /// Whether keyed archives of Apple's have values of the type.
    let isArchivable: Bool

    private init<Value>(
        _ type: NSAttributeType, _ samples: [Value], isArchivable: Bool = true,
        encode: @escaping (Value) -> Any, decode: @escaping (Any) -> Value?
    ) {
        self.type = type
        self.samples = samples
        self.encode = { ($0 as? Value).map(encode) }
        self.decode = { decode($0) }
        self.isArchivable = isArchivable
    }

    /// Integers as their own bits: unsigned ones beyond `Int64.max` are stored as negative numbers and read back as
    /// they were.
    private static func integer<Value: FixedWidthInteger & Sendable>(
        _ type: NSAttributeType, _: Value.Type
    ) -> ScalarForm {
        ScalarForm(
            type, [0, 1] as [Value], encode: { NSNumber(value: Int64(truncatingIfNeeded: $0)) },
            decode: { ($0 as? NSNumber).map { Value(truncatingIfNeeded: $0.int64Value) } })
    }

    private static func plain<Value: Sendable>(
        _ type: NSAttributeType, _ samples: [Value], isArchivable: Bool = true
    ) -> ScalarForm {
        ScalarForm(type, samples, isArchivable: isArchivable, encode: { $0 }, decode: { $0 as? Value })
    }

    /// The form of a type; `nil` for a type that no column has.
    static func of(_ type: Any.Type) -> ScalarForm? { forms[ObjectIdentifier(type)] }

    private static let forms: [ObjectIdentifier: ScalarForm] = [
        ObjectIdentifier(Int.self): integer(.integer64AttributeType, Int.self),
        ObjectIdentifier(Int64.self): integer(.integer64AttributeType, Int64.self),
        ObjectIdentifier(Int32.self): integer(.integer32AttributeType, Int32.self),
        ObjectIdentifier(Int16.self): integer(.integer16AttributeType, Int16.self),
        ObjectIdentifier(Int8.self): integer(.integer16AttributeType, Int8.self),
        ObjectIdentifier(UInt.self): integer(.integer64AttributeType, UInt.self),
        ObjectIdentifier(UInt64.self): integer(.integer64AttributeType, UInt64.self),
        ObjectIdentifier(UInt32.self): integer(.integer64AttributeType, UInt32.self),
        ObjectIdentifier(UInt16.self): integer(.integer32AttributeType, UInt16.self),
        ObjectIdentifier(UInt8.self): integer(.integer16AttributeType, UInt8.self),
        ObjectIdentifier(Bool.self): ScalarForm(
            .booleanAttributeType, [false, true], encode: { NSNumber(value: $0) },
            decode: { ($0 as? NSNumber)?.boolValue }),
        ObjectIdentifier(Double.self): ScalarForm(
            .doubleAttributeType, [0, 1] as [Double], encode: { NSNumber(value: $0) },
            decode: { ($0 as? NSNumber)?.doubleValue }),
        ObjectIdentifier(Float.self): ScalarForm(
            .floatAttributeType, [0, 1] as [Float], encode: { NSNumber(value: $0) },
            decode: { ($0 as? NSNumber)?.floatValue }),
        ObjectIdentifier(CGFloat.self): ScalarForm(
            .doubleAttributeType, [0, 1] as [CGFloat], encode: { NSNumber(value: Double($0)) },
            decode: { ($0 as? NSNumber).map { CGFloat($0.doubleValue) } }),
        ObjectIdentifier(String.self): plain(.stringAttributeType, ["", "\u{E000}SwiftData"]),
        ObjectIdentifier(Date.self): plain(
            .dateAttributeType,
            [Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: 1)]),
        ObjectIdentifier(Data.self): plain(.binaryDataAttributeType, [Data(), Data([1])]),
        ObjectIdentifier(UUID.self): plain(
            .UUIDAttributeType,
            [
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
                UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
            ]),
        ObjectIdentifier(URL.self): plain(
            .URIAttributeType, [URL(fileURLWithPath: "/"), URL(fileURLWithPath: "/1")]),
        // Not archivable: Foundation's archiver cannot take decimal numbers here.
        ObjectIdentifier(Decimal.self): ScalarForm(
            .decimalAttributeType, [0, 1] as [Decimal], isArchivable: false, encode: { NSDecimalNumber(decimal: $0) },
            decode: { $0 as? Decimal ?? ($0 as? NSNumber)?.decimalValue }),
    ]
}
