import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// One save in a store's history: its author, its time and its changes.
///
///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
///     let result = try context.execute(request) as? NSPersistentHistoryResult
///     for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///         view.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///     }
open class NSPersistentHistoryTransaction: NSObject, NSCopying, @unchecked Sendable {
    // Safe because everything is set before other code has the transaction.

    /// The transaction's number in its store, which grows by one with each.
    public let transactionNumber: Int64
    /// When it was committed.
    public let timestamp: Date
    /// The UUID of the store.
    public let storeID: String
    /// The bundle identifier of the program that saved, or its name if it was no bundle.
    public let bundleID: String
    /// The name of the program that saved.
    public let processID: String
    /// The context's `name`.
    public let contextName: String?
    /// The context's `transactionAuthor`.
    public let author: String?
    /// The changes, if the request asked for them.
    public let changes: [NSPersistentHistoryChange]?
    /// The position right behind the transaction.
    public let token: NSPersistentHistoryToken

    init(
        transactionNumber: Int64, timestamp: Date, storeID: String, bundleID: String, processID: String,
        contextName: String?, author: String?, changes: [NSPersistentHistoryChange]?
    ) {
        self.transactionNumber = transactionNumber
        self.timestamp = timestamp
        self.storeID = storeID
        self.bundleID = bundleID
        self.processID = processID
        self.contextName = contextName
        self.author = author
        self.changes = changes
        token = NSPersistentHistoryToken([storeID: transactionNumber])
        super.init()
        for change in changes ?? [] { change.ownTransaction = self }
    }

    /// Creates a placeholder: a transaction of no store, without changes.
    public convenience override init() {
        self.init(
            transactionNumber: 0, timestamp: Date(timeIntervalSinceReferenceDate: 0), storeID: "", bundleID: "",
            processID: "", contextName: nil, author: nil, changes: nil)
    }

    /// The same with those changes.
    func with(_ changes: [NSPersistentHistoryChange]?) -> NSPersistentHistoryTransaction {
        NSPersistentHistoryTransaction(
            transactionNumber: transactionNumber, timestamp: timestamp, storeID: storeID, bundleID: bundleID,
            processID: processID, contextName: contextName, author: author, changes: changes)
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// A notification as a context posts after a save, with the IDs of what changed: for
    /// `mergeChanges(fromContextDidSave:)`, in any context that has the store.
    ///
    /// Of an object that the transaction inserted or updated and deleted, only the deletion is in it.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        for change in changes ?? [] { ids[change.changeType, default: []].insert(change.changedObjectID) }
        let deleted = ids[.delete] ?? []
        let inserted = (ids[.insert] ?? []).subtracting(deleted)
        let updated = (ids[.update] ?? []).subtracting(deleted).subtracting(inserted)
        var userInfo: [AnyHashable: Any] = [:]
        for (key, ids) in [
            (NSInsertedObjectIDsKey, inserted), (NSUpdatedObjectIDsKey, updated), (NSDeletedObjectIDsKey, deleted),
        ] where !ids.isEmpty { userInfo[key] = ids }
        return Notification(name: ContextNotification.didSaveObjectIDs.name, object: nil, userInfo: userInfo)
    }

    /// The entity `TRANSACTION`, for a request that selects transactions; see ``NSPersistentHistoryChangeRequest``.
    ///
    /// Its attributes: `author`, `bundleID`, `contextName`, `processID`, `timestamp`, `token`, `transactionNumber`.
    /// Predicates may also ask for `storeID` and `changes`.
    open class var entityDescription: NSEntityDescription? { HistoryModel.transaction }

    /// As ``entityDescription``; `nil` for a context without a coordinator.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        context.persistentStoreCoordinator == nil ? nil : HistoryModel.transaction
    }

    /// A new request for transactions, to be given a predicate and to be put into a history request.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryModel.request(HistoryModel.transaction)
    }

    open override var description: String {
        "<NSPersistentHistoryTransaction: \(transactionNumber) of store \(storeID), "
            + "\(author.map { "author '\($0)'" } ?? "no author"), \(timestamp)>"
    }
}

extension NSPersistentHistoryTransaction: NSFetchRequestResult {}

extension NSPersistentHistoryTransaction: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        func text(_ text: String?) -> Operand { text.map { .value(.string($0)) } ?? .null }
        switch key {
        case "self": return .object(self)
        case "author": return text(author)
        case "bundleID": return text(bundleID)
        case "contextName": return text(contextName)
        case "processID": return text(processID)
        case "storeID": return text(storeID)
        case "timestamp": return .value(.date(timestamp.timeIntervalSinceReferenceDate))
        // Tokens in a predicate become their numbers in this store.
        case "token", "transactionNumber": return .value(.integer(transactionNumber))
        case "changes": return .collection((changes ?? []).map { .object($0) }, isOrdered: true)
        default:
            throw PredicateFailure(
                .evaluation,
                Diagnostic(
                    .error,
                    "a history transaction has no key '\(key)'; it has: author, bundleID, changes, contextName, processID, "
                        + "storeID, timestamp, token, transactionNumber"), subexpression: key)
        }
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool { self === other }
    package var predicateHash: Int { hash }
    package var predicateDescription: String { description }
    package func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
