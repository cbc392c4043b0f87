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
        switch type.kind {
        case .composite: return object is [String: Any] ? .opaque(box(object)) : nil
        case .object, .reference: return .opaque(box(object))
        // As wide as it is given, so that a default of 0.1 is the 0.1 that a model file says.
        case .single: return ManagedObjectValues.acceptedValue(object, .real)
        default: return ManagedObjectValues.acceptedValue(object, type.kind)
        }
    }

    /// What programs get for a stored value: `NSNumber` for numbers, Foundation's value types for the rest.
    ///
    /// Numbers are `NSNumber` because that casts to every Swift number type, as on Apple's platforms.
    package static func object(for value: Value, as type: CoreDataModel.AttributeType) -> Any? {
        ManagedObjectValues.any(value, type.kind)
    }

    /// A box that equals another one when the objects in both are equal.
    private static func box(_ object: Any) -> OpaqueValue {
        // Safe because the closure only compares, and the engine compares what nobody changes any more.
        nonisolated(unsafe) let object = object
        return OpaqueValue(object) { other in ContentEquality.areEqual(object, other.object) }
    }
}
