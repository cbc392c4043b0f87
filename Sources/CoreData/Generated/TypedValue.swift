import CoreDataModel
import CoreDataPrimitives
import Foundation

// Properties of types that are no attribute type themselves: enumerations by their raw value, collections and other
// transformable values by what key-value coding gives.

extension NSManagedObject {
    /// An enumeration, or another type with a raw value that an attribute can hold.
    ///
    ///     enum Mood: Int16 { case calm, merry }
    ///     @NSManaged var mood: Mood              // an Integer 16 attribute; nil reads as the case of 0
    ///
    /// - Precondition: the stored raw value is one of the type's.
    @_disfavoredOverload
    public final subscript<Value: RawRepresentable>(key: PropertyKey<Value>) -> Value
    where Value.RawValue: ManagedPropertyValue {
        get {
            let slot = key.slot(in: self)
            return Value(rawValue: Value.RawValue._read(self, slot)) ?? TypedValue.missing(slot, of: self)
        }
        set { Value.RawValue._write(newValue.rawValue, self, key.slot(in: self)) }
    }

    /// An enumeration or nil; also nil if the stored raw value is not a case of the type.
    @_disfavoredOverload
    public final subscript<Value: RawRepresentable>(key: PropertyKey<Value?>) -> Value?
    where Value.RawValue: ManagedAttributeValue {
        get { Value.RawValue._readOptional(self, key.slot(in: self)).flatMap { Value(rawValue: $0) } }
        set { Value.RawValue._writeOptional(newValue?.rawValue, self, key.slot(in: self)) }
    }

    /// A transformable value: arrays, dictionaries, objects with coding, `Codable` values.
    ///
    /// A `Codable` value is stored as JSON if neither a transformer nor an archive accepts it.
    ///
    /// - Precondition: the stored value is of the property's type; nil only if the type is optional or has an empty
    ///   value.
    @_disfavoredOverload
    public final subscript<Value>(key: PropertyKey<Value>) -> Value {
        get {
            let slot = key.slot(in: self)
            return TypedValue.value(anyValue(slot)) ?? liveMembers(slot) as? Value ?? TypedValue.missing(slot, of: self)
        }
        set {
            let slot = key.slot(in: self)
            setAnyValue(TypedValue.any(newValue, runtime.slots[slot]), slot)
        }
    }

    /// The primitive value: the object's stored value, without firing a fault, recording a change or updating the
    /// inverse.
    ///
    ///     @NSManaged var primitiveTitle: String?      // of the property `title`
    public final subscript<Value: ManagedPropertyValue>(primitive key: PropertyKey<Value>) -> Value {
        get {
            let slot = key.slot(in: self)
            if !isFault { return Value._read(self, slot) }
            return TypedValue.value(nil) ?? TypedValue.missing(slot, of: self)
        }
        set {
            setPrimitiveValue(TypedValue.any(newValue, runtime.slots[key.slot(in: self)]), forKey: key.name)
        }
    }

    /// The primitive value of an enumeration or transformable value.
    @_disfavoredOverload
    public final subscript<Value>(primitive key: PropertyKey<Value>) -> Value {
        get {
            TypedValue.value(primitiveValue(forKey: key.name)) ?? TypedValue.missing(key.slot(in: self), of: self)
        }
        set {
            setPrimitiveValue(TypedValue.any(newValue, runtime.slots[key.slot(in: self)]), forKey: key.name)
        }
    }
}

/// Between a property's type and what key-value coding gives and takes.
enum TypedValue {
    /// Returns the value as that type; `nil` if it is of another type. Nil becomes the type's empty value.
    static func value<Value>(_ any: Any?, as type: Value.Type = Value.self) -> Value? {
        guard let any else { return empty(type) }
        if let value = any as? Value { return value }
        if let set = any as? NSOrderedSet, let value = set.array as? Value { return value }
        if let wrapping = type as? any WrappingValue.Type {
            return wrapping.wrapping(any) as? Value ?? empty(type)
        }
        if let raw = type as? any RawRepresentable.Type { return make(raw, any) as? Value }
        if let data = any as? Data, let decodable = type as? any Decodable.Type {
            return (try? JSONDecoder().decode(decodable, from: data)) as? Value
        }
        return nil
    }

    /// What key-value coding takes for the value.
    static func any<Value>(_ value: Value, _ slot: EntityRuntime.Slot) -> Any? {
        if let optional = value as? any OptionalValue { return optional.unwrapped.flatMap { any(opened: $0, slot) } }
        return any(opened: value, slot)
    }

    private static func any(opened value: Any, _ slot: EntityRuntime.Slot) -> Any? {
        guard let attribute = slot.attribute else { return value }
        if slot.type != .transformable, slot.kind != .bytes {
            return (value as? any RawRepresentable)?.rawValue ?? value
        }
        let isRaw = slot.type == .binaryData && !(value is Data)
        let isPlain = attribute.valueTransformerName?.isEmpty ?? true
        guard isRaw || isPlain && isArchivable(value) == false, let codable = value as? any Encodable,
            let data = try? JSONEncoder().encode(codable)
        else { return value }
        return data
    }

    private static func isArchivable(_ value: Any) -> Bool {
        let object = value as AnyObject
        return object is NSCoding || object is NSArray || object is NSDictionary || object is NSSet
    }

    /// Stops the program: the value is nil or of another type, and the property's type has no value for that.
    static func missing<Value>(_ slot: Int, of object: NSManagedObject) -> Value {
        if object.runtime === KeyPathProbe.runtime, let value: Value = placeholder() { return value }
        preconditionFailure(
            """
            Property '\(object.runtime.slots[slot].name)' of \(object.objectID) holds no \(Value.self); \
            declare it as optional.
            """)
    }

    /// What nil reads as.
    static func empty<Value>(_ type: Value.Type) -> Value? {
        switch type {
        case let optional as any ExpressibleByNilLiteral.Type: none(optional) as? Value
        case let attribute as any ManagedAttributeValue.Type: attribute._empty as? Value
        case let raw as any RawRepresentable.Type: make(raw, 0) as? Value
        case let collection as any RangeReplaceableCollection.Type: collection.init() as? Value
        case let collection as any SetAlgebra.Type: collection.init() as? Value
        case let dictionary as any ExpressibleByDictionaryLiteral.Type: emptyDictionary(dictionary) as? Value
        default: nil
        }
    }

    /// Returns an arbitrary value of the type, which is never read.
    private static func placeholder<Value>() -> Value? {
        if let value = empty(Value.self) { return value }
        if let cases = Value.self as? any CaseIterable.Type { return first(cases) as? Value }
        // Zero is a value of every enumeration without associated values that has a case at all.
        guard _isPOD(Value.self), MemoryLayout<Value>.size > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: Value.self, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }

    private static func none<Value: ExpressibleByNilLiteral>(_ type: Value.Type) -> Value { nil }

    private static func first<Value: CaseIterable>(_ type: Value.Type) -> Value? { type.allCases.first }

    private static func emptyDictionary<Value: ExpressibleByDictionaryLiteral>(_ type: Value.Type) -> Value { [:] }

    private static func make<Value: RawRepresentable>(_ type: Value.Type, _ any: Any) -> Value? {
        ((any as? Value.RawValue) ?? ((any as? NSNumber) as? Value.RawValue)).flatMap { Value(rawValue: $0) }
    }
}

/// Optional, which makes its value of what key-value coding gives.
private protocol WrappingValue {
    static func wrapping(_ any: Any) -> Any?
}

extension Optional: WrappingValue {
    static func wrapping(_ any: Any) -> Any? { TypedValue.value(any, as: Wrapped.self) }
}
