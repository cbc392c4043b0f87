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
    /// Whose rows must be as the context knows them, whether or not they change.
    let checked: [NSManagedObject]
    // One thread prepares a save, and nothing calls back while these change.
    @exclusivity(unchecked) var lastForm: RowForm?
    /// The objects of the updates, in their order.
    @exclusivity(unchecked) var written: [NSManagedObject] = []
    /// The inserted objects whose rows were there once, and had been deleted.
    @exclusivity(unchecked) private(set) var broughtBack: [NSManagedObject] = []
    @exclusivity(unchecked) var temporaryKeys: [Int64] = []
    /// Which pairs of ordered many-to-manys are written, and with which order values.
    @exclusivity(unchecked) private(set) var pairPlaces: [PairSide: [OrderAssignment.Place]] = [:]
    /// Whether the rows are for other contexts only: temporary keys may be in them, and what no store could keep.
    let isForContexts: Bool
    /// Whether the store computes derived attributes, whatever was set: one of the program's own class does not.
    let keepsDerived: Bool
    /// The number that the store's history has of the save.
    private(set) var historyTransaction: Int64?
    /// Whether rows with the unique values of new objects may take what was set on these, without the merge policy being asked.
    var mayAbsorb = false
    /// What was changed while rows were made of the objects; to be made again when they are clean.
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

    /// Thrown by what is called before the commit, where other stores stand in the way: this one's changes are taken back.
    struct Abandoned: EngineFailure {}

    /// Saves. `beforeCommit` is called when all is written; where it throws, nothing is.
    ///
    /// - Returns: whether anything was written.
    func run(beforeCommit: () throws -> Void) throws -> Bool {
        try withoutActuallyEscaping(beforeCommit) { beforeCommit in
            try context.writing { try save(beforeCommit: beforeCommit) }
        }
    }

    /// As ``run(beforeCommit:)``, where nothing is to be done before the commit.
    func run() throws -> Bool { try context.writing { try save(beforeCommit: nil) } }

    private func save(beforeCommit: (() throws -> Void)?) throws -> Bool {
        temporaryKeys.reserveCapacity(inserted.count)
        inserted.forEachHeld { temporaryKeys.append($0.primaryKey) }
        var changes = ChangeSet()
        let earlier = context.event
        do {
            let outcome = try tellingObjects {
                try store.target.save(
                    keys: neededKeys(),
                    build: { keys in
                        takeKeys(keys)
                        changes = try changeSet()
                        return changes
                    }, beforeCommit: beforeCommit)
            }
            historyTransaction = outcome.historyTransaction
            let writesAnything = changes.writesAnything
            late = LateChanges(context.event, since: earlier)
            dropAbsorbed(outcome.absorbed, &changes)
            commit(changes, outcome)
            return writesAnything
        } catch {
            // One of them may have half a row in it.
            context.rowForms = []
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

    /// The new objects are as they were before they got keys; orders and owners are assigned anew by the next attempt.
    private func takeBackKeys() {
        for (object, key) in zip(inserted, temporaryKeys) {
            object.take(key: key)
            // Whoever asked for its ID meanwhile got one that is no longer its own.
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
        written = []
        broughtBack = []
        try inserted.forEachHeld {
            if $0.hasRow { broughtBack.append($0) }
            changes.insertions.append(ChangeSet.Insertion(row: try row(of: $0, version: Self.firstVersion(of: $0))))
        }
        changes.absorptions = absorptions()
        changes.updates.reserveCapacity(updated.count)
        written.reserveCapacity(updated.count)
        try updated.forEachHeld { object in
            guard let old = object.rowView else {
                // What is gone can be lost by another: a row led to it that is deleted or led elsewhere now.
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
            // A row that somebody else deleted already is gone, as was asked.
            guard let row = object.rowView else { return }
            changes.deletions.append(
                ChangeSet.Deletion(
                    key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version))
        }
        if store.target.recordsHistory {
            changes.origin = ChangeOrigin(author: context.transactionAuthor, contextName: context.name)
            changes.changedMembers = changedMembers()
        }
        changes.links = links()
        changes.checks = checks()
        try context.checkReads()
        metadataEdits = store.metadataEdits
        changes.metadata = try store.unsavedMetadata()
        return changes
    }

    /// 1; of a row that is inserted again one that nobody can have seen.
    private static func firstVersion(of object: NSManagedObject) -> Int32 {
        object.rowView.map { $0.version &+ 1000 } ?? 1
    }

    private func checks() -> [ChangeSet.Check] {
        guard !checked.isEmpty else { return [] }
        // Those that are written are checked by that.
        let written = Set(written.map(ObjectIdentifier.init))
        return checked.compactMap { object in
            guard !written.contains(ObjectIdentifier(object)), let row = object.rowView else { return nil }
            return ChangeSet.Check(
                key: RowKey(entity: row.entity, primaryKey: row.primaryKey), version: row.version)
        }
    }
}
