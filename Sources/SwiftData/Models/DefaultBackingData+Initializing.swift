import CoreData
import Foundation

// What init accessors call: the values of a new model. Inlined, so that no value is boxed whose type is known.
extension DefaultBackingData {
    @inlinable
    @_disfavoredOverload
    public mutating func _initialize<V>(_ index: Int, to value: V) { madePending().set(PendingValue(value), index) }
    @inlinable
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V) {
        madePending().set(PendingValue(model: value), index)
    }
    @inlinable
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V?) {
        madePending().set(PendingValue(model: value), index)
    }
    @inlinable
    public mutating func _initialize<V: RelationshipCollection>(_ index: Int, to value: V) {
        madePending().set(.other(value), index)
    }
    @inlinable
    public mutating func _initializeTransformable<V>(_ index: Int, to value: V) {
        madePending().set(.other(value), index)
    }
}
