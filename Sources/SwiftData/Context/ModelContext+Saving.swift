import CoreData
import Foundation

extension ModelContext {
    /// Writes all changes, or none: after an error the context has them all still, and ``rollback()`` takes them back.
    ///
    /// - Throws: what could not be done to models since the last rollback, ``SwiftDataError/modelValidationFailure``
    ///   for values that their model does not allow, or the store's error.
    public func save() throws {
        takeSiblingChanges()
        if let problem = problems.first { throw problem }
        ModelContextNotification.postWillSave(self)
        managedObjectContext.processPendingChanges()
        guard managedObjectContext.hasChanges else { return try managedObjectContext.save() }
        let policy = UpsertPolicy(uniqueness)
        managedObjectContext.mergePolicy = policy
        let merges = ObjectMerges(managedObjectContext)
        defer { merges.end() }
        let isTold = siblings.hasOthers || ModelContextNotification.isWanted
        let inserted = isTold ? managedObjectContext.pendingInsertions : []
        let updated = isTold ? managedObjectContext.pendingUpdates : []
        let deleted = isTold ? managedObjectContext.pendingDeletions.map(\.objectID) : []
        remoteSaves?.willSave()
        do { try managedObjectContext.save() } catch {
            remoteSaves?.didSave([:])
            throw SaveFailure.described(error)
        }
        remoteSaves?.didSave(managedObjectContext.recordedTransactions)
        DataStoreBridge.takeChanges(of: self)
        merges.giveModels(in: self)
        lastUpdatedInsteadOfInserted = merges.rowsOfInserted.map { PersistentIdentifier($0) }
        lastReplaced = merges.replacedRows.map { PersistentIdentifier($0) }
        guard isTold else { return }
        let saved = SavedModels(
            inserted: inserted.filter { $0.managedObjectContext != nil }.map(\.objectID),
            updated: Array(
                Set(updated.filter { $0.managedObjectContext != nil }.map(\.objectID) + merges.survivingRows)),
            deleted: deleted + merges.replacedRows)
        siblings.tell(saved)
        ModelContextNotification.postDidSave(self, saved)
    }

    /// Discards all changes since the last save: new models leave the context, deleted ones are restored, and changed
    /// ones get their stored values. Forgets refused operations, and the undo steps.
    public func rollback() {
        forgetProblems()
        managedObjectContext.rollback()
        managedObjectContext.undoManager?.removeAllActions()
    }

    /// Runs the block, and saves.
    ///
    /// - Throws: the block's error: then nothing is saved, and the changes stay.
    public func transaction(block: () throws -> Void) throws {
        try block()
        try save()
    }

    /// How a save treats models whose unique values a row, or another new model, has.
    public enum UniquenessPolicy: Sendable {
        /// The row takes the values that were set, and the model stands for the row.
        case update
        /// The save throws, and writes nothing.
        case refuse
    }

    /// How a save treats models whose unique values a row, or another new model, has.
    ///
    /// With `.update`, one row remains, and has all values that were set:
    /// - Of a new model and a row, the row remains. Of two new models, the row of the first one.
    /// - If a model has unique values of several rows, one of these rows remains. The save deletes the others, and
    ///   relationships that referred to them refer to the remaining row.
    /// - Models that were inserted or changed stand for the remaining row from then on. A model of a deleted row
    ///   without changes of its own is a deleted model: its last values can be read, and it has no context.
    ///
    /// ``lastUpdatedInsteadOfInserted`` and ``lastReplaced`` name these rows, and ``didSave`` lists them as updated and
    /// deleted.
    ///
    /// Not in Apple's framework, whose contexts do what `.update` does, and do not say which rows they delete.
    public var uniquenessPolicy: UniquenessPolicy {
        get { uniqueness }
        set { uniqueness = newValue }
    }
}

/// The result of a save.
struct SavedModels: Sendable {
    let inserted: [NSManagedObjectID]
    let updated: [NSManagedObjectID]
    let deleted: [NSManagedObjectID]
    /// Whether any model may have changed.
    var isUnknown = false
}

/// Errors of a save as SwiftData's.
enum SaveFailure {
    /// Errors of validation are ``SwiftDataError/modelValidationFailure`` with the engine's as their cause; others
    /// stay.
    static func described(_ error: any Error) -> any Error {
        guard let cocoa = error as? CocoaError, (1550...1699).contains(cocoa.code.rawValue) else { return error }
        return SwiftDataError(.modelValidationFailure, cocoa.localizedDescription, underlying: error)
    }
}
