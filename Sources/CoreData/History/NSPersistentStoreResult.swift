import Foundation

/// A store's answer to a request; each kind of request has its own subclass.
open class NSPersistentStoreResult: NSObject {
    /// Creates a placeholder: an empty result.
    public override init() {}
}

/// The result of a fetch request that was executed as a request: objects, IDs, dictionaries or a number.
///
/// Differs from Apple: there an array is returned as if it were a result.
public final class ExecutedFetchResult: NSPersistentStoreResult {
    /// The results, in the order of the coordinator's stores.
    public let objects: [AnyObject]

    init(_ objects: [AnyObject]) { self.objects = objects }
}

/// The kind of result of an ``NSPersistentHistoryChangeRequest``.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// A `Bool`: whether it was done.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: the objects that changed, each once.
    case objectIDs = 1
    /// An `Int`: the number of transactions, or of changes if the request selects those, that were found or deleted.
    case count = 2
    /// `[NSPersistentHistoryTransaction]`, without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// The result of an ``NSPersistentHistoryChangeRequest``.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The result, of the type that ``NSPersistentHistoryResultType`` says; transactions and changes come oldest first.
    public let result: Any?
    /// The requested kind of result.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
    }

    /// Creates a placeholder: an empty result.
    public convenience override init() { self.init(nil, .statusOnly) }
}
