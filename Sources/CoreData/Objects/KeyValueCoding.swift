import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The values that key-value coding of managed objects accepts for relationships, and its messages for keys and values
/// that it refuses.
enum KeyValueCoding {
    static func unknownKeyMessage(_ key: String, of runtime: EntityRuntime) -> String {
        "[<\(runtime.compiled.className ?? "NSManagedObject")>]: the entity \(runtime.name) is not key value "
            + "coding-compliant for the key \"\(key)\"; it has: "
            + runtime.slots.map(\.name).sorted().joined(separator: ", ")
    }

    /// The same for an object, with how a property of its class gets a key.
    static func unknownKeyMessage(_ key: String, of object: NSManagedObject) -> String {
        let type = type(of: object)
        let message = unknownKeyMessage(key, of: object.runtime)
        if type == NSManagedObject.self { return message }
        return message + ". Properties of class \(type) itself have keys where the target has NSManagedPlugin or "
            + "CoreDataPortPlugin, private ones excepted; or override value(forUndefinedKey:)."
    }

    /// Says that `NSNull` is no value of a property.
    static func nullMessage(_ slot: EntityRuntime.Slot, of entity: EntityRuntime) -> String {
        let (what, type) =
            if slot.relationship == nil {
                ("attribute", slot.kind == .composite ? "NSDictionary" : ManagedObjectValues.className(slot))
            } else if slot.isToMany {
                ("to-many relationship", "a collection of \"\(slot.destinationName)\"")
            } else {
                ("to-one relationship", "\"\(slot.destinationName)\"")
            }
        return """
            Unacceptable type of value for \(what): property = "\(slot.name)"; entity = "\(entity.name)"; desired type = \
            \(type); given type = NSNull. Set nil for no value; setValuesForKeys(_:) takes NSNull for nil.
            """
    }

    /// The destination of a to-one that a caller set; of another type it stops the program.
    static func member(_ value: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime) -> NSManagedObject? {
        guard let value, !(value is NSNull) else { return nil }
        if let object = value as? NSManagedObject { return object }
        if (value as? any OptionalValue)?.isNil == true { return nil }
        preconditionFailure(
            """
            Unacceptable type of value for to-one relationship: property = "\(slot.name)"; entity = \
            "\(entity.name)"; desired type = "\(slot.destinationName)"; given type = \(type(of: value)).
            """)
    }

    /// The members of a to-many that a caller set; nil is none.
    static func members(
        of value: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime
    ) -> [NSManagedObject] {
        guard let value, !(value is NSNull) else { return [] }
        let elements: [Any]? =
            switch value {
            case let set as NSOrderedSet: set.array
            case let set as NSSet: set.allObjects
            case let array as [Any]: array
            case let set as Set<NSManagedObject>: Array(set)
            default: nil
            }
        if let objects = elements as? [NSManagedObject] { return objects }
        if (value as? any OptionalValue)?.isNil == true { return [] }
        preconditionFailure(
            """
            Unacceptable type of value for to-many relationship: property = "\(slot.name)"; entity = \
            "\(entity.name)"; desired type = a collection of "\(slot.destinationName)"; given type = \
            \(type(of: value)).
            """)
    }
}
