import Foundation

/// The backing of a model object that stands for none; see ``KeyPathRecorder``.
struct RecordingBackingData<Model: PersistentModel>: BackingData {
    let recorder: KeyPathRecorder

    init(_ recorder: KeyPathRecorder) { self.recorder = recorder }

    init(for type: Model.Type) { self.init(KeyPathRecorder(ModelDeclaration.of(type))) }

    private func value<Value>(_ key: AnyKeyPath, _ type: Value.Type) -> Value {
        // Not from the layout, which may be under construction.
        let properties = ModelDeclaration.of(Model.self).allProperties
        return recorder.value(named: properties.first { $0.keyPath == key }?.name ?? "", as: type)
    }

    var metadata: Any { Model.schemaMetadata }
    /// The values that a `DefaultBackingData` takes over.
    var _pending: PendingValues? { PendingValues(Model.self, recorder) }
    /// None: the object stands for no row.
    var persistentModelID: PersistentIdentifier? {
        get { nil }
        set {}
    }

    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value { value(key, Value.self) }
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value { value(key, Value.self) }
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value? { value(key, Value?.self) }
    func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Model, Value>) -> Value { value(key, Value.self) }
    func getValue<Value: RelationshipCollection & Decodable>(forKey key: KeyPath<Model, Value>) -> Value {
        value(key, Value.self)
    }
    func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value { value(key, Value.self) }

    // Nothing is kept.
    func setValue<Value: Encodable>(forKey key: KeyPath<Model, Value>, to value: Value) {}
    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>, to value: Value) {}
    func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>, to value: Value?) {}
    func setValue<Value: RelationshipCollection>(forKey key: KeyPath<Model, Value>, to value: Value) {}
    func setValue<Value: RelationshipCollection & Encodable>(forKey key: KeyPath<Model, Value>, to value: Value) {}
    func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to value: Value) {}
}
