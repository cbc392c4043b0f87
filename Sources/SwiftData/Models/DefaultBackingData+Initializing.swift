import CoreData
import Foundation

// What init accessors call: the values of a new model.
extension DefaultBackingData {
    @_disfavoredOverload
    public mutating func _initialize<V>(_ index: Int, to value: V) { madePending().set(value, index) }
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V) { madePending().set(value, index) }
    public mutating func _initialize<V: PersistentModel>(_ index: Int, to value: V?) {
        madePending().set(value as Any, index)
    }
    public mutating func _initialize<V: RelationshipCollection>(_ index: Int, to value: V) {
        madePending().set(value, index)
    }
    public mutating func _initializeTransformable<V>(_ index: Int, to value: V) { madePending().set(value, index) }
}
