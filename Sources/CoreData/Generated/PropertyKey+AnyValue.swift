import Foundation

// Types of properties that no attribute type has: what a transformer makes, Foundation's classes, enumerations.

extension NSManagedObject {
    /// The property's value where its type is that of a transformed value or one of Foundation's classes.
    ///
    ///     private static let colourKey = PropertyKey<Colour?>("colour")
    ///     var colour: Colour? { get { self[Self.colourKey] } set { self[Self.colourKey] = newValue } }
    ///
    /// - Precondition: the value is of that type.
    @_disfavoredOverload
    public final subscript<Value>(key: PropertyKey<Value>) -> Value {
        get { key.value(of: anyValue(key.slot(in: self)), in: self) }
        set { setAnyValue(newValue, key.slot(in: self)) }
    }

    /// The value of an attribute that holds the raw values of an enumeration.
    ///
    /// - Precondition: the stored value is one of the enumeration's.
    @_disfavoredOverload
    public final subscript<Value: RawRepresentable>(key: PropertyKey<Value>) -> Value
    where Value.RawValue: ManagedPropertyValue {
        get {
            let raw = Value.RawValue._read(self, key.slot(in: self))
            guard let value = Value(rawValue: raw) else {
                preconditionFailure("Property '\(key.name)' of \(objectID) holds \(raw), which is no \(Value.self).")
            }
            return value
        }
        set { Value.RawValue._write(newValue.rawValue, self, key.slot(in: self)) }
    }

    /// The value as it lies in the object: what a property named `primitiveTitle` reads and writes.
    ///
    /// Writing neither marks the object as changed nor touches an inverse (C2).
    ///
    /// - Precondition: the value is of that type.
    public final subscript<Value>(primitive key: PropertyKey<Value>) -> Value {
        get { key.value(of: primitiveValue(forKey: key.name), in: self) }
        set { setPrimitiveValue(newValue, forKey: key.name) }
    }
}

extension PropertyKey {
    /// A value that is of any type, as the property's type. A number that is nil is 0 (C8).
    fileprivate final func value(of any: Any?, in object: NSManagedObject) -> Value {
        if let value = any as? Value { return value }
        if any == nil, let number = Value.self as? any Numeric.Type, let zero = number.zero as? Value { return zero }
        if any == nil, let value = false as? Value { return value }
        let found = any.map { "\(type(of: $0))" } ?? "nil"
        preconditionFailure("Property '\(name)' of \(object.objectID) is \(found), not \(Value.self).")
    }
}

extension Numeric {
    fileprivate static var zero: Self { 0 }
}
