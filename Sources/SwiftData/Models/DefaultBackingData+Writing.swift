import CoreData
import Foundation

// What setters call. None of these changes the backing data itself, which the model's insertion replaces meanwhile.
// The first one is `mutating` as getters are: to count no reference of a copy.
extension DefaultBackingData {
    /// Sets an attribute whose type the engine writes directly.
    @inlinable
    public mutating func _write<V: ManagedPropertyValue>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        if let object {
            let slot = key.plainSlot(of: object)
            if slot >= 0 { return V._write(value, object, slot) }
        } else if let pending = _pending {
            return pending.set(PendingValue(value), key, index)
        }
        _writeFirst(value, key, index, model)
    }

    /// Sets the property of the first object of an entity, and of a model without values.
    @inline(never)
    @usableFromInline
    func _writeFirst<V: ManagedPropertyValue>(_ value: V, _ key: _ModelKey, _ index: Int, _ model: Model) {
        if let object {
            let slot = key.plainSlot(in: object, holder)
            if slot >= 0 { return V._write(value, object, slot) }
        }
        _writeByForm(value, key, index, model)
    }

    /// Sets an attribute of another type.
    @_disfavoredOverload
    public func _write<V>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        _writeByForm(value, key, index, model)
    }

    /// Sets an attribute with a value transformer.
    public func _writeTransformable<V>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        _writeByForm(value, key, index, model)
    }

    /// Sets a to-one.
    public func _write<V: PersistentModel>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        _write(Optional(value), key, index, of: model)
    }

    /// Sets a to-one.
    public func _write<V: PersistentModel>(_ value: V?, _ key: _ModelKey, _ index: Int, of model: Model) {
        if let object, let context = _context {
            let slot = key.slot(in: object, context)
            if context.relate(object, value?.modelObject, isNil: value == nil, slot) { return }
        } else if let value, let context = value.modelContext {
            pending(of: model).set(PendingValue(model: value), key, index)
            return context.insert(model)
        }
        writeRelationship(value.map { [$0] } ?? [], value as Any, key, index, model)
    }

    /// Sets a to-many.
    public func _write<V: RelationshipCollection>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        writeRelationship(value._models ?? [], value, key, index, model)
    }

    /// By the attribute's form.
    @inline(never)
    @usableFromInline
    func _writeByForm<V>(_ value: V, _ key: _ModelKey, _ index: Int, _ model: Model) {
        guard let object, let context = _context else {
            return pending(of: model).set(PendingValue(value), key, index)
        }
        let slot = key.slot(in: object, context)
        guard slot >= 0, let property = context.plan(of: object).property(at: slot) else { return }
        context.write(value, property, object)
    }

    /// Sets a relationship. Models without a context are inserted into the context of the others.
    func writeRelationship(
        _ targets: [any PersistentModel], _ value: Any, _ key: _ModelKey, _ index: Int, _ model: Model
    ) {
        if let object, let context = _context {
            return context.relate(object, targets, key.slot(in: object, context))
        }
        if let context = targets.lazy.compactMap(\.modelContext).first {
            pending(of: model).set(value, key, index)
            return context.insert(model)
        }
        let pending = pending(of: model)
        let former = pending.value(key, index)
        pending.set(value, key, index)
        PendingInverses.follow(key.name, of: model, from: former, to: targets)
    }
}
