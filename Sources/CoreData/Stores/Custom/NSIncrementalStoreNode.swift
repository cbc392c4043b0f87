import Foundation

/// One object of an ``NSIncrementalStore`` at one version: the values of its attributes, and the IDs of its to-ones'
/// destinations.
///
///     NSIncrementalStoreNode(objectID: id, withValues: ["name": "Milk", "unit": unitID], version: 1)
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
    // Safe because a store is asked by one thread at a time.

    /// The ID of the object.
    public let objectID: NSManagedObjectID
    /// The version of the store's object: different values have different versions.
    open private(set) var version: UInt64
    private var values: [String: Any]

    /// Makes a node; a value that is left out, or `NSNull`, is nil, and a to-one that is left out is asked for when it
    /// is read.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Creates a placeholder: a node of no object.
    public convenience override init() { self.init(objectID: NSManagedObjectID(), withValues: [:], version: 0) }

    /// Gives the node other values of the same object.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values = values
        self.version = version
    }

    /// The value of a property; `NSNull` for a to-one that leads nowhere, nil for one that is not known.
    open func value(for property: NSPropertyDescription) -> Any? { values[property.name] }
}
