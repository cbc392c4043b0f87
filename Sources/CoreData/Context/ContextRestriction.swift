import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Restricts what a context reads and writes, such as permissions.
///
/// ```
///  context ──reads──▶ source(_:of:) ──▶ the store or its generation
///          ──saves──▶ save(to:…)    ──▶ the store
/// ```
/// A context without a restriction reads and saves its stores directly. Child contexts read and save through the
/// restricted context.
package protocol ContextRestriction: AnyObject, Sendable {
    /// Throws if the rows of the store cannot be restricted.
    func check(_ store: any RowSource, named name: String) throws
    /// Returns the rows of `base` that the context may read. It cannot throw: the reads of a store that cannot be
    /// restricted fail.
    func source(_ base: any ReadableSource, of store: any RowSource) -> any ReadableSource
    /// Returns the plan of a request that reads.
    func readable(_ plan: FetchPlan) -> FetchPlan
    /// Returns whether rows of the entity may contain NULL in place of a value that the context may not read.
    func mayHide(slot: Int, ofEntity entity: Int) -> Bool
    /// Saves to the store; see ``RowSource/save(keys:build:beforeCommit:)``.
    func save(
        to store: any RowSource, keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet,
        beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome

    // MARK: Batch requests

    /// Throws if the context may not insert objects of the entity.
    func checkInsertion(of entity: Int) throws
    /// Returns the plan of the rows that a batch request may update or delete.
    ///
    /// - Parameter slots: the properties that an update sets; `nil` for a deletion.
    func writable(_ plan: FetchPlan, setting slots: [Int]?) throws -> FetchPlan
    /// Returns the check of a batch request in its transaction.
    func batchCheck(of store: any RowSource) throws -> ((any TransactionReading) -> any SaveParticipation)

    // MARK: History

    /// Returns the changes that the context may read.
    func readable(_ records: [HistoryChangeRecord], in store: any RowSource) throws -> [HistoryChangeRecord]
    /// The error for a deletion of history.
    var refusalOfPurging: any Error { get }
}

/// Most contexts have no restriction: they read and write everything.
extension Optional where Wrapped == any ContextRestriction {
    func readable(_ plan: FetchPlan) -> FetchPlan { self?.readable(plan) ?? plan }

    func writable(_ plan: FetchPlan, setting slots: [Int]?) throws -> FetchPlan {
        try self?.writable(plan, setting: slots) ?? plan
    }

    /// Returns the plan of the rows with these keys that a batch request may delete; `nil` without a restriction.
    func deletable(_ keys: [RowKey], of entity: Int) throws -> FetchPlan? {
        var plan = FetchPlan(entity: entity)
        plan.predicate = .rows(keys)
        return try self?.writable(plan, setting: nil)
    }

    func mayHide(slot: Int, ofEntity entity: Int) -> Bool { self?.mayHide(slot: slot, ofEntity: entity) ?? false }

    func save(
        to store: any RowSource, keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet,
        beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        guard let self else { return try store.save(keys: keys, build: build, beforeCommit: beforeCommit) }
        return try self.save(to: store, keys: keys, build: build, beforeCommit: beforeCommit)
    }

    func readable(_ records: [HistoryChangeRecord], in store: any RowSource) throws -> [HistoryChangeRecord] {
        try self?.readable(records, in: store) ?? records
    }

    /// Throws if there is a restriction.
    func checkPurging() throws { if let self { throw self.refusalOfPurging } }
}
