import CoreData
import Foundation

public protocol PersistentModel: AnyObject, Observable, Hashable, Identifiable, SendableMetatype {
    associatedtype Root: PersistentModel = Self
    init(backingData: any BackingData<Self>)
    var persistentBackingData: any BackingData<Self> { get set }
    static var schemaMetadata: [Schema.PropertyMetadata] { get }
    func _attach(_ object: ModelObject)
    func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void)
}

extension PersistentModel {
    public static func == (a: Self, b: Self) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    public var id: PersistentIdentifier { PersistentIdentifier() }
    public var persistentModelID: PersistentIdentifier { PersistentIdentifier() }
    public var modelContext: ModelContext? { nil }
    public var hasChanges: Bool { false }
    public var isDeleted: Bool { false }
}

public struct PersistentIdentifier: Hashable, Sendable {}

public protocol BackingData<Model> {
    associatedtype Model: PersistentModel
    init(for modelType: Model.Type)
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

public final class _ModelKey: Sendable {
    public let name: String
    public init(_ name: String) { self.name = name }
}

public class ModelObject: NSManagedObject {}

public struct DefaultBackingData<Model: PersistentModel>: BackingData {
    final class Values {
        var values: [Int: Any] = [:]
    }
    let pending = Values()
    public init(for type: Model.Type) {}
    public init(adopting other: any BackingData<Model>) {}
    public func _attach(_ object: ModelObject) {}
    @_disfavoredOverload
    public func _initialize<V>(_ index: Int, to value: V) { pending.values[index] = value }
    public func _initialize<V: PersistentModel>(_ index: Int, to value: V) { pending.values[index] = value }
    public func _initialize<V: PersistentModel>(_ index: Int, to value: V?) { pending.values[index] = value as Any }
    public func _initialize<V: RelationshipCollection>(_ index: Int, to value: V) { pending.values[index] = value }
    public func _initializeTransformable<V>(_ index: Int, to value: V) { pending.values[index] = value }
    @_disfavoredOverload
    public func _read<V>(_ key: _ModelKey, _ index: Int) -> V { pending.values[index] as! V }
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V { pending.values[index] as! V }
    public func _read<V: PersistentModel>(_ key: _ModelKey, _ index: Int) -> V? { pending.values[index] as! V? }
    public func _read<V: RelationshipCollection>(_ key: _ModelKey, _ index: Int) -> V { pending.values[index] as! V }
    public func _readTransformable<V>(_ key: _ModelKey, _ index: Int) -> V { pending.values[index] as! V }
    @_disfavoredOverload
    public func _write<V>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) { pending.values[index] = value }
    public func _write<V: PersistentModel>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        pending.values[index] = value
    }
    public func _write<V: PersistentModel>(_ value: V?, _ key: _ModelKey, _ index: Int, of model: Model) {
        pending.values[index] = value as Any
    }
    public func _write<V: RelationshipCollection>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        pending.values[index] = value
    }
    public func _writeTransformable<V>(_ value: V, _ key: _ModelKey, _ index: Int, of model: Model) {
        pending.values[index] = value
    }
}

public class ModelContext {
    package let managedObjectContext: NSManagedObjectContext
    public let container: ModelContainer
    public init(_ container: ModelContainer) {
        self.container = container
        managedObjectContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    }
    package init(main container: ModelContainer) {
        self.container = container
        managedObjectContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    }
    public func model(for id: PersistentIdentifier) -> any PersistentModel { fatalError() }
}
@available(*, unavailable) extension ModelContext: Sendable {}
extension ModelContext: SendableMetatype {}
