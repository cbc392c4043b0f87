import Foundation

/// What a store answers to a request; each kind of request has its own.
open class NSPersistentStoreResult: NSObject {
    /// Makes a stand-in, where one is wanted: a result of nothing.
    public override init() {}
}

/// What a fetch request that was executed as a request found: objects, IDs, dictionaries or a number.
///
/// Differs from Apple: an array is there returned as if it were a result.
public final class ExecutedFetchResult: NSPersistentStoreResult {
    /// What the stores gave, in the order of the coordinator's stores.
    public let objects: [AnyObject]

    init(_ objects: [AnyObject]) { self.objects = objects }
}

/// What an ``NSPersistentHistoryChangeRequest`` returns.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// A `Bool`: whether it was done.
    case statusOnly = 0
    /// `[NSManagedObjectID]`: the objects that changed, each once.
    case objectIDs = 1
    /// An `Int`: how many transactions there are, of changes where the request selects those, or were deleted.
    case count = 2
    /// `[NSPersistentHistoryTransaction]`, without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// What an ``NSPersistentHistoryChangeRequest`` found or did.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// See ``NSPersistentHistoryResultType``: what it is of; transactions and changes come oldest first.
    public let result: Any?
    /// What the request asked for.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
    }

    /// Makes a stand-in, where one is wanted: a result of nothing.
    public convenience override init() { self.init(nil, .statusOnly) }
}
