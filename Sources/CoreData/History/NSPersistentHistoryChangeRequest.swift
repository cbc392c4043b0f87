import Foundation

/// Fetches the history of stores, or deletes its oldest part.
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
/// A selection on the entity of transactions may have a predicate, an order and a limit. A selection on the entity of
/// changes keeps the matching changes of each transaction.
///
/// - Throws: when executed, 134301 if transactions after the token have been purged; 134091 if no store keeps a
///   history.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    enum Action {
        case fetchAfterDate(Date)
        case fetchAfterToken(NSPersistentHistoryToken?)
        case deleteBeforeDate(Date)
        case deleteBeforeToken(NSPersistentHistoryToken?)
    }

    let action: Action
    /// The kind of result; for a deletion ``NSPersistentHistoryResultType/count``, otherwise its success.
    open var resultType: NSPersistentHistoryResultType
    /// The selection of transactions or changes among those after the token or date.
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

    /// Creates a placeholder: a request for the whole history.
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

    /// Requests the transactions after that one in its store, and all transactions of other stores; `nil` requests
    /// everything.
    open class func fetchHistory(
        after transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.fetchAfterToken(transaction?.token))
    }

    /// Requests the transactions or changes that the fetch request selects.
    open class func fetchHistory(
        withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentHistoryChangeRequest {
        let request = NSPersistentHistoryChangeRequest(.fetchAfterToken(nil))
        request.fetchRequest = fetchRequest
        return request
    }

    /// Deletes the transactions before that date.
    ///
    /// A reader that has not read them yet gets 134301.
    /// ``NSPersistentStoreCoordinator/purgeHistory(olderThan:keepingAtMost:)`` considers registered readers.
    open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeDate(date))
    }

    /// Deletes the transactions before the token's own, which stays. `nil` deletes nothing, since nothing comes before
    /// the beginning.
    ///
    /// Executing it throws 134301 for a token of other stores.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeToken(token))
    }

    /// Deletes the transactions before that one, which stays, in its store; `nil` deletes nothing.
    open class func deleteHistory(
        before transaction: NSPersistentHistoryTransaction?
    ) -> NSPersistentHistoryChangeRequest {
        NSPersistentHistoryChangeRequest(.deleteBeforeToken(transaction?.token))
    }

    /// Returns a request with the same settings, which can be changed independently.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentHistoryChangeRequest(action)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
        return copy
    }
}
