import CoreData
import Foundation

// What getters call.
extension DefaultBackingData {
    /// The value of an attribute whose type the engine reads as it is: no dictionary, no `Any`.
    @inlinable
    public func _read<V: ManagedPropertyValue>(_ key: _ModelKey, _ index: Int) -> V {
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
    public func _read<V: RawRepresentable>(_ key: _ModelKey, _ index: Int) -> V
    where V.RawValue: ManagedAttributeValue {
        if let object {
            let slot = key.rawSlot(in: object, holder)
            if slot >= 0, let raw = V.RawValue._readOptional(object, slot), let value = V(rawValue: raw) {
                return value
            }
        }
        return _readByForm(key, index)
    }

    /// An enumeration with a raw value, or nil.
    @inlinable
    @_disfavoredOverload
    public func _read<V: RawRepresentable>(_ key: _ModelKey, _ index: Int) -> V?
    where V.RawValue: ManagedAttributeValue {
        if let object {
            let slot = key.rawSlot(in: object, holder)
            if slot >= 0 {
                guard let raw = V.RawValue._readOptional(object, slot) else { return nil }
                if let value = V(rawValue: raw) { return value }
            }
        }
        return _readByForm(key, index)
    }

    /// The value of an attribute with a value transformer.
    public func _readTransformable<V>(_ key: _ModelKey, _ index: Int) -> V { _readByForm(key, index) }

    /// The model that a to-one leads to. Where it leads nowhere, as after the deletion of the other model, a model that no context has.
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V {
        let model: V? = _read(key, index)
        return model ?? MissingValue.model(key.name, of: Model.self)
    }

    /// The model that a to-one leads to.
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V? {
        guard let object, let context = _context else {
            let value = _pending?.value(key, index)
            return value as? V
        }
        let slot = key.slot(in: object, context)
        guard slot >= 0, let target = object.relatedObject(slot) else { return nil }
        return context.model(for: target, as: V.self)
    }

    /// The models that a to-many leads to.
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

/// What a property reads as that has no value, or one that is none of its type.
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

    /// A model that no context has, where a relationship that has to lead somewhere leads nowhere.
    static func model<Value: PersistentModel>(_ name: String, of type: any PersistentModel.Type) -> Value {
        Value(backingData: DefaultBackingData<Value>(for: Value.self))
    }

    private static func none<Value: ExpressibleByNilLiteral>(_ type: Value.Type) -> Value { nil }
}
