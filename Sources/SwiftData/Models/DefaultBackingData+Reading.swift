import CoreData
import Foundation

// What getters call.
//
// Those of attributes count no reference: the model holds its object, and a save that replaces the object runs no
// getter of the model. They change nothing. They are `mutating` so that a getter passes the place of the backing data,
// and not a copy, whose references it would count.
extension DefaultBackingData {
    /// The object, not retained.
    @inlinable var uncounted: Unmanaged<ModelObject>? { object.map { .passUnretained($0) } }

    /// Returns the value of an attribute whose type the engine reads directly: no dictionary, no `Any`.
    @inlinable
    public mutating func _read<V: ManagedPropertyValue>(_ key: _ModelKey, _ index: Int) -> V {
        if let uncounted {
            let slot = uncounted._withUnsafeGuaranteedRef { key.plainSlot(of: $0) }
            if slot >= 0 { return uncounted._withUnsafeGuaranteedRef { V._read($0, slot) } }
        }
        return _readFirst(key, index)
    }

    /// Reads the property of the first object of an entity, and of a model without an object.
    @inline(never)
    @usableFromInline
    func _readFirst<V: ManagedPropertyValue>(_ key: _ModelKey, _ index: Int) -> V {
        if let object {
            let slot = key.plainSlot(in: object, holder)
            if slot >= 0 { return V._read(object, slot) }
        }
        return _readByForm(key, index)
    }

    /// The value of an attribute of another type.
    @_disfavoredOverload
    public func _read<V>(_ key: _ModelKey, _ index: Int) -> V { _readByForm(key, index) }

    /// An enumeration with a raw value: that of its column.
    @inlinable
    @_disfavoredOverload
    public mutating func _read<V: RawRepresentable>(_ key: _ModelKey, _ index: Int) -> V
    where V.RawValue: ManagedAttributeValue {
        if let uncounted {
            let slot = uncounted._withUnsafeGuaranteedRef { key.rawSlot(of: $0) }
            if slot >= 0, let raw = uncounted._withUnsafeGuaranteedRef({ V.RawValue._readOptional($0, slot) }),
                let value = V(rawValue: raw)
            {
                return value
            }
        }
        return _readEnumeration(key, index)
    }

    /// An enumeration with a raw value, or nil.
    @inlinable
    @_disfavoredOverload
    public mutating func _read<V: RawRepresentable>(_ key: _ModelKey, _ index: Int) -> V?
    where V.RawValue: ManagedAttributeValue {
        if let uncounted {
            let slot = uncounted._withUnsafeGuaranteedRef { key.rawSlot(of: $0) }
            if slot >= 0 {
                guard let raw = uncounted._withUnsafeGuaranteedRef({ V.RawValue._readOptional($0, slot) }) else {
                    return nil
                }
                if let value = V(rawValue: raw) { return value }
            }
        }
        return _readEnumeration(key, index)
    }

    /// Reads by the form, and remembers the slot of the raw value for the next object of the entity.
    @inline(never)
    @usableFromInline
    func _readEnumeration<V>(_ key: _ModelKey, _ index: Int) -> V {
        if let object { _ = key.rawSlot(in: object, holder) }
        return _readByForm(key, index)
    }

    /// The value of an attribute with a value transformer.
    public func _readTransformable<V>(_ key: _ModelKey, _ index: Int) -> V { _readByForm(key, index) }

    /// Returns the destination of a to-one. If there is none, as after its deletion, returns a model that is in no
    /// context.
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V {
        let model: V? = _read(key, index)
        return model ?? MissingValue.model(key.name, of: Model.self)
    }

    /// Returns the destination of a to-one.
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V? {
        guard let object, let context = _context else {
            let value = _pending?.value(key, index)
            return value as? V
        }
        let slot = key.slot(in: object, context)
        guard slot >= 0, let target = object.relatedObject(slot) else { return nil }
        return context.model(for: target, as: V.self)
    }

    /// Returns the members of a to-many.
    public func _read<V: RelationshipCollection>(_ key: _ModelKey, _ index: Int) -> V {
        guard let object, let context = _context else {
            return _pending?.value(key, index) as? V ?? V._make([])
        }
        let slot = key.slot(in: object, context)
        guard slot >= 0 else { return V._make([]) }
        return V._make(
            object.relatedObjects(slot).compactMap { context.model(for: $0, as: V.PersistentElement.self) })
    }

    /// By the attribute's form.
    @inline(never)
    @usableFromInline
    func _readByForm<V>(_ key: _ModelKey, _ index: Int) -> V {
        guard let object, let context = _context else {
            if let value = _pending?.value(key, index) as? V { return value }
            return MissingValue.value(key.name, of: level)
        }
        let slot = key.slot(in: object, context)
        guard slot >= 0, let property = context.plan(of: object).property(at: slot)?.declaration,
            let form = property.attributeForm
        else { return MissingValue.value(key.name, of: level) }
        let stored = object.propertyValue(slot)
        do { if let value = try form.decode(stored) as? V { return value } } catch {
            context.note(unreadable: error, key.name, object)
        }
        return MissingValue.value(key.name, of: context.plan(of: object).type)
    }
}

/// The values of properties without a value, or with one of another type.
enum MissingValue {
    /// nil, the default value, or a value that stands for none.
    static func value<Value>(_ name: String, of type: any PersistentModel.Type) -> Value {
        if let empty = (Value.self as? any ExpressibleByNilLiteral.Type).flatMap({ none($0) as? Value }) {
            return empty
        }
        let property = ModelLayout.of(type).property(named: name)
        if let value = property?.defaultValue as? Value { return value }
        if let attribute = Value.self as? any ManagedAttributeValue.Type, let value = attribute._empty as? Value {
            return value
        }
        if let value = property?.attributeForm?.samples.first as? Value { return value }
        preconditionFailure(
            """
            Property '\(name)' of \(type) has no value, and \(Value.self) has none that could stand for it. Declare it as optional, \
            or give it an initial value.
            """)
    }

    /// Returns a model that is in no context, for a required relationship without a destination.
    static func model<Value: PersistentModel>(_ name: String, of type: any PersistentModel.Type) -> Value {
        Value(backingData: DefaultBackingData<Value>(for: Value.self))
    }

    private static func none<Value: ExpressibleByNilLiteral>(_ type: Value.Type) -> Value { nil }
}
