import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// The crossing from changed objects to the engine's change set, for one store; and back after the save.
///
/// ```
/// order values ─▶ engine.save ─▶ keys for new objects ─▶ rows and pairs ─▶ transaction ─▶ objects are clean
///                                                          │ error: new objects get their temporary keys back
/// ```
final class SavePreparation {
    let context: NSManagedObjectContext
    let store: AttachedStore
    @exclusivity(unchecked) var inserted: [NSManagedObject]
    private(set) var updated: [NSManagedObject]
    let deleted: [NSManagedObject]
    /// Objects whose rows must have the known version, whether or not they change.
    let checked: [NSManagedObject]
    // One thread prepares a save, and nothing calls back while these change.
    @exclusivity(unchecked) var lastForm: RowForm?
    /// The objects of the updates, in their order.
    @exclusivity(unchecked) var written: [NSManagedObject] = []
    /// The inserted objects whose rows existed before and had been deleted.
    @exclusivity(unchecked) private(set) var broughtBack: [NSManagedObject] = []
    @exclusivity(unchecked) var temporaryKeys: [Int64] = []
    /// Which pairs of ordered many-to-manys are written, and with which order values.
    @exclusivity(unchecked) private(set) var pairPlaces: [PairSide: [OrderAssignment.Place]] = [:]
    /// Whether the rows are for other contexts only: then they may contain temporary keys, and values that no store
    /// could keep.
    let isForContexts: Bool
    /// Whether the store computes derived attributes, whatever was set: one of the program's own class does not.
    let keepsDerived: Bool
    /// The number that the store's history has of the save.
    private(set) var historyTransaction: Int64?
    /// Whether rows with the unique values of new objects may absorb these without asking the merge policy.
    var mayAbsorb = false
    /// The changes that were made while rows were built; they are applied again when the objects are clean.
    private(set) var late: LateChanges?
    /// How often the store's metadata had been set when they were taken.
    var metadataEdits = 0

    init(
        context: NSManagedObjectContext, store: AttachedStore, inserted: [NSManagedObject],
        updated: [NSManagedObject], deleted: [NSManagedObject], checked: [NSManagedObject],
        isForContexts: Bool = false
    ) {
        self.context = context
        self.store = store
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.checked = checked
        self.isForContexts = isForContexts
        keepsDerived = store.objectSource == nil && !isForContexts
    }

    /// Reads what writing needs. Nothing is read once a store has a transaction.
    ///
    /// - Returns: whether there is anything to write or to check.
    func prepare() throws -> Bool {
        let orders = OrderAssignment(context: context)
        var remaining = OrderAssignment.Remaining()
        for objects in [inserted, updated, deleted] {
            orders.assign(objects, remaining: &remaining) { self.touch($0) }
        }
        orders.assignOwners(remaining.gaining) { self.touch($0) }
        try context.checkReads()
        pairPlaces = try orders.places(ofPairs: remaining.pairs, in: store)
        for objects in [updated, deleted] where !objects.allHeldSatisfy({ $0.hasCurrentRow }) {
            try context.readRows(of: objects)
        }
        let writes = !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty || store.hasUnsavedMetadata
        guard writes || !checked.isEmpty else { return false }
        if store.isReadOnly {
            guard writes else { return false }
            throw CoreDataErrors.readOnly(store.store)
        }
        // A store of the program's own class names objects, not rows.
        if store.objectSource != nil, inserted.contains(where: \.hasTemporaryKey) {
            try context.obtainPermanentIDs(for: inserted)
        }
        return true
    }

    /// Thrown before the commit if another store has conflicts: this store's changes are rolled back.
    struct Abandoned: EngineFailure {}

    /// Saves. Calls `beforeCommit` when all is written; if it throws, nothing is written.
    ///
    /// - Returns: whether anything was written.
    func run(beforeCommit: () throws -> Void) throws -> Bool {
        try withoutActuallyEscaping(beforeCommit) { beforeCommit in
            try context.writing { try save(beforeCommit: beforeCommit) }
        }
    }

    /// Does the work of ``run(beforeCommit:)`` without a step before the commit.
    func run() throws -> Bool { try context.writing { try save(beforeCommit: nil) } }

