import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Converts an attribute's value between the forms of programs and of the engine.
package enum AttributeValueConversion {
    /// Returns the value as an attribute of that type stores it; `nil` if the object does not fit the type.
    ///
    ///     value(of: 5, as: .integer64)               // .integer(5)
    ///     value(of: NSNumber(value: true), as: .boolean)   // .integer(1)
    ///     value(of: "5", as: .integer64)             // nil
    package static func value(of object: Any?, as type: CoreDataModel.AttributeType) -> Value? {
        guard let object, !(object is NSNull) else { return .null }
        switch type.kind {
        case .composite: return object is [String: Any] ? .opaque(box(object)) : nil
        case .object, .reference: return .opaque(box(object))
        // With its full width, so that a default of 0.1 is the 0.1 that a model file contains.
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
        // Safe because the closure only compares, and the engine compares values that do not change any more.
        nonisolated(unsafe) let object = object
        return OpaqueValue(object) { other in ContentEquality.areEqual(object, other.object) }
    }
}

extension NSAttributeDescription {
    /// Whether `setValue(_:forKey:)` takes the value, which stops the program at others.
    package final func accepts(_ value: Any) -> Bool {
        let kind = attributeType.compiled.kind
        return kind == .composite || ManagedObjectValues.acceptedValue(value, kind) != nil
    }
}
