import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Finds all conflicts of a save to a ``MemoryEngine``, not only the first.
struct MemorySave {
    let graph: MemoryGraph

    func failure(of changes: ChangeSet) -> SaveFailure? {
        let conflicts = conflicts(changes)
        if !conflicts.isEmpty { return .conflicts(conflicts) }
        let violations = violations(changes)
        return violations.isEmpty ? nil : .constraints(violations)
    }

    /// - Throws: for a new row with the key of another row of its hierarchy.
    func checkKeys(_ changes: ChangeSet) throws {
        func rootKey(_ key: RowKey) -> RowKey {
            RowKey(entity: graph.model.entities[key.entity].root, primaryKey: key.primaryKey)
        }
        let gone = Set(changes.deletions.map { rootKey($0.key) })
        var keys: Set<RowKey> = []
        for insertion in changes.insertions {
            let key = rootKey(insertion.row.key)
            let root = key.entity
            let isThere = !gone.contains(key) && graph.row(key.primaryKey, root: root) != nil
            guard isThere || !keys.insert(key).inserted else { continue }
            throw SQLFailure(
                kind: .constraint, code: 0,
                message: "a row of entity '\(graph.model.entities[root].name)' has the primary key \(key.primaryKey)")
        }
    }

    // MARK: Stale rows

    private func conflicts(_ changes: ChangeSet) -> [SaveFailure.Conflict] {
        // A row to delete that is already missing is no conflict.
        let deletions = changes.deletions.filter { row($0.key) != nil }
        let expected =
            changes.updates.map { (key: $0.old.key, version: $0.old.version) }
            + deletions.map { (key: $0.key, version: $0.version) }
            + changes.checks.map { (key: $0.key, version: $0.version) }
        // Rows to restore that another client has already restored.
        let again = changes.insertions.filter { $0.row.version != 1 }.compactMap { insertion in
            row(insertion.row.key).map {
                SaveFailure.Conflict(key: insertion.row.key, expectedVersion: 0, persisted: $0)
            }
        }
        return again
            + expected.compactMap { key, version in
                let row = row(key)
                guard row?.version != version else { return nil }
                var conflict = SaveFailure.Conflict(key: key, expectedVersion: version, persisted: row)
                conflict.cached = row
                return conflict
            }
    }

    private func row(_ key: RowKey) -> RowSnapshot? {
        graph.row(key.primaryKey, root: graph.model.entities[key.entity].root)
    }

    // MARK: Unique values

    private struct Claim: Hashable {
        var constraint: Constraint
        var values: [SQLValue]
    }

    private struct Holder {
        var key: RowKey
        var isStored = false
        var insertion: Int?
    }

    private struct Constraint: Hashable {
        var entity: Int
        var slots: [Int]
    }

    private func violations(_ changes: ChangeSet) -> [SaveFailure.ConstraintViolation] {
        // Changed rows are checked with their new values; rows that keep their values come first.
        let updates =
            changes.updates.filter { !changesUniqueValue($0) } + changes.updates.filter { changesUniqueValue($0) }
        let changed = updates.map { ($0.new, nil) } + changes.insertions.enumerated().map { ($1.row, $0 as Int?) }
        let constraints = Set(changed.flatMap { self.constraints(of: $0.0.entity) })
        guard !constraints.isEmpty else { return [] }
        let gone = Set(changes.deletions.map(\.key)).union(changes.updates.map(\.old.key))
        var holders: [Claim: Holder] = [:]
        for constraint in constraints {
            for row in graph.rows(of: constraint.entity, includesSubentities: true) where !gone.contains(row.key) {
                if let values = values(of: row, constraint) {
                    holders[Claim(constraint: constraint, values: values)] = Holder(key: row.key, isStored: true)
                }
            }
        }
        var violations: [SaveFailure.ConstraintViolation] = []
        for (row, insertion) in changed {
            for constraint in self.constraints(of: row.entity) {
                guard let values = values(of: row, constraint) else { continue }
                let claim = Claim(constraint: constraint, values: values)
                if let existing = holders[claim] {
                    var violation = SaveFailure.ConstraintViolation(
                        entity: constraint.entity, slots: constraint.slots, changed: row.key, existing: existing.key)
                    violation.isExistingStored = existing.isStored
                    violation.changedInsertion = insertion
                    violation.existingInsertion = existing.insertion
                    violations.append(violation)
                } else {
                    holders[claim] = Holder(key: row.key, insertion: insertion)
                }
            }
        }
        return violations
    }

    private func changesUniqueValue(_ update: ChangeSet.Update) -> Bool {
        constraints(of: update.new.entity).contains { values(of: update.old, $0) != values(of: update.new, $0) }
    }

    /// Returns the constraints of the entity and its ancestors.
    private func constraints(of entity: Int) -> [Constraint] {
        var constraints: [Constraint] = []
        var next: Int? = entity
        while let ordinal = next {
            let declaring = graph.model.entities[ordinal]
            constraints += declaring.uniquenessConstraints.map { Constraint(entity: ordinal, slots: $0) }
            next = declaring.parent
        }
        return constraints
    }

    /// Returns the values; `nil` if one of them is nil, because such a row has no conflicts.
    private func values(of row: RowSnapshot, _ constraint: Constraint) -> [SQLValue]? {
        let layout = graph.model.entities[row.entity].rowLayout
        return row.values(constraint.slots.map { layout.columnOfSlot[$0] }, layout.kinds)
    }
}
