import CoreData
import Foundation

// The functions that init accessors call for the values of a new model. They are inlined, so that no value of a known
// type is boxed.
extension DefaultBackingData {
    @inlinable
    @_disfavoredOverload
    public mutating func _initialize<V>(_ index: Int, to value: V) {
        if keptLevel != nil { madePending().set(PendingValue(value), index) }
    }
    @inlinable
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V) {
        if keptLevel != nil { madePending().set(PendingValue(model: value), index) }
    }
    @inlinable
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V?) {
        if keptLevel != nil { madePending().set(PendingValue(model: value), index) }
    }
    @inlinable
    public mutating func _initialize<V: RelationshipCollection>(_ index: Int, to value: V) {
        if keptLevel != nil { madePending().set(.other(value), index) }
    }
    @inlinable
    public mutating func _initializeTransformable<V>(_ index: Int, to value: V) {
        if keptLevel != nil { madePending().set(.other(value), index) }
    }
}
