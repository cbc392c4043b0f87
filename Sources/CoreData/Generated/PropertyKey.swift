import Foundation
import Synchronization

/// A property by name, that remembers where objects keep it: what accessors use instead of a dictionary.
///
/// Make one for each property, once, and read and write through the object's subscript:
///
///     final class Item: NSManagedObject {
///         private static let nameKey = PropertyKey<String?>("name")
///         private static let quantityKey = PropertyKey<Float>("quantity")
///         private static let unitKey = PropertyKey<Unit?>("unit")
///         var name: String? { get { self[Self.nameKey] } set { self[Self.nameKey] = newValue } }
///         var quantity: Float { get { self[Self.quantityKey] } set { self[Self.quantityKey] = newValue } }
///         var unit: Unit? { get { self[Self.unitKey] } set { self[Self.unitKey] = newValue } }
///     }
///
/// Reading fires a fault; writing marks the object as changed and keeps the inverse in step. A scalar that is nil
/// reads as 0. A few nanoseconds beside the value itself: one comparison finds the place.
public final class PropertyKey<Value>: Sendable {
    /// The property's name in the model.
    public let name: String
    /// The entity's identifier in the upper half, the slot in the lower: of the entity met last.
    private let cache = Atomic<UInt64>(0)

    /// The key of the property of that name.
    public init(_ name: String) { self.name = name }

    /// Where objects of that object's entity keep the property.
    ///
    /// - Precondition: the entity has it.
    @usableFromInline
    final func slot(in object: NSManagedObject) -> Int {
        let cached = cache.load(ordering: .relaxed)
        if cached >> 32 == UInt64(object.home.runtimeIdentifier) { return Int(cached & 0xFFFF_FFFF) }
        let runtime = object.runtime
        guard let slot = runtime.slot(forKey: name) else {
            if let slot = KeyPathProbe.slot(of: self, in: object) { return slot }
            preconditionFailure(KeyValueCoding.unknownKeyMessage(name, of: runtime))
        }
        cache.store(UInt64(runtime.identifier) << 32 | UInt64(slot), ordering: .relaxed)
        return slot
    }
}

/// A type that an accessor can have: every attribute type, optional or not, objects, and collections of objects.
public protocol ManagedPropertyValue {
    static func _read(_ object: NSManagedObject, _ slot: Int) -> Self
    static func _write(_ value: Self, _ object: NSManagedObject, _ slot: Int)
}

extension NSManagedObject {
    /// The property's value, as an accessor reads and writes it.
    ///
    /// Inlined, so that an accessor calls its type's way of reading directly and not as a generic function.
    @inlinable
    public final subscript<Value: ManagedPropertyValue>(key: PropertyKey<Value>) -> Value {
        get { Value._read(self, key.slot(in: self)) }
        set { Value._write(newValue, self, key.slot(in: self)) }
    }
}
