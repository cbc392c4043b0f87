import CoreDataModel
import CoreDataPrimitives
import CoreDataStore

// Converts the engine's conflicts into those of merge policies.
extension SavePreparation {
    /// To be asked while new objects have the keys that the engine was told.
    func conflicts(_ failure: SaveFailure) -> SaveConflicts {
        switch failure {
        case .conflicts(let conflicts):
            return SaveConflicts(
                rows: conflicts.map { conflict in
                    NSMergeConflict(
                        object(for: conflict.key), in: store, expectedVersion: conflict.expectedVersion,
                        cached: conflict.cached, persisted: conflict.persisted)
                }, in: store)
        case .constraints(let violations):
            return SaveConflicts(values: conflicts(violations), in: store)
        }
    }

    /// One for each row with the values and object that wants them, one for all objects that want them and have no row.
    private func conflicts(_ violations: [SaveFailure.ConstraintViolation]) -> [NSConstraintConflict] {
        guard let model = context.coordinator?.runtime else { return [] }
        var conflicts: [NSConstraintConflict] = []
        var groups: [ConstraintGroup: Int] = [:]
        var members: [(names: [String], objects: [NSManagedObject])] = []
        for violation in violations {
            let runtime = model.entities[violation.entity]
            let names = violation.slots.map { runtime.slots[$0].name }
            let changed = object(for: violation.changed, insertion: violation.changedInsertion)
            if violation.isExistingStored {
                let existing = context.object(for: violation.existing, in: store)
                conflicts.append(NSConstraintConflict(constraint: names, database: existing, conflicting: [changed]))
                continue
            }
            let group = ConstraintGroup(
                entity: violation.entity, slots: violation.slots, existing: violation.existing)
            if let place = groups[group] {
                members[place].objects.append(changed)
            } else {
                groups[group] = members.count
                let existing = object(for: violation.existing, insertion: violation.existingInsertion)
                members.append((names, [existing, changed]))
            }
        }
        return members.map { NSConstraintConflict(constraint: $0.names, database: nil, conflicting: $0.objects) }
            + conflicts
    }

    private struct ConstraintGroup: Hashable {
        var entity: Int
        var slots: [Int]
        var existing: RowKey
    }

    private func object(for key: RowKey, insertion: Int? = nil) -> NSManagedObject {
        if let insertion, inserted.indices.contains(insertion) { return inserted[insertion] }
        return context.object(for: key, in: store)
    }
}
