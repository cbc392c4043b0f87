import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Transformable attributes at the store's boundary: object to bytes and back (U5).
enum Transformation {
    /// The object that the bytes stand for; the bytes themselves where no transformer can read them.
    static func value(from data: Data, attribute slot: EntityRuntime.Slot) -> Value {
        if let transformer = transformer(slot) {
            // As on Apple's platforms: secure unarchiving reverses, others transform back.
            guard let object = transformer.reverseTransformedValue(data) else { return .data(data) }
            return .opaque(box(object))
        }
        guard let object = SecureArchive.object(from: data) else { return .data(data) }
        return .opaque(box(object))
    }

    static func data(from box: OpaqueValue, attribute slot: EntityRuntime.Slot) throws -> Data {
        if let transformer = transformer(slot) {
            if let data = transformer.transformedValue(box.object) as? Data { return data }
            throw CoreDataErrors.notTransformable(
                property: slot.name, transformer: slot.attribute?.valueTransformerName ?? "",
                type: String(describing: type(of: box.object)))
        }
        if let data = SecureArchive.data(of: box.object, requiringSecureCoding: false) { return data }
        throw CoreDataErrors.notTransformable(
            property: slot.name, transformer: "NSKeyedArchiver", type: String(describing: type(of: box.object)))
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
