import Foundation

/// What kind of work a ``NSPersistentStoreRequest`` asks a store for.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    case fetchRequestType = 1
    case saveRequestType = 2
    case batchInsertRequestType = 5
    case batchUpdateRequestType = 6
    case batchDeleteRequestType = 7
    /// Differs from Apple: there, the number has no name.
    case historyRequestType = 8
}

/// A request of a context or coordinator to its stores: a fetch, a save, a batch operation.
///
/// Use one of its subclasses; a custom store distinguishes them by ``requestType``.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that the request goes to, typed by the extension that declares `affectedStores`; `nil` for all.
    package var affectedStoreObjects: [AnyObject]?

    public override init() {}

    /// Which kind of request this is; each subclass says.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Returns a request with the same settings, which can be changed independently.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.affectedStoreObjects = affectedStoreObjects
        return copy
    }
}
