import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Transformable attributes at the store's boundary: object to bytes and back.
enum Transformation {
    /// Returns the object that the bytes represent. If no transformer can read them, returns the bytes themselves, so
    /// that they do not count as nil: users get them unless ``failure(of:attribute:)`` returns an error.
    static func value(from data: Data, attribute slot: EntityRuntime.Slot) -> Value {
        let object: Any? =
            switch transformer(slot) {
            case nil: SecureArchive.object(from: data)
            // One that unarchives makes objects of data, others make data of objects.
            case let unarchiving as NSSecureUnarchiveFromDataTransformer: unarchiving.transformedValue(data)
            case let transformer?: transformer.reverseTransformedValue(data)
            }
        return object.map { .opaque(box($0)) } ?? .data(data)
    }

    /// Returns an error if the bytes should be readable but are not: they are an archive, or belong to a transformer.
    /// Users then read nil. Returns `nil` for bytes that other code may read, such as those of a `Codable` property.
    static func failure(of data: Data, attribute slot: EntityRuntime.Slot) -> (any Error)? {
        let reason: String
        switch transformer(slot) {
        case nil where !data.starts(with: "bplist".utf8): return nil
        case nil, is NSSecureUnarchiveFromDataTransformer:
            reason = "are no archive of an object that the attribute can have and the program knows"
        case _?:
            reason = "cannot be made a value by the transformer '\(slot.attribute?.valueTransformerName ?? "")'"
        }
        return CocoaError(
            .coderReadCorrupt, userInfo: [NSLocalizedDescriptionKey: "its \(data.count) bytes \(reason)"])
    }

    static func data(from box: OpaqueValue, attribute slot: EntityRuntime.Slot, of entity: EntityRuntime) throws -> Data
    {
        let transformer = transformer(slot)
        let data: Any? =
            switch transformer {
            case nil: SecureArchive.data(of: box.object, requiringSecureCoding: false)
            case let unarchiving as NSSecureUnarchiveFromDataTransformer:
                unarchiving.reverseTransformedValue(box.object)
            case let transformer?: transformer.transformedValue(box.object)
            }
        guard let data = data as? Data else {
            throw CoreDataErrors.notTransformable(slot, of: entity, by: transformer, type: className(of: box.object))
        }
        return data
    }

    /// The name by which a transformer lists the class: `NSDate` for a `Date`. Values that Foundation has no class for
    /// keep their type's name.
    private static func className(of object: Any) -> String {
        let name = String(describing: type(of: object as AnyObject))
        return name == "__SwiftValue" ? String(describing: type(of: object)) : name
    }

    static func box(_ object: Any) -> OpaqueValue {
        guard let comparable = object as? NSObject else {
            guard let hashable = object as? AnyHashable else { return OpaqueValue(object) }
            nonisolated(unsafe) let compared = hashable  // Safe because comparing does not change it.
            return OpaqueValue(object) { compared == $0.object as? AnyHashable }
        }
        nonisolated(unsafe) let compared = comparable  // Safe because comparing does not change it.
        return OpaqueValue(object) { compared.isEqual($0.object) }
    }

    private static func transformer(_ slot: EntityRuntime.Slot) -> ValueTransformer? {
        guard let name = slot.attribute?.valueTransformerName, !name.isEmpty else { return nil }
        return ValueTransformer(forName: NSValueTransformerName(name))
    }
}
