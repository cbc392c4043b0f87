import CoreData
import Foundation

extension ModelContext {
    /// Writes all changes, or none: after an error the context has them all still, and ``rollback()`` takes them back.
    ///
    /// - Throws: what could not be done to models since the last rollback, ``SwiftDataError/modelValidationFailure`` for values that their
    ///   model does not allow, or the store's error.
    public func save() throws {
        takeSiblingChanges()
        if let problem = problems.first { throw problem }
        ModelContextNotification.postWillSave(self)
        managedObjectContext.processPendingChanges()
        guard managedObjectContext.hasChanges else { return try managedObjectContext.save() }
        let inserted = managedObjectContext.pendingInsertions
        let unique = inserted.filter { plan(of: unsafeDowncast($0, to: ModelObject.self)).hasUniqueProperties }
        // By their identifiers those are found again that become a row's.
        let former = unique.map(\.objectID)
        let policy = UpsertPolicy(uniqueness)
        managedObjectContext.mergePolicy = policy
        let isTold = siblings.hasOthers || ModelContextNotification.isWanted
        let updated = isTold ? managedObjectContext.pendingUpdates : []
        let deleted = isTold ? managedObjectContext.pendingDeletions.map(\.objectID) : []
        do { try managedObjectContext.save() } catch {
            throw SaveFailure.described(error)
        }
        DataStoreBridge.takeChanges(of: self)
        let survivors = adoptSurvivors(of: unique, former)
        tell(policy, survivors)
        guard isTold else { return }
        let saved = SavedModels(
            inserted: inserted.filter { $0.managedObjectContext != nil }.map(\.objectID),
            updated: Array(Set((updated + survivors).filter { $0.managedObjectContext != nil }.map(\.objectID))),
            deleted: deleted + policy.replaced(in: managedObjectContext))
        siblings.tell(saved)
        ModelContextNotification.postDidSave(self, saved)
    }

    /// Takes back everything since the last save: new models leave the context, deleted ones are there again, changed ones have their stored
    /// values. Forgets what could not be done, and what could be undone.
    public func rollback() {
        forgetProblems()
        managedObjectContext.rollback()
        managedObjectContext.undoManager?.removeAllActions()
    }

    /// Runs the block, and saves.
    ///
    /// - Throws: what the block throws: nothing is saved then, and the changes stay.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// What inserted models does to rows that have their unique values.
    public enum UniquenessPolicy: Sendable {
        /// The row takes the values that were set, and the model stands for the row.
        case update
        /// The save throws, and nothing is written.
        case refuse
    }

    /// What a save does about inserted models whose unique values a row, or another new model, has already.
    ///
    /// Not in Apple's framework, whose contexts do what `.update` does.
    public var uniquenessPolicy: UniquenessPolicy {
        get { uniqueness }
        set { uniqueness = newValue }
    }

    // MARK: What became of unique values

    /// Models whose objects left for others, by a uniqueness constraint, stand for those.
    private func adoptSurvivors(
        of objects: [NSManagedObject], _ former: [NSManagedObjectID]
    ) -> [NSManagedObject] {
        var survivors: [NSManagedObject] = []
        for (object, id) in zip(objects, former) where object.managedObjectContext == nil {
            guard let survivor = managedObjectContext.registeredObject(for: id) as? ModelObject, survivor !== object
            else { continue }
            survivors.append(survivor)
            guard let model = unsafeDowncast(object, to: ModelObject.self).model as? any PersistentModel else {
                continue
            }
            model._attach(survivor)
            if survivor.model == nil { survivor.take(model) }
        }
        return survivors
    }

    private func tell(_ policy: UpsertPolicy, _ survivors: [NSManagedObject]) {
        lastUpdatedInsteadOfInserted = survivors.map { PersistentIdentifier($0.objectID) }
        lastReplaced = policy.replaced(in: managedObjectContext).map { PersistentIdentifier($0) }
    }
}

/// What a save did.
struct SavedModels: Sendable {
    let inserted: [NSManagedObjectID]
    let updated: [NSManagedObjectID]
    let deleted: [NSManagedObjectID]
}

/// Errors of a save as SwiftData's.
enum SaveFailure {
    /// Errors of validation are ``SwiftDataError/modelValidationFailure`` with the engine's as their cause; others stay.
    static func described(_ error: any Error) -> any Error {
        guard let cocoa = error as? CocoaError, (1550...1699).contains(cocoa.code.rawValue) else { return error }
        return SwiftDataError(.modelValidationFailure, cocoa.localizedDescription, underlying: error)
    }
}

/// The merge policy of contexts: what was set here wins, property by property. It remembers which rows were in the way.
final class UpsertPolicy: NSMergePolicy, @unchecked Sendable {
    // Safe because a context makes one for each save, which runs on the context's thread.
    private let uniqueness: ModelContext.UniquenessPolicy
    private var rows: [NSManagedObject] = []

    init(_ uniqueness: ModelContext.UniquenessPolicy = .update) {
        self.uniqueness = uniqueness
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if uniqueness == .refuse {
            return try NSMergePolicy.error.resolve(constraintConflicts: list)
        }
        rows += list.compactMap(\.databaseObject)
        rows += list.flatMap(\.conflictingObjects).filter { !$0.objectID.isTemporaryID }
        try super.resolve(constraintConflicts: list)
    }

    /// The rows in the way that the save has deleted.
    func replaced(in context: NSManagedObjectContext) -> [NSManagedObjectID] {
        var told: Set<NSManagedObjectID> = []
        return rows.filter { $0.managedObjectContext !== context }.map(\.objectID).filter {
            !$0.isTemporaryID && told.insert($0).inserted && context.registeredObject(for: $0) == nil
        }
    }
}
