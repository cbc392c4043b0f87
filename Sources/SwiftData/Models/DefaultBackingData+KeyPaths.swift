import CoreData
import Foundation

// By key path: what programs call that do without the accessors.
extension DefaultBackingData {
    private var layout: ModelLayout {
        if let object, let context = _context { return context.plan(of: object).layout }
        return ModelLayout.of(level)
    }

    private func key(_ keyPath: AnyKeyPath) -> (key: _ModelKey, index: Int)? {
        let layout = layout
        guard let name = layout.name(of: keyPath), let property = layout.property(named: name) else { return nil }
        return (_ModelKey(name), property.index)
    }

    public func getValue<Value: Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        guard let (key, index) = key(keyPath) else { return unknown(keyPath) }
        return _readByForm(key, index)
    }

    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        guard let (key, index) = key(keyPath) else { return unknown(keyPath) }
        return _read(key, index)
    }

    public func getValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>) -> Value? {
        guard let (key, index) = key(keyPath) else { return nil }
        return _read(key, index)
    }

    public func getValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        guard let (key, index) = key(keyPath) else { return Value._make([]) }
        return _read(key, index)
    }

    public func getValue<Value: RelationshipCollection & Decodable>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        guard let (key, index) = key(keyPath) else { return Value._make([]) }
        return _read(key, index)
    }

    public func getTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>) -> Value {
        guard let (key, index) = key(keyPath) else { return unknown(keyPath) }
        return _readByForm(key, index)
    }

    private func unknown<Value>(_ keyPath: AnyKeyPath) -> Value {
        preconditionFailure("\(keyPath) is no persisted property of \(Model.self).")
    }

    public mutating func setValue<Value: Encodable>(forKey keyPath: KeyPath<Model, Value>, to value: Value) {
        set(value, keyPath)
    }

    public mutating func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value>, to value: Value) {
        set(value, [value], keyPath)
    }

    public mutating func setValue<Value: PersistentModel>(forKey keyPath: KeyPath<Model, Value?>, to value: Value?) {
        set(value as Any, value.map { [$0] } ?? [], keyPath)
    }

    public mutating func setValue<Value: RelationshipCollection>(forKey keyPath: KeyPath<Model, Value>, to value: Value)
    {
        set(value, value._models ?? [], keyPath)
    }

    public mutating func setValue<Value: RelationshipCollection & Encodable>(
        forKey keyPath: KeyPath<Model, Value>, to value: Value
    ) { set(value, value._models ?? [], keyPath) }

    public mutating func setTransformableValue<Value>(forKey keyPath: KeyPath<Model, Value>, to value: Value) {
        set(value, keyPath)
    }

    private mutating func set<Value>(_ value: Value, _ keyPath: AnyKeyPath) {
        guard let (key, index) = key(keyPath) else { return }
        guard let object, let context = _context else { return madePending().set(value, key, index) }
        let slot = key.slot(in: object, context)
        if slot >= 0, let property = context.plan(of: object).property(at: slot) {
            context.write(value, property, object)
        }
    }

    private mutating func set(_ value: Any, _ targets: [any PersistentModel], _ keyPath: AnyKeyPath) {
        guard let (key, index) = key(keyPath) else { return }
        guard let object, let context = _context else { return madePending().set(value, key, index) }
        context.relate(object, targets, key.slot(in: object, context))
    }

    public func _setAny<Value>(_ value: Value, forKey keyPath: AnyKeyPath, of model: any PersistentModel) {
        guard let (key, index) = key(keyPath), let model = model as? Model else { return }
        func set() {
            guard let property = ModelLayout.of(Swift.type(of: model)).property(named: key.name),
                property.attributeForm == nil
            else { return _writeByForm(value, key, index, model) }
            write(value, property, key, model)
        }
        model._withMutation(of: keyPath, set)
    }

    private func write(_ value: Any, _ property: ModelProperty, _ key: _ModelKey, _ model: Model) {
        let targets = PendingInverses.models(in: value)
        writeRelationship(targets, value, key, property.index, model)
    }
}