    private func save(beforeCommit: (() throws -> Void)?) throws -> Bool {
        temporaryKeys.reserveCapacity(inserted.count)
        inserted.forEachHeld { temporaryKeys.append($0.primaryKey) }
        var changes = ChangeSet()
        let earlier = context.pendingChanges.event
        do {
            let outcome = try tellingObjects {
                try context.storeView.restriction.save(
                    to: store.target, keys: neededKeys(),
                    build: { keys in
                        takeKeys(keys)
                        changes = try changeSet()
                        return changes
                    }, beforeCommit: beforeCommit)
            }
            historyTransaction = outcome.historyTransaction
            let writesAnything = changes.writesAnything
            late = LateChanges(context.pendingChanges.event, since: earlier)
            dropAbsorbed(outcome.absorbed, &changes)
            commit(changes, outcome)
            return writesAnything
        } catch {
            // One of them may contain half a row.
            context.homeCache.rowForms = []
            let conflicts = (error as? SaveFailure).map { self.conflicts($0) }
            takeBackKeys()
            if error is Abandoned { throw error }
            throw conflicts ?? CoreDataErrors.converted(error, store: store, context: context)
        }
    }

    /// Runs the save so that a store of the program's own class knows its objects.
    private func tellingObjects(_ body: () throws -> SaveOutcome) throws -> SaveOutcome {
        guard let source = store.objectSource else { return try body() }
        let request = SavedRequest(
            context: context, inserted: inserted, deleted: deleted, locked: checked, updated: { self.written })
        return try source.saving(request, body)
    }

    /// Removes the keys from the new objects; the next attempt assigns orders and owners again.
    private func takeBackKeys() {
        for (object, key) in zip(inserted, temporaryKeys) {
            object.take(key: key)
            // An ID that was requested meanwhile does not identify the object any more.
            if object.hasExtras, let id = object.cachedID, id.primaryKey != key { object.renewID() }
        }
        for objects in [inserted, updated] { objects.forEachHeld { $0.values?.forgetAssigned() } }
    }

    /// An object that changes because an order value in its row does.
    private func touch(_ object: NSManagedObject) {
        guard !object.isInserted, !object.isDeleted else { return }
        if !object.isUpdated {
            context.noteChange(of: object)
            updated.append(object)
        }
    }

    // MARK: The change set

    private func changeSet() throws -> ChangeSet {
        var changes = ChangeSet()
        changes.insertions.reserveCapacity(inserted.count)
        (written, broughtBack) = ([], [])
        try inserted.forEachHeld {
            if $0.hasRow { broughtBack.append($0) }
            changes.insertions.append(ChangeSet.Insertion(row: try row(of: $0, version: Self.firstVersion(of: $0))))
        }
        changes.absorptions = absorptions()
        changes.updates.reserveCapacity(updated.count)
        written.reserveCapacity(updated.count)
        try updated.forEachHeld { object in
            guard let old = object.rowView else {
                // Another object can lose a deleted one: the row that referred to it is deleted or changed.
                if object.hasOnlyLost { return }
                throw SaveFailure.conflicts([
                    SaveFailure.Conflict(
                        key: RowKey(entity: object.runtime.ordinal, primaryKey: object.primaryKey),
                        expectedVersion: 0, persisted: nil)
                ])
            }
            let (row, columns) = try changedRow(of: object, from: old)
            guard !columns.isEmpty || object.hasChangedMembers else { return }
            written.append(object)
            guard let known = object.row else { preconditionFailure("the row is there") }
            changes.updates.append(ChangeSet.Update(old: known, new: row, columns: columns))
        }
        changes.deletions.reserveCapacity(deleted.count)
        deleted.forEachHeld { object in
            // A row that another writer deleted already is deleted, as requested.
            guard let row = object.rowView else { return }
            changes.deletions.append(
                ChangeSet.Deletion(
                    key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version))
        }
        if store.target.recordsHistory {
            changes.origin = ChangeOrigin(author: context.transactionAuthor, contextName: context.name)
            changes.changedMembers = changedMembers()
        }
        changes.note = context.userInfo.count > 0 ? context.userInfo[SaveNote.key] as? SaveNote : nil
        changes.links = links()
        changes.checks = checks()
        try context.checkReads()
        metadataEdits = store.metadataEdits
        changes.metadata = try store.unsavedMetadata()
        return changes
    }

    /// Returns 1; for a row that is inserted again, a version that no reader can have seen.
    private static func firstVersion(of object: NSManagedObject) -> Int32 {
        object.rowView.map { $0.version &+ 1000 } ?? 1
    }

    private func checks() -> [ChangeSet.Check] {
        guard !checked.isEmpty else { return [] }
        // Writing checks the versions of the written rows.
        let written = Set(written.map(ObjectIdentifier.init))
        return checked.compactMap { object in
            guard !written.contains(ObjectIdentifier(object)), let row = object.rowView else { return nil }
            return ChangeSet.Check(
                key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version)
        }
    }
}
