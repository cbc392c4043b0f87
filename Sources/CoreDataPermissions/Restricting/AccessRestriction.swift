import CoreData
import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Applies the rules of one accessor to the reads and saves of a context.
final class AccessRestriction: ContextRestriction {
    let access: CompiledAccess
    private var model: CompiledModel { access.model }

    init(_ access: CompiledAccess) { self.access = access }

    // MARK: Stores

    func check(_ store: any RowSource, named name: String) throws {
        if let refusal = refusal(of: store, named: name) { throw refusal }
    }

    private func refusal(of store: any RowSource, named name: String) -> AccessError? {
        guard let secured = store as? any SecuredSource else {
            return AccessError(
                reason:
                    "\(name) cannot be restricted: permissions need a store that is a database, SQLite in a file or in memory, or a server"
            )
        }
        guard secured.model === model || secured.model.hasSameEntities(as: model) else {
            return AccessError(
                reason: "\(name) has another model than the rules: make them with the coordinator's managedObjectModel")
        }
        return nil
    }

    func source(_ base: any ReadableSource, of store: any RowSource) -> any ReadableSource {
        RestrictedSource(base, access, refusal: refusal(of: store, named: "The store \(store.identifier)"))
    }

    // MARK: Reading

    func readable(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        plan.security = access.security
        return plan
    }

    func mayHide(slot: Int, ofEntity entity: Int) -> Bool {
        access.security.mayHide(slot: slot, of: model.entities[entity])
    }

    // MARK: Saving

    func save(
        to store: any RowSource, keys: [Int: Int], build: ([Int: ClosedRange<Int64>]) throws -> ChangeSet,
        beforeCommit: (() throws -> Void)?
    ) throws -> SaveOutcome {
        guard let secured = store as? any SecuredSource else {
            throw AccessError(reason: "The store \(store.identifier) cannot be restricted, and nothing was saved")
        }
        var attempted: ChangeSet?
        do {
            return try secured.save(
                keys: keys,
                build: { keys in
                    var changes = try build(keys)
                    try HiddenValues(access, secured).restore(in: &changes)
                    attempted = changes
                    return changes
                }, beforeCommit: beforeCommit, checkedBy: { AccessCheck(self.access, $0, isBatch: false) })
        } catch let failure as SaveFailure {
            guard case .constraints(let violations) = failure, let attempted else {
                throw try visible(failure, in: secured)
            }
            throw try visible(ConstraintTrial(access, secured).answer(to: violations, of: attempted), in: secured)
        }
    }

    /// Returns the error without rows and values that the accessor may not read.
    private func visible(_ error: any Error, in store: any SecuredSource) throws -> any Error {
        guard let failure = error as? SaveFailure else { return error }
        let source = RestrictedSource(store, access, refusal: nil)
        switch failure {
        case .conflicts(let conflicts):
            return SaveFailure.conflicts(
                try conflicts.map { conflict in
                    var conflict = conflict
                    conflict.cached = nil
                    if conflict.persisted != nil {
                        conflict.persisted = try source.row(
                            conflict.key.primaryKey, root: model.entities[conflict.key.entity].root, staleness: 0)
                    }
                    return conflict
                })
        case .constraints:
            return failure
        }
    }

    // MARK: Batch requests

    func checkInsertion(of entity: Int) throws {
        if case .constant(false) = access.condition(.create, entity) { throw access.denied(.create, entity) }
    }

    func writable(_ plan: FetchPlan, setting slots: [Int]?) throws -> FetchPlan {
        let subtree = model.entities[plan.entity].subtree
        var conditions = [PredicateNode?](repeating: nil, count: model.entities.count)
        for entity in subtree {
            let whole = access.condition(slots == nil ? .delete : .update, entity)
            let parts = (slots ?? []).compactMap { access.updateCondition(slot: $0, of: entity) }
            conditions[entity] = RuleCompiler.condition(RuleCompiler.and([whole] + parts))
        }
        var plan = plan
        plan.security = access.security.selecting(conditions)
        return plan
    }

    func batchCheck(of store: any RowSource) throws -> ((any TransactionReading) -> any SaveParticipation) {
        guard store is any SecuredSource else {
            throw AccessError(reason: "The store \(store.identifier) cannot be restricted, and nothing was changed")
        }
        return { AccessCheck(self.access, $0, isBatch: true) }
    }

    // MARK: History

    var refusalOfPurging: any Error {
        AccessError(reason: "A restricted context cannot delete history: use a context without restriction")
    }

    func readable(_ records: [HistoryChangeRecord], in store: any RowSource) throws -> [HistoryChangeRecord] {
        var keys: [Int: Set<RowKey>] = [:]
        for record in records where record.kind != .deletion { keys[record.key.entity, default: []].insert(record.key) }
        var readable: Set<RowKey> = []
        for (entity, keys) in keys {
            if let rule = access.security.rows[entity] {
                readable.formUnion(try store.keys(of: Array(keys), where: rule))
            } else {
                readable.formUnion(keys)
            }
        }
        return records.compactMap { record in
            let entity = record.key.entity
            // The rule of a deleted row cannot be evaluated any more.
            guard record.kind == .deletion ? access.security.rows[entity] == nil : readable.contains(record.key) else {
                return nil
            }
            var record = record
            let isHidden = { (slot: Int) in self.access.security.properties[entity][slot] != nil }
            let changed = record.changedSlots.filter { !isHidden($0) }
            if record.kind == .update, changed.isEmpty, !record.changedSlots.isEmpty { return nil }
            record.changedSlots = changed
            record.tombstoneSlots.removeAll(where: isHidden)
            return record
        }
    }
}

extension CompiledModel {
    /// Whether the entities have the same ordinals, and their properties the same slots.
    fileprivate func hasSameEntities(as other: CompiledModel) -> Bool {
        entities.count == other.entities.count
            && zip(entities, other.entities).allSatisfy { $0.name == $1.name && $0.versionHash == $1.versionHash }
    }
}
