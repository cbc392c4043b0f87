import CoreData
import Foundation

/// A class whose instances a context can store. `@Model` makes a class one.
///
///     let trip = Trip(name: "Oslo")         // its values are its own
///     context.insert(trip)                  // from now on they are those of the context's row
///     trip.name = "Bergen"
///     try context.save()
///
/// There is one instance for each row in a context. Instances are equal where they are the same.
///
/// Nothing of an instance stops the program: a deleted one keeps its last values readable, see ``isDeleted``.
public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    /// The topmost model class of those that this one inherits from.
    associatedtype Root: PersistentModel = Self
    /// Makes an instance of values, or of a row.
    init(backingData: any BackingData<Self>)
    /// Where the values are.
    var persistentBackingData: any BackingData<Self> { get set }
    /// What the class declares.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    /// Has the properties of each level of the class read and write the object, from now on. The macro writes it.
    func _attach(_ object: ModelObject)
    /// Runs the mutation, and tells the observers of the property. The macro writes it.
    func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void)
}

extension PersistentModel {
    public static func == (one: Self, other: Self) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The same as ``persistentModelID``.
    public var id: PersistentIdentifier { persistentModelID }

    /// Names the model's row in all contexts, once it is saved.
    ///
    /// Differs from Apple: asking an inserted model gives it its permanent identifier at once, where its store can reserve one. One that
    /// was never inserted has a temporary identifier.
    public var persistentModelID: PersistentIdentifier {
        if let object = modelObject { return PersistentIdentifier(object.permanentID) }
        let token = persistentBackingData._pending?.token ?? PendingToken()
        return PersistentIdentifier(pending: token, entityName: "\(type(of: self))")
    }

    /// The context that the model is in: `nil` before it is inserted, and once its deletion is saved.
    public var modelContext: ModelContext? {
        let backing = persistentBackingData
        guard let context = backing._context, let object = backing._object else { return nil }
        return object.managedObjectContext == nil ? nil : context
    }

    /// Whether the next save writes something of the model.
    public var hasChanges: Bool { modelObject?.hasChanges ?? false }

    /// Whether the next save deletes the model: `false` again once that is done.
    public var isDeleted: Bool { modelObject?.isDeleted ?? false }

    /// The object of the model's row; `nil` before the model is inserted.
    package var modelObject: ModelObject? { persistentBackingData._object }

    /// Has those who observe the property learn of changes that no setter makes: by the other side of a relationship, by what another context
    /// saved, by undo and rollback. Called where a read is tracked.
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
    /// The model that a relationship leads to.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// The model that a relationship leads to.
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? {
        persistentBackingData.getValue(forKey: key)
    }
    /// The models that a relationship leads to.
    public func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    /// The models that a relationship leads to.
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

    /// By the accessor of the property where there is one, so that observers and the other sides of relationships learn of it.
    private func setBackingValue<Value>(_ key: KeyPath<Self, Value>, _ value: Value) {
        persistentBackingData._setAny(value, forKey: key, of: self)
    }
}
