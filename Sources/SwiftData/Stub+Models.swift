import CoreData
import Foundation

public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    associatedtype Root: PersistentModel = Self
    init(backingData: any BackingData<Self>)
    var persistentBackingData: any BackingData<Self> { get set }
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
}

extension PersistentModel {
    public static func == (one: Self, other: Self) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    public var id: ObjectIdentifier { ObjectIdentifier(self) }
    @_disfavoredOverload
    public func getValue<Value: Decodable>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
    public func getValue<Value: PersistentModel>(forKey key: KeyPath<Self, Value?>) -> Value? {
        persistentBackingData.getValue(forKey: key)
    }
    public func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Self, Value>) -> Value {
        persistentBackingData.getValue(forKey: key)
    }
}

public protocol BackingData<Model> {
    associatedtype Model: PersistentModel
    init(for type: Model.Type)
    func getValue<Value: Decodable>(forKey key: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value>) -> Value
    func getValue<Value: PersistentModel>(forKey key: KeyPath<Model, Value?>) -> Value?
    func getValue<Value: RelationshipCollection>(forKey key: KeyPath<Model, Value>) -> Value
}

public protocol RelationshipCollection {
    associatedtype PersistentElement: PersistentModel
}
extension Array: RelationshipCollection where Element: PersistentModel {
    public typealias PersistentElement = Element
}
extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
    public typealias PersistentElement = Wrapped.Element
}

package final class ModelObject: NSManagedObject {}

public class ModelContext {
    package init(mainContextOf container: ModelContainer) {}
    public init(_ container: ModelContainer) {}
}
public protocol VersionedSchema: SendableMetatype {
    static var models: [any PersistentModel.Type] { get }
    static var versionIdentifier: Schema.Version { get }
}
public protocol SchemaMigrationPlan: SendableMetatype {
    static var schemas: [any VersionedSchema.Type] { get }
}

extension NSEntityDescription {
    package var runtimeClass: AnyClass? {
        get { nil }
        set {}
    }
}
