import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Finds the answer to a save whose unique values belong to hidden rows.
///
/// The database compares unique values while it inserts a row, before any rule can be evaluated for the new row. The
/// refusal would tell an accessor who may not create the row that a hidden row has its values. So the save runs once
/// more without the hidden rows, in a transaction that rolls back:
///
/// ```
///  BEGIN; DELETE the hidden rows with the values; the statements and checks of the save; ROLLBACK
/// ```
/// An error of this trial is the answer: it is the same as if no hidden row had the values. If the trial succeeds, the
/// accessor may write such a row, and the save is refused as a violation that names no object.
struct ConstraintTrial {
    private let access: CompiledAccess
    private let store: any SecuredSource

    init(_ access: CompiledAccess, _ store: any SecuredSource) {
        self.access = access
        self.store = store
    }

    /// Returns the error of a save that violated constraints; the violations themselves if their rows may be read.
    func answer(
        to violations: [SaveFailure.ConstraintViolation], of changes: ChangeSet
    ) throws -> any Error {
        let hidden = try hiddenRows(violations)
        guard !hidden.isEmpty else { return SaveFailure.constraints(violations) }
        var trial = changes
        trial.deletions += hidden.map { ChangeSet.Deletion(key: $0.key, version: $0.value) }
        let leaving = Set(hidden.keys)
        do {
            _ = try store.save(
                keys: [:], build: { _ in trial }, beforeCommit: nil,
                checkedBy: { AccessCheck(access, $0, isBatch: false, leaving: leaving) })
        } catch let failure as SaveFailure {
            if try isVisible(failure, besides: leaving) { return failure }
        } catch let denied as AccessDenied {
            return denied
        } catch {
            // The trial has succeeded, or it cannot be made: either way the values are taken.
        }
        return taken(violations, leaving)
    }

    /// Returns the rows that the accessor may not read and that have the values, with their versions.
    private func hiddenRows(_ violations: [SaveFailure.ConstraintViolation]) throws -> [RowKey: Int32] {
        let source = RestrictedSource(store, access, refusal: nil)
        var hidden: [RowKey: Int32] = [:]
        for violation in violations where violation.isExistingStored {
            let root = access.model.entities[violation.existing.entity].root
            let key = violation.existing.primaryKey
            guard try source.row(key, root: root, staleness: 0) == nil,
                let row = try store.row(key, root: root, staleness: 0)
            else { continue }
            hidden[row.key] = row.version
        }
        return hidden
    }

    /// Whether a failure of the trial would also occur without the hidden rows.
    private func isVisible(_ failure: SaveFailure, besides leaving: Set<RowKey>) throws -> Bool {
        switch failure {
        case .conflicts(let conflicts): !conflicts.contains { leaving.contains($0.key) }
        case .constraints(let violations): try !violations.isEmpty && hiddenRows(violations).isEmpty
        }
    }

    /// The error that names the properties and no object.
    private func taken(_ violations: [SaveFailure.ConstraintViolation], _ hidden: Set<RowKey>) -> any Error {
        let violation = violations.first { hidden.contains($0.existing) } ?? violations.first
        let entity = violation.map { access.model.entities[$0.entity] }
        let names = (violation?.slots ?? []).compactMap { entity?.properties[$0].name }.joined(separator: ", ")
        return CocoaError(
            CocoaError.Code(rawValue: NSManagedObjectConstraintMergeError),
            userInfo: [
                NSLocalizedDescriptionKey:
                    "Values of \(names) of entity '\(entity?.name ?? "")' must be unique and are taken. Set other values."
            ])
    }
}

/// Ends a trial whose checks have all succeeded.
struct TrialEnd: Error {}
