import CoreData
import Foundation

/// Stores a model's values: in the model before it is inserted, in a context's row afterwards.
///
/// ``DefaultBackingData`` is the backing of models. The requirements with an underscore have default implementations.
public protocol BackingData<Model> {
    associatedtype Model: PersistentModel

    /// Makes the values of a model that no context has.
    init(for modelType: Model.Type)
    /// The identifier of the row; `nil` if there is none.
    var persistentModelID: PersistentIdentifier? { get set }
    /// The declaration of the class.
    var metadata: Any { get }

    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value?
    func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Model, Value>) -> Value
    func getValue<Value: RelationshipCollection & Decodable>(forKey key: KeyPath<Model, Value>) -> Value
    func getTransformableValue<Value>(forKey key: KeyPath<Model, Value>) -> Value
    mutating func setValue<Value: Encodable>(forKey key: KeyPath<Model, Value>, to value: Value)
    mutating func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>, to value: Value)
    mutating func setValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>, to value: Value?)
    mutating func setValue<Value: RelationshipCollection>(forKey key: KeyPath<Model, Value>, to value: Value)
    mutating func setValue<Value: RelationshipCollection & Encodable>(
        forKey key: KeyPath<Model, Value>, to value: Value)
    mutating func setTransformableValue<Value>(forKey key: KeyPath<Model, Value>, to value: Value)

    /// The object of the row.
    var _object: ModelObject? { get }
    /// The values of a model that no context has.
    var _pending: PendingValues? { get }
    /// The context of the row.
    var _context: ModelContext? { get }
    /// Sets a property of the model.
    func _setAny<Value>(_ value: Value, forKey key: AnyKeyPath, of model: any PersistentModel)
}

extension BackingData {
    public var _object: ModelObject? { nil }
    public var _pending: PendingValues? { nil }
    public var _context: ModelContext? { nil }
    public func _setAny<Value>(_ value: Value, forKey key: AnyKeyPath, of model: any PersistentModel) {}
}
