import Foundation

/// Asks stores for what their history has, or deletes its beginning.
///
/// The stores must have been added with ``NSPersistentHistoryTrackingKey``.
///
///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
///     if let selection = NSPersistentHistoryTransaction.fetchRequest {
///         selection.predicate = NSPredicate(format: "author != %@", "app")
///         request.fetchRequest = selection
///     }
///     let result = try context.execute(request) as? NSPersistentHistoryResult
///     let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
///     // SELECT … FROM ATRANSACTION WHERE Z_PK > ? ORDER BY Z_PK; SELECT … FROM ACHANGE WHERE ZTRANSACTIONID BETWEEN ? AND ?
///
/// A selection on the entity of transactions may have a predicate, an order and a limit; one on that of changes
/// leaves of each transaction the changes that it selects.
///
/// - Throws: when executed, 134301 for a token that the history no longer has everything after; 134091 where no store keeps a
///   history.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    enum Action {
        case fetchAfterDate(Date)
        case fetchAfterToken(NSPersistentHistoryToken?)
        case deleteBeforeDate(Date)
        case deleteBeforeToken(NSPersistentHistoryToken?)
    }

    let action: Action
    /// What is returned; of a deletion ``NSPersistentHistoryResultType/count`` or else its success.
    open var resultType: NSPersistentHistoryResultType
    /// Which transactions or changes are wanted, of those that are late enough.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?
    /// The token with which the request was made.
    open var token: NSPersistentHistoryToken? {
        switch action {
        case .fetchAfterToken(let token), .deleteBeforeToken(let token): token
        case .fetchAfterDate, .deleteBeforeDate: nil
        }
    }

    init(_ action: Action) {
        self.action = action
        switch action {
        case .fetchAfterDate, .fetchAfterToken: resultType = .transactionsAndChanges
        case .deleteBeforeDate, .deleteBeforeToken: resultType = .statusOnly
        }
    }

    /// Makes a stand-in, where one is wanted: as a request for the whole history.
    public convenience override init() { self.init(.fetchAfterToken(nil)) }

    open override var requestType: NSPersistentStoreRequestType { .historyRequestType }

    /// Asks for the transactions that were made after that date.
    open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetchAfterDate(date))
    }

    /// Asks for the transactions after the token; for all of a store that is not in it, and for everything with `nil`.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetchAfterToken(token))
    }

    /// Asks for the transactions after that one, in its store, and for all of other stores; for everything with `nil`.
    open class func fetchHistory(
        after transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetchAfterToken(transaction?.token))
    }

    /// Asks for what the request on the entity of transactions or of changes selects.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentHistoryChangeRequest {
        let request = NSPersistentHistoryChangeRequest(.fetchAfterToken(nil))
        request.fetchRequest = fetchRequest
        return request
    }

    /// Deletes the transactions that were made before that date.
    ///
    /// Whoever has not read them yet finds out by 134301; ``NSPersistentStoreCoordinator/purgeHistory(olderThan:keepingAtMost:)``
    /// asks those who said that they read.
    open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeDate(date))
    }

    /// Deletes the transactions before the token's own, which stays; nothing with `nil`, since nothing comes before the beginning.
    ///
    /// Executing it throws 134301 for a token of other stores.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeToken(token))
    }

    /// Deletes the transactions before that one, which stays, in its store; nothing with `nil`.
    open class func deleteHistory(
        before transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeToken(transaction?.token))
    }

    /// A request with the same settings, which can be changed without changing this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentHistoryChangeRequest(action)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
        return copy
    }
}
