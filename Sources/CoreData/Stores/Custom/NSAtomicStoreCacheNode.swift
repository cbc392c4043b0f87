import Foundation
import Synchronization

/// One object of an ``NSAtomicStore``: its values by the names of its properties.
///
///     let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: 7))
///     node.setValue("Milk", forKey: "name")
///     node.setValue(unit, forKey: "unit")             // a to-one: the other node
///     node.setValue([a, b] as Set, forKey: "tags")    // a to-many: a set of nodes, or an ordered one
open class NSAtomicStoreCacheNode: NSObject, @unchecked Sendable {
    // Safe because a store is asked by one thread at a time.

    /// The ID of the object; made by ``NSAtomicStore/objectID(for:withReferenceObject:)``.
    public let objectID: NSManagedObjectID

    /// The values by name; nil until one is set.
    open var propertyCache: NSMutableDictionary?

    /// Makes a node without values.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// Creates a placeholder: a node of no object.
    public convenience override init() { self.init(objectID: NSManagedObjectID()) }

    /// Returns the value of a property: an attribute's value, a to-one's node, a set of nodes, or nil.
    open func value(forKey key: String) -> Any? {
        let value = propertyCache?[key]
        return value is NSNull ? nil : value
    }

    /// Sets the value of a property; nil removes it.
    open func setValue(_ value: Any?, forKey key: String) {
        let cache = propertyCache ?? NSMutableDictionary()
        propertyCache = cache
        if let value { cache[key] = value } else { cache.removeObject(forKey: key) }
    }
}
