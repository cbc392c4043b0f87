import CoreData
import Foundation

/// A class whose instances a context can store. `@Model` makes a class conform.
///
///     let trip = Trip(name: "Oslo")         // its values are its own
///     context.insert(trip)                  // from now on they are those of the context's row
///     trip.name = "Bergen"
///     try context.save()
///
/// A context has one instance for each row. Instances are equal if they are identical.
///
/// No operation on an instance stops the program: a deleted one keeps its last values readable, see ``isDeleted``.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// The topmost model class of those that this one inherits from.
    associatedtype Root: PersistentModel = Self
    /// Makes an instance of values, or of a row.
    init(backingData: any BackingData<Self>)
    /// The storage of the values.
    var persistentBackingData: any BackingData<Self> { get set }
    /// The declaration of the class.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    /// The object of the model's row; `nil` before the model is inserted. The macro writes it.
    var _$object: ModelObject? { get }
    /// Makes the model of an object. The macro writes it, so that the class's own module knows all types.
    static func _make(_ object: ModelObject, _ context: ModelContext) -> Self
    /// Has the properties of each level of the class read and write the object, from now on. The macro writes it.
    func _attach(_ object: ModelObject, _ context: ModelContext)
    /// Runs the mutation, and notifies the observers of the property. The macro writes it.
    func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void)
}

extension PersistentModel {
    public static func == (one: Self, other: Self) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The same as ``persistentModelID``.
    public var id: PersistentIdentifier { persistentModelID }

    /// Identifies the model's row in all contexts, once it is saved.
    ///
    /// Differs from Apple: an inserted model gets its permanent identifier at the first read, if its store can reserve
    /// one. A model that was never inserted has a temporary identifier.
    public var persistentModelID: PersistentIdentifier {
        if let object = modelObject { return PersistentIdentifier(object.permanentID) }
        let token = persistentBackingData._pending?.token ?? PendingToken()
        return PersistentIdentifier(pending: token, entityName: "\(type(of: self))")
    }

    /// The context that the model is in: `nil` before it is inserted, and once its deletion is saved.
    public var modelContext: ModelContext? {
        (_$object?.managedObjectContext as? ModelObjectContext)?.modelContext
    }

    /// Whether the next save writes something of the model.
    public var hasChanges: Bool { modelObject?.hasChanges ?? false }

    /// Whether the next save deletes the model: `false` again once that is done.
    public var isDeleted: Bool { modelObject?.isDeleted ?? false }

    /// The object of the model's row; `nil` before the model is inserted.
    package var modelObject: ModelObject? { _$object }

    public var _$object: ModelObject? { persistentBackingData._object }

    public static func _make(_ object: ModelObject, _ context: ModelContext) -> Self {
        Self(backingData: DefaultBackingData<Self>(_object: object, context))
    }

    /// Notifies observers of the property of changes without a setter: by the other side of a relationship, by saves of
    /// another context, by undo and rollback. Called when a read is tracked.
    public func _follow(_ keyPath: AnyKeyPath) {
        guard let object = modelObject, let context = persistentBackingData._context else { return }
        let plan = context.plan(of: object)
        guard let name = plan.layout.name(of: keyPath), let slot = object.propertySlot(named: name),
            let property = plan.property(at: slot)
        else { return }
        object.follow(property)
    }

    /// Backing data of a model that no context has.
    public static func createBackingData<P: PersistentModel>() -> some BackingData<P> {
        DefaultBackingData<P>(for: P.self)
    }
}

extension PersistentModel {
    /// The value of a property.
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// Returns the destination of a relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// Returns the destination of a relationship.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? {
        persistentBackingData.getValue(forKey: key)
    }
    /// Returns the members of a relationship.
    public func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// Returns the members of a relationship.
    public func getValue<Value: RelationshipCollection & Decodable>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// The value of an attribute with a value transformer.
    public func getTransformableValue<Value>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getTransformableValue(forKey: key)
    }
    /// Sets a property.
    @_disfavoredOverload
    public func setValue<Value: Encodable>(forKey key: KeyPath<Self, Value>, to value: Value) {
        setBackingValue(key, value)
    }
    /// Sets a relationship.
    public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>, to value: Value) {
        setBackingValue(key, value)
    }
    /// Sets a relationship.
    public func setValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>, to value: Value?) {
        setBackingValue(key, value)
    }
    /// Sets a relationship.
    public func setValue<Value: RelationshipCollection>(forKey key: KeyPath<Self, Value>, to value: Value) {
        setBackingValue(key, value)
    }
    /// Sets a relationship.
    public func setValue<Value: RelationshipCollection & Encodable>(
        forKey key: KeyPath<Self, Value>, to value: Value
    ) { setBackingValue(key, value) }
    /// Sets an attribute with a value transformer.
    public func setTransformableValue<Value>(forKey key: KeyPath<Self, Value>, to value: Value) {
        setBackingValue(key, value)
    }

    /// Sets the value with the property's accessor if there is one, so that observers and the other sides of
    /// relationships are updated.
    private func setBackingValue<Value>(_ key: KeyPath<Self, Value>, _ value: Value) {
        persistentBackingData._setAny(value, forKey: key, of: self)
    }
}
