import CoreDataModel
import CoreDataPrimitives
import Foundation

/// An attribute's value between what programs hold and what the engine holds.
package enum AttributeValueConversion {
    /// The value as an attribute of that type stores it; `nil` where the object does not fit the type.
    ///
    ///     value(of: 5, as: .integer64)               // .integer(5)
    ///     value(of: NSNumber(value: true), as: .boolean)   // .integer(1)
    ///     value(of: "5", as: .integer64)             // nil
    package static func value(of object: Any?, as type: CoreDataModel.AttributeType) -> Value? {
        guard let object, !(object is NSNull) else { return .null }
        switch type {
        case .integer16, .integer32, .integer64: return integer(object).map { .integer($0) }
        case .boolean: return integer(object).map { .integer($0 == 0 ? 0 : 1) }
        case .double, .float: return number(object).map { .double($0.doubleValue) }
        case .decimal: return decimal(object).map { .decimal($0) }
        case .string: return (object as? String).map { .string($0) }
        case .date: return (object as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        case .binaryData: return (object as? Data).map { .data($0) }
        case .uuid: return (object as? UUID).map { .uuid($0) }
        case .uri: return (object as? URL).map { .uri($0.absoluteString) }
        case .composite: return object is [String: Any] ? .opaque(box(object)) : nil
        case .undefined, .transformable, .objectID: return .opaque(box(object))
        }
    }

    /// What programs get for a stored value: `NSNumber` for numbers, Foundation's value types for the rest.
    ///
    /// Numbers are `NSNumber` because that casts to every Swift number type, as on Apple's platforms.
    package static func object(for value: Value, as type: CoreDataModel.AttributeType) -> Any? {
        switch value {
        case .null: nil
        case .integer(let value): type == .boolean ? NSNumber(value: value != 0) : NSNumber(value: value)
        case .double(let value): type == .float ? NSNumber(value: Float(value)) : NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .string(let value): value
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let value): URL(string: value)
        case .opaque(let value): value.object
        }
    }

    /// `CGFloat` is no `NSNumber` on this platform.
    private static func number(_ object: Any) -> NSNumber? {
        object as? NSNumber ?? (object as? CGFloat).map { NSNumber(value: Double($0)) }
    }

    private static func integer(_ object: Any) -> Int64? {
        switch object {
        case let value as Int: Int64(value)
        case let value as Int64: value
        case let value as Bool: value ? 1 : 0
        default: number(object)?.int64Value
        }
    }

    private static func decimal(_ object: Any) -> Decimal? {
        switch object {
        case let value as Decimal: value
        case let value as NSDecimalNumber: value.decimalValue
        default: number(object)?.decimalValue
        }
    }

    /// A box that equals another one when the objects in both are equal.
    private static func box(_ object: Any) -> OpaqueValue {
        // Safe because the closure only compares, and the engine compares what nobody changes any more.
        nonisolated(unsafe) let object = object
        return OpaqueValue(object) { other in ContentEquality.areEqual(object, other.object) }
    }
}
