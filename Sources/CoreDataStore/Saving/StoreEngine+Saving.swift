import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization

extension StoreEngine {
    /// Writes changes in one transaction: all of them, or nothing.
    ///
    ///     let outcome = try engine.save(keys: [item.root: 2]) { keys in
    ///         changes(withKeys: keys[item.root])       // rows get their keys here
    ///     }
    ///     // BEGIN IMMEDIATE; SELECT … FROM Z_PRIMARYKEY; UPDATE Z_PRIMARYKEY …; INSERT INTO ZITEM …; COMMIT
    ///
    /// A statement writes 32 rows where as many are new, or have the same changed columns; one deletes any number of
    /// rows with consecutive keys.
    ///
    /// - Parameters:
    ///   - keys: How many new primary keys each root entity needs.
    ///   - build: Makes the changes with the keys; called once, while the store is locked for other writers.
    ///   - beforeCommit: Called when all statements have run; where it throws, they are rolled back. Without it they go to a server
    ///     together with the commit.
    /// What was written is in the row cache then, before anybody else can save; after a conflict it has the rows as they are.
    ///
    /// - Throws: ``SaveFailure`` for rows that another writer has changed and for unique values that are taken,
    ///   ``StoreFailure`` for a store that is read only, ``ExternalDataFailure``, ``SQLFailure``, or what `build`
    ///   or `beforeCommit` throws. The store is then as it was, the counters of keys included.
    package func save(
        keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet, beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        let writer = ExternalDataWriter(externalData)
        var attempted: ChangeSet?
        do {
            let writesTogether = database.dialect.writesTogether
            let reserved = writesTogether ? try retrying { try takeReservedKeys(keys) } : [:]
            func run(_ connection: any SQLConnection) throws -> SaveOutcome {
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
                let participations = try participations(in: connection)
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
                return outcome
            }
            func save(atOnce: Bool) throws -> SaveOutcome {
                try writeBesideOthers(atOnce: atOnce, run) { outcome in
                    // While the database is open: nobody can have put another store here that refers to these files.
                    writer.finish()
                    guard let attempted else { return }
                    if !outcome.absorbed.isEmpty { return commitToCache(attempted, outcome) }
                    rowCache.commit(attempted, changedByStore: uncertainRows(attempted, outcome), at: clock.now)
                }
            }
            let outcome = try retrying {
                do { return try save(atOnce: beforeCommit == nil && expectsNoOthers()) } catch let failure as SQLFailure
                    where failure.kind == .expectation
                {
                    savesBesideOthers.store(tracksHistory ? 16 : 0, ordering: .relaxed)
                    tellOfRollback()
                    return try save(atOnce: false)
                }
            }
            return outcome
        } catch {
            writer.cancel()
            keyCounters.withLock { counters in
                for root in keys.keys { counters[root] = nil }
            }
            tellOfRollback()
            throw try explained(error, attempted)
        }
    }

    /// Where others write to the history all the time its numbers are another's, and to be told so by a failure takes longer than to ask.
    private func expectsNoOthers() -> Bool {
        let left = savesBesideOthers.load(ordering: .relaxed)
        if left > 0 { savesBesideOthers.store(left - 1, ordering: .relaxed) }
        return left == 0
    }

    /// Which rows took the values of those that did not come is not known.
    private func commitToCache(_ changes: ChangeSet, _ outcome: SaveOutcome) {
        let roots = Set(outcome.absorbed.map { model.entities[changes.insertions[$0].row.entity].root })
        var changes = changes
        changes.insertions.removeElements(at: outcome.absorbed)
        rowCache.commit(changes, changedByStore: uncertainRows(changes, outcome), at: clock.now)
        for root in roots { rowCache.removeAll(root: root) }
    }

    /// The rows of which the store has, or may have, other derived values than the saver: it gives a row no version when it changes them.
    private func uncertainRows(_ changes: ChangeSet, _ outcome: SaveOutcome) -> [RowKey] {
        guard derivesFromOthers else { return outcome.derivedRows }
        return outcome.derivedRows
            + changes.updates.lazy.map(\.new.key).filter { entitiesWithDerived[$0.entity] }
    }

    /// Rows of an entity alone in its table, with one constraint: which rows took values of which new ones is not found out, so that no
    /// participant could be told.
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
            try SaveInquest(engine: self, connection: connection).failure(of: changes)
        }
        if case .conflicts(let conflicts) = found { return SaveFailure.conflicts(learned(conflicts, since: moment)) }
        if let found { return found }
        // The row that was in the way has gone meanwhile; to save again will do.
        return failure ?? SaveFailure.conflicts([])
    }

    /// Puts right what the row cache has of the rows, and notes with each conflict what it had.
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
