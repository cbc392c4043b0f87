import CoreData
import Foundation

/// The merge policy of contexts: values that were set in the context win, property by property.
final class UpsertPolicy: NSMergePolicy, @unchecked Sendable {
    // Safe because it does not change.
    private let uniqueness: ModelContext.UniquenessPolicy

    init(_ uniqueness: ModelContext.UniquenessPolicy = .update) {
        self.uniqueness = uniqueness
        super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        if uniqueness == .refuse { return try NSMergePolicy.error.resolve(constraintConflicts: list) }
        try super.resolve(constraintConflicts: list)
    }
}

/// Records which objects of a save take the place of others because of unique values.
///
/// ```
///  new model ──code──▶ row 1 ──owner──▶ row 2      row 2 remains, row 1 is deleted, the new model stands for row 2
/// ```
final class ObjectMerges {
    private struct Merge {
        let object: ModelObject
        /// Whether the object had no row.
        let isNew: Bool
        /// Whether the object was inserted or changed before the save.
        let isChanged: Bool
    }

    private let context: NSManagedObjectContext
    private var merges: [Merge] = []
    private var survivors: [ObjectIdentifier: ModelObject] = [:]
    /// Objects that took the place of others first without changes of their own; and those without a row.
    private var unchanged: Set<ObjectIdentifier> = []
    private var new: Set<ObjectIdentifier> = []

    /// Begins to record.
    init(_ context: NSManagedObjectContext) {
        self.context = context
        context.objectWillMerge = { [unowned self] in
            add(unsafeDowncast($0, to: ModelObject.self), unsafeDowncast($1, to: ModelObject.self))
        }
    }

    /// Ends recording.
    func end() { context.objectWillMerge = nil }

    private func add(_ object: ModelObject, _ survivor: ModelObject) {
        if survivor.isInserted { new.insert(ObjectIdentifier(survivor)) }
        if !survivor.hasChanges { unchanged.insert(ObjectIdentifier(survivor)) }
        merges.append(
            Merge(
                object: object, isNew: object.isInserted, isChanged: !unchanged.contains(ObjectIdentifier(object))))
        survivors[ObjectIdentifier(object)] = survivor
    }

    /// The object that remains of all that the object was merged into.
    private func survivor(of object: ModelObject) -> ModelObject? {
        var object = object
        while let next = survivors[ObjectIdentifier(object)] { object = next }
        return object.managedObjectContext === context ? object : nil
    }

    private func rows(_ isIncluded: (Merge) -> Bool) -> [NSManagedObjectID] {
        var seen = new
        return merges.lazy.filter(isIncluded).compactMap { self.survivor(of: $0.object) }.filter {
            seen.insert(ObjectIdentifier($0)).inserted
        }.map(\.objectID)
    }

    // MARK: After the save

    /// The rows that were updated in place of new models, or of other rows.
    var survivingRows: [NSManagedObjectID] { rows { _ in true } }

    /// The rows that were updated in place of new models.
    var rowsOfInserted: [NSManagedObjectID] { rows(\.isNew) }

    /// The rows that the save deleted.
    var replacedRows: [NSManagedObjectID] { merges.filter { !$0.isNew }.map(\.object.objectID) }

    /// Has the models of objects that left stand for the objects that took their places, with their observers.
    func giveModels(in context: ModelContext) {
        for merge in merges where merge.isChanged {
            guard let survivor = survivor(of: merge.object) else { continue }
            let models = merge.object.models.compactMap { $0 as? any PersistentModel }
            for model in models {
                model._attach(survivor, context)
                survivor.add(model)
            }
            guard !models.isEmpty else { continue }
            let (plan, former) = (context.plan(of: survivor), context.plan(of: merge.object))
            for slot in merge.object.followedSlots {
                former.property(at: slot).flatMap { survivor.propertySlot(named: $0.name) }
                    .flatMap { plan.property(at: $0) }.map(survivor.follow)
            }
        }
    }
}
