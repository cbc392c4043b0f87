import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

// What only some sources can do. A caller asks for the protocol; see docs/decisions/seams.md.

/// A source that writes many rows at once, past contexts; see ``BatchWriter``.
package protocol BatchSource: RowSource {
    /// Runs a batch request in one transaction: all of it is written, or nothing.
    ///
    /// - Parameter isRepeatable: Whether `body` may be called again where another client's write conflicted, or the connection was lost.
    func batch<R>(origin: ChangeOrigin, isRepeatable: Bool, _ body: (BatchWriter) throws -> R) throws -> R
}

/// A source that runs statements, and can tell which ones a fetch would run.
package protocol ExplainingSource: RowSource {
    var model: CompiledModel { get }
    /// What a fetch of the plan would run; nothing is run.
    func statement(_ plan: FetchPlan, _ form: FetchedForm) throws -> PlannedStatement
    /// What a fetch of the plan would run, and how the database would go about it.
    func explain(_ plan: FetchPlan, _ form: FetchedForm) throws -> ExplainedStatement
    /// As ``explain(_:_:)``, of whole rows.
    func explain(_ plan: FetchPlan) throws -> (sql: String, bindings: [SQLValue], plan: [String])
}

/// A source whose statements can be observed.
package protocol ObservableSource: RowSource {
    /// Shows the observer every statement of the calls that begin from now on.
    func addObserver(_ observer: any SQLObserver)
    /// Ends what ``addObserver(_:)`` began.
    func removeObserver(_ observer: any SQLObserver)
}

/// A source whose migrations can put off a part of their work.
package protocol DeferringSource: RowSource {
    /// Does the next task that was put off, in a transaction of its own.
    ///
    /// - Parameter document: the store's model.
    /// - Returns: whether there was one.
    func finishDeferredTask(_ document: ModelDocument) throws -> Bool
}

/// A source that may lie in a file, which can be moved while the source is open.
package protocol MovableSource: RowSource {
    /// Whether it lies in a file.
    var isInFile: Bool { get }
    /// Reads and writes the file at that path from now on: the same store, which was copied or moved there.
    ///
    /// - Throws: ``StoreFailure`` for another file; nothing has changed then.
    func move(to path: String) throws
}

/// A source whose rows are one value.
package protocol WholeSource: RowSource {
    /// Everything that it has now.
    var contents: MemoryContents { get }
}

// MARK: Copies

/// A source with tables: a copy reads it in portions of the source's choice, and can keep its keys.
package protocol CopyableSource: RowSource {
    /// Runs `body`, whose reads on this thread are of one moment.
    func readingOneMoment<R>(_ body: () throws -> R) throws -> R
    /// The highest key that was given out in each hierarchy, by root entity; its row may have been deleted.
    func highestKeys() throws -> [Int: Int64]
    /// The rows of that very entity, in portions; few of them are in memory at a time.
    func forEachPortion(of entity: Int, _ take: (RowList) throws -> Void) throws
    /// The keys of the members of a to-many for each of those owners, for a portion of owners at a time.
    func forEachPortion(
        ofOwnersOf property: CompiledProperty, _ take: ([(owner: Int64, destinations: [Int64])]) throws -> Void
    ) throws
}

/// A source that a copy can fill portion by portion.
package protocol CopyTarget: RowSource {
    /// The number of rows that one save of a copy has: small enough to stay in memory, large enough to be worth its save.
    var copiedPortion: Int { get }
    /// Whether a key is given out once for all entities, so that rows of other sources need new ones.
    var sharesKeys: Bool { get }
    /// Runs the copy. A source that writes everything with each save writes once, at the end.
    func filling(_ body: () throws -> Void) throws
    /// Finishes the copy when all rows are written: keys that the origin gave to rows which were deleted are not given out again.
    ///
    /// - Parameters:
    ///   - highestKeys: the highest key that the origin gave out in each hierarchy, by root entity.
    ///   - wasResumed: whether a copy before this one had begun, and may have left files that no row refers to.
    func endCopy(highestKeys: () throws -> [Int: Int64], wasResumed: Bool) throws
    /// Those of the owners that have members in the relationship.
    func ownersWithMembers(of property: CompiledProperty, among owners: [Int64]) throws -> Set<Int64>
}
