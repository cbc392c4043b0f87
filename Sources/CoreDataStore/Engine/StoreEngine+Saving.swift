import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

extension StoreEngine {
    /// Writes changes in one transaction: all of them, or nothing.
    ///
    ///     let outcome = try engine.save(keys: [item.root: 2]) { keys in
    ///         changes(withKeys: keys[item.root])       // assigns keys to rows here
    ///     }
    ///     // BEGIN IMMEDIATE; SELECT … FROM Z_PRIMARYKEY; UPDATE Z_PRIMARYKEY …; INSERT INTO ZITEM …; COMMIT
    ///
    /// One statement writes 32 rows if that many are new, or have the same changed columns; one statement deletes any
    /// number of rows with consecutive keys.
    ///
    /// - Parameters:
    ///   - keys: the number of new primary keys that each root entity needs.
    ///   - build: makes the changes with the keys; called once, while the store is locked against other writers.
    ///   - beforeCommit: called after all statements have run; if it throws, they roll back. Without it, the statements
    ///     are sent to a server together with the commit.
    ///
    /// Afterwards the row cache contains the written rows, before another client can save; after a conflict, it
    /// contains the current rows.
    ///
    /// - Throws: ``SaveFailure`` for rows that another writer has changed, and for unique values that exist already;
    ///   ``StoreFailure`` for a read-only store; ``ExternalDataFailure``, ``SQLFailure``, or the error of `build` or
    ///   `beforeCommit`. The store is then unchanged, including the key counters.
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        try save(keys: keys, build: build, beforeCommit: beforeCommit, checkedBy: nil)
    }

    /// Writes changes like ``save(keys:build:beforeCommit:)``; see ``SecuredSource``.
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?,
        checkedBy check: ((any TransactionReading) -> any SaveParticipation)?
    ) throws -> SaveOutcome {
        let writer = ExternalDataWriter(externalData)
        var attempted: ChangeSet?
        do {
            let writesTogether = database.dialect.writesTogether
            let reserved = writesTogether ? try retrying { try takeReservedKeys(keys) } : [:]
            func run(_ connection: any SQLConnection) throws -> SaveOutcome {
                writer.isCommitting = false
                var ranges = reserved
                if !writesTogether {
                    for (root, count) in keys.sorted(by: { $0.key < $1.key }) where count > 0 {
                        ranges[root] = try takeKeys(root: root, count: count, connection)
                    }
                }
                let changes = try attempted ?? build(ranges)
                if attempted == nil { try roundDates(changes) }
                attempted = changes
                if writesTogether { forgetReservedKeys(upTo: changes.insertions) }
                let plan = try SavePlanner(tables: saveTables).plan(changes)
                let participations = try participations(in: connection, checkedBy: check)
                let absorbed = try SaveExecutor(
                    connection: connection, identifier: identifier, externalData: writer,
                    participations: participations
                ).run(plan, of: changes)
                for participation in participations { try participation.willEnd() }
                try connection.settle()
                var outcome = SaveOutcome(
                    keys: ranges, derivedRows: rows(connection.derivedAttributeReports), absorbed: absorbed)
                for participation in participations { try participation.finish(&outcome) }
                try beforeCommit?()
                writer.isCommitting = true
                return outcome
            }
            func save(atOnce: Bool) throws -> SaveOutcome {
                try writeBesideOthers(atOnce: atOnce, run) { outcome in
                    // While the database is open, no other store can replace this one and refer to these files.
                    writer.finish(synchronize: database.synchronize)
                    guard let attempted else { return }
                    if !outcome.absorbed.isEmpty { return commitToCache(attempted, outcome) }
                    rowCache.commit(attempted, changedByStore: uncertainRows(attempted, outcome), at: clock.now)
                }
            }
            let outcome = try retrying {
                do {
                    return try save(atOnce: beforeCommit == nil && check == nil && expectsNoOthers())
                } catch let failure as SQLFailure
                    where failure.kind == .expectation
                {
                    savesBesideOthers.store(tracksHistory ? 16 : 0, ordering: .relaxed)
                    notifyOfRollback()
                    return try save(atOnce: false)
                }
            }
            return outcome
        } catch {
            writer.cancel(after: error)
            keyCounters.withLock { counters in
                for root in keys.keys { counters[root] = nil }
            }
            notifyOfRollback()
            throw try explained(error, attempted)
        }
    }

    /// Returns whether to guess the history's next numbers. If other clients write to the history frequently, the guess
    /// fails, and the failure takes longer than a query.
    private func expectsNoOthers() -> Bool {
        let left = savesBesideOthers.load(ordering: .relaxed)
        if left > 0 { savesBesideOthers.store(left - 1, ordering: .relaxed) }
        return left == 0
    }

    /// Updates the cache. It is unknown which rows received the values of absorbed ones, so these are removed.
    private func commitToCache(_ changes: ChangeSet, _ outcome: SaveOutcome) {
        let roots = Set(outcome.absorbed.map { model.entities[changes.insertions[$0].row.entity].root })
        var changes = changes
        changes.insertions.removeElements(at: outcome.absorbed)
        rowCache.commit(changes, changedByStore: uncertainRows(changes, outcome), at: clock.now)
        for root in roots { rowCache.removeAll(root: root) }
    }

    /// Returns the rows whose derived values in the store may differ from the saved ones: the database changes them
    /// without a new version.
    private func uncertainRows(_ changes: ChangeSet, _ outcome: SaveOutcome) -> [RowKey] {
        guard derivesFromOthers else { return outcome.derivedRows }
        return outcome.derivedRows
            + changes.updates.lazy.map(\.new.key).filter { entitiesWithDerived[$0.entity] }
    }

    /// Returns the columns of a constraint whose conflicts the database can resolve while inserting. The entity must be
    /// alone in its table and have only one constraint. No participant may need the changed rows, because they are
    /// unknown.
    package func absorbs(entity: Int) -> IndexMask? {
        guard !database.dialect.writesTogether, participants.isEmpty else { return nil }
        return (try? saveTables.table(of: entity))?.absorbing
    }

    private func explained(_ error: any Error, _ changes: ChangeSet?) throws -> any Error {
        let failure = error as? SQLFailure
        if let failure { try checkModelAfter(failure) }
        if (error as? StoreFailure)?.kind == .incompleteSchema { try checkModelNow() }
        if let changes, failure?.kind == .unkept { return named(error, in: changes) }
        guard let changes, error is SaveExecutor.RowIsOutdated || failure?.kind == .constraint else { return error }
        let moment = rowCache.moment
        let found = try database.read { connection in
            // On this thread, the engine reads with the same connection, so that its rows have the same state.
            let finder = SaveConflictFinder(tables: saveTables, connection: connection) { key in
                try self.row(key.primaryKey, root: self.model.entities[key.entity].root)
            }
            return try finder.failure(of: changes)
        }
        if case .conflicts(let conflicts) = found { return SaveFailure.conflicts(learned(conflicts, since: moment)) }
        if let found { return found }
        // The conflicting row was deleted meanwhile; a retry succeeds.
        return failure ?? SaveFailure.conflicts([])
    }

    /// Corrects the row cache, and adds to each conflict the row that was cached.
    private func learned(
        _ conflicts: [SaveFailure.Conflict], since moment: RowCache.Moment
    ) -> [SaveFailure.Conflict] {
        conflicts.map { conflict in
            var conflict = conflict
            conflict.cached = rowCache.correct(
                conflict.key, knownAt: conflict.expectedVersion, by: conflict.persisted, readSince: moment,
                at: clock.now)
            return conflict
        }
    }

    private func rows(_ reports: [DerivedAttributeReport]) -> [RowKey] {
        var seen: Set<RowKey> = []
        return reports.compactMap { report in
            guard let entity = layout.ordinalByNumber[report.entityNumber] else { return nil }
            let key = RowKey(entity: entity, primaryKey: report.primaryKey)
            return seen.insert(key).inserted ? key : nil
        }
    }
}
