import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

// The optional capabilities of sources. A caller asks for the protocol; see docs/decisions/seams.md.

/// A source that runs statements, and can show the statements of a fetch.
package protocol ExplainingSource: RowSource {
    var model: CompiledModel { get }
    /// Returns the statement that a fetch of the plan would run, without running it.
    func statement(_ plan: FetchPlan, _ form: FetchedForm) throws -> PlannedStatement
    /// Returns the statement that a fetch of the plan would run, and the database's plan for it.
    func explain(_ plan: FetchPlan, _ form: FetchedForm) throws -> ExplainedStatement
    /// Explains a fetch of whole rows; see ``explain(_:_:)``.
    func explain(_ plan: FetchPlan) throws -> (sql: String, bindings: [SQLValue], plan: [String])
}

/// A source that applies ``FetchPlan/security``, and lets a caller check a save inside its transaction.
package protocol SecuredSource: RowSource {
    var model: CompiledModel { get }
    /// Saves like ``RowSource/save(keys:build:beforeCommit:)``. `check` makes the caller's part in the transaction,
    /// whose errors roll back. It is called again if the transaction is retried.
    func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?,
        checkedBy check: ((any TransactionReading) -> any SaveParticipation)?
    ) throws -> SaveOutcome
}

/// Reads inside a transaction that writes: the state that it has written so far. Nothing that it reads is cached.
package protocol TransactionReading {
    /// Returns the keys of the rows that the plan selects, each with its row's own entity.
    ///
    /// - Throws: ``PredicateFailure`` if the database cannot evaluate the whole plan.
    func keys(_ plan: FetchPlan) throws -> [RowKey]
    /// Returns the members of a to-many relationship of the owners, which need not exist any more.
    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [RowKey]
    /// Returns the objects to which a to-one relationship of the plan's rows refers.
    func destinationKeys(_ plan: FetchPlan, toOne name: String) throws -> [RowKey]
}

/// A source whose statements can be observed.
package protocol ObservableSource: RowSource {
    /// Adds an observer of every statement in calls that begin from now on.
    func addObserver(_ observer: any SQLObserver)
    /// Removes an observer that ``addObserver(_:)`` added.
    func removeObserver(_ observer: any SQLObserver)
}

/// A source that reads the keys of a relationship's members without the members' rows.
package protocol MemberKeySource: RowSource {
    /// The keys of the members of a to-many relationship for each owner, in the relationship's order if it has one.
    func destinationKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [(owner: Int64, keys: [RowKey])]
}

/// A source whose migrations can put off a part of their work.
package protocol DeferringSource: RowSource {
    /// Executes the next deferred task, in a transaction of its own.
    ///
    /// - Parameter document: the store's model.
    /// - Returns: whether there was a task.
    func finishDeferredTask(_ document: ModelDocument) throws -> Bool
}

/// A source that may be stored in a file, which can be moved while the source is open.
package protocol MovableSource: RowSource {
    /// Whether it is stored in a file.
    var isInFile: Bool { get }
    /// Switches to the file at the path: the same store, which was copied or moved there.
    ///
    /// - Throws: ``StoreFailure`` for another store; then nothing has changed.
    func move(to path: String) throws
}

/// A source that keeps notes of transactions.
package protocol NotingSource: RowSource {
    /// Whether it was opened with the option for notes.
    var keepsNotes: Bool { get }
    /// Returns the content of the note with the key; `nil` if no committed transaction wrote it.
    func note(_ key: String) throws -> Data?
    /// Deletes the notes that are older; returns their number.
    func deleteNotes(before time: Double) throws -> Int
}

// MARK: Copies

/// A source with tables: a copy reads it in portions that the source determines, and can keep its keys.
package protocol CopyableSource: RowSource {
    /// Runs `body`; its reads on this thread see one snapshot.
    func readingOneMoment<R>(_ body: () throws -> R) throws -> R
    /// Returns the highest assigned key of each hierarchy, by root entity; its row may have been deleted.
    func highestKeys() throws -> [Int: Int64]
    /// Iterates over the rows of exactly this entity in portions; few of them are in memory at a time.
    func forEachPortion(of entity: Int, _ take: (RowList) throws -> Void) throws
    /// Iterates over the keys of a to-many's members for these owners, in portions of owners.
    func forEachPortion(
        ofOwnersOf property: CompiledProperty, _ take: ([(owner: Int64, destinations: [Int64])]) throws -> Void
    ) throws
}

/// A source that a copy can fill in portions.
package protocol CopyTarget: RowSource {
    /// The number of rows per save of a copy: small enough for memory, large enough to be efficient.
    var copiedPortion: Int { get }
    /// Whether keys are unique over all entities, so that rows of other sources need new ones.
    var sharesKeys: Bool { get }
    /// Runs the copy. A source that rewrites everything with each save writes only once, at the end.
    func filling(_ body: () throws -> Void) throws
    /// Finishes the copy after all rows were written: keys that the origin assigned to deleted rows are not assigned
    /// again.
    ///
    /// - Parameters:
    ///   - highestKeys: the highest key that the origin assigned in each hierarchy, by root entity.
    ///   - wasResumed: whether an earlier copy was interrupted, and may have left files that no row refers to.
    func endCopy(highestKeys: () throws -> [Int: Int64], wasResumed: Bool) throws
    /// Returns the owners that have members in the relationship.
    func ownersWithMembers(of property: CompiledProperty, among owners: [Int64]) throws -> Set<Int64>
}
