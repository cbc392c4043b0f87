import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Saves a child context: its changes become changes of the parent's objects, all of them or none.
///
/// ```
/// child's queue:   future rows ─▶ changes without objects ─┐                     objects are clean, with those rows
/// parent's queue:                   find every object, or throw ─▶ set, relate, delete ─▶ ObjectsDidChange ─┘
/// ```
/// The child's changes win over changes that the parent made meanwhile, property by property. Only a deleted row, or
/// one that the parent deletes with its next save, is a conflict.
struct ParentSave {
    /// An object, whatever context it is looked for in.
    struct Identity {
        let storeIndex: Int32
        let ordinal: Int
        let primaryKey: Int64

        init(_ object: NSManagedObject) {
            storeIndex = object.storeIndex
            ordinal = Int(object.home.ordinal)
            primaryKey = object.primaryKey
        }
    }

    /// The added and removed members of a to-many. `order` has all members of an ordered one, and `isMoved` says
    /// whether any was moved.
    struct Members {
        let slot: Int
        let added: [Identity]
        let removed: [Identity]
        let order: [Identity]?
        let isMoved: Bool
    }

    /// The difference between an object of the child and the parent's object.
    struct Change {
        let identity: Identity
        let isNew: Bool
        var values: [(slot: Int, value: Value)] = []
        /// All values of a new object, handed over unchanged.
        var newValues: ObjectValues?
        var toOnes: [(slot: Int, target: Identity?)] = []
        var toManys: [Members] = []
    }

    private let child: NSManagedObjectContext
    private var changes: [Change] = []
    private var deletions: [Identity] = []
    private let checked: [Identity]
    /// The rows of the child's objects after the save, in the order of `inserted` and `written`.
    private var rows: [RowSnapshot] = []
    private let inserted: [NSManagedObject]
    private let updated: [NSManagedObject]
    private let deleted: [NSManagedObject]
    /// The parent's objects, in the order of `inserted` and `updated`.
    private var targets: [NSManagedObject?] = []

    /// Records the changes of the child, without changing anything.
    init(
        child: NSManagedObjectContext, inserted: [NSManagedObject], updated: [NSManagedObject],
        deleted: [NSManagedObject], checked: [NSManagedObject]
    ) throws {
        self.child = child
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.checked = checked.map(Identity.init)
        var rows = ContextRows(child)
        self.rows.reserveCapacity(inserted.count + updated.count)
        changes.reserveCapacity(inserted.count + updated.count)
        for object in inserted {
            self.rows.append(try rows.rowOfChanged(object))
            changes.append(Self.change(of: object, isNew: true))
        }
        for object in updated {
            self.rows.append(try rows.rowOfChanged(object))
            changes.append(Self.change(of: object, isNew: false))
        }
        deletions = deleted.filter(\.isStored).map(Identity.init)
    }

    private static func change(of object: NSManagedObject, isNew: Bool) -> Change {
        var change = Change(identity: Identity(object), isNew: isNew)
        let runtime = object.runtime
        if isNew, !object.hasRow {
            // The child itself needs the values of transient attributes and of transformed objects.
            change.newValues =
                runtime.keepsValues ? object.values?.copyWithoutEvent() : object.values
        } else if isNew {
            for slot in runtime.slots.indices where runtime.slots[slot].attribute != nil {
                change.values.append((slot, object.attributeValue(slot)))
            }
        } else if let values = object.values {
            for slot in values.live where values.changed.contains(slot) || !object.home.facts[slot].isTransformable {
                if let value = values[slot] { change.values.append((slot, value)) }
            }
        }
        change.toOnes.reserveCapacity(object.relations.isEmpty ? 0 : runtime.relationSlots.count)
        for (relation, value) in object.relations.enumerated() {
            let slot = runtime.relationSlots[relation]
            switch value {
            case .unread: break
            case .toOne(let target):
                if isNew ? target != nil : object.isChanged(slot) {
                    change.toOnes.append((slot, target.map(Identity.init)))
                }
            case .toMany(let members):
                if let members = Self.members(members, slot, of: object) { change.toManys.append(members) }
            }
        }
        return change
    }

    private static func members(_ members: ToManyMembers, _ slot: Int, of object: NSManagedObject) -> Members? {
        let info = object.runtime.slots[slot]
        // If the other side is a to-one, it has everything but the order.
        let isKeptByOther = info.relationship?.inverseSlot != nil && !info.isInverseToMany
        guard members.hasChanges, !isKeptByOther || members.isOrdered else { return nil }
        let known = members.isOrdered ? object.knownMembers(slot) : members
        let isLeaving = { (object: NSManagedObject) in object.isDeleted }
        return Members(
            slot: slot, added: known.added.map(\.object).filter { !isLeaving($0) }.map(Identity.init),
            removed: known.removed.map { Identity($0.object) },
            order: known.isOrdered ? known.members.filter { !isLeaving($0) }.map(Identity.init) : nil,
            isMoved: known.isReordered)
    }

    // MARK: On the parent's queue

    /// Makes the changes in the parent.
    ///
    /// - Throws: 133020 with the objects whose rows were deleted; then nothing was changed.
    mutating func run() throws {
        targets = try child.withParent { parent in
            parent.processPendingChanges()
            parent.adoptPermanentKeys()
            let target = ParentTarget(parent: parent, child: child)
            var objects: [NSManagedObject?] = try target.find(changes)
            let gone = zip(inserted + updated, objects).filter { $1 == nil && !$0.isInserted && !$0.hasOnlyLost }.map(
                \.0)
            if !gone.isEmpty { throw CoreDataErrors.goneInParent(gone) }
            // In place: a copy of a change would count a reference for each of its lists.
            changes.withUnsafeBufferPointer { changes in
                guard let first = changes.baseAddress else { return }
                for index in changes.indices where first[index].isNew {
                    objects[index] = target.insert(first[index].identity, over: objects[index])
                }
                for index in changes.indices {
                    if let object = objects[index] { target.apply(first + index, to: object) }
                }
                for index in changes.indices {
                    if let object = objects[index] { target.relate(first + index, object) }
                }
            }
            for identity in deletions { target.delete(identity) }
            for identity in checked { if let object = target.object(identity) { parent.detectConflicts(for: object) } }
            parent.processPendingChanges()
            return objects
        }
    }

    // MARK: On the child's queue, after it

    /// Marks the child's objects as clean, with the parent's state as their rows.
    func commit() {
        // The homes from which and to which new objects of one entity move; usually all of them.
        var move: (from: ObjectHome, to: ObjectHome)?
        var index = 0
        func commit(_ object: NSManagedObject) {
            if object.home.storeIndex == 0 {
                if let move, object.home === move.from {
                    object.move(to: move.to)
                } else if let store = child.storeForNew(object.runtime) {
                    let home = child.registry.home(of: object.runtime, in: store)
                    move = (object.home, home)
                    object.move(to: home)
                }
            }
            object.takeRow(HeldRow(rows[index]))
            object.becomeClean()
            if let target = targets[index] { object.madeExtras().savedTo = target }
            index += 1
        }
        inserted.forEachHeld(commit)
        updated.forEachHeld(commit)
        deleted.forEachHeld { $0.becomeClean() }
    }
}

/// The parent's side of a child's save.
private struct ParentTarget {
    let parent: NSManagedObjectContext
    let child: NSManagedObjectContext
    /// The homes of the parent's objects of a store, by entity: the ends of relationships alternate.
    private let homes = Homes()

    private final class Homes {
        var homes: [ObjectHome?] = []
    }

    init(parent: NSManagedObjectContext, child: NSManagedObjectContext) {
        self.parent = parent
        self.child = child
        homes.homes = Array(repeating: nil, count: parent.coordinator?.runtime.entities.count ?? 0)
    }

    /// Returns the parent's object, a fault if the parent had none; `nil` for a new one that it does not know.
    func object(_ identity: ParentSave.Identity) -> NSManagedObject? {
        if identity.primaryKey >= 0, let home = homes.homes[identity.ordinal], home.storeIndex == identity.storeIndex,
            let known = parent.registry.object(in: home, primaryKey: identity.primaryKey)
        {
            return known
        }
        guard let object = foundObject(identity) else { return nil }
        if identity.primaryKey >= 0, object.storeIndex == identity.storeIndex {
            homes.homes[identity.ordinal] = object.home
        }
        return object
    }

    private func foundObject(_ identity: ParentSave.Identity) -> NSManagedObject? {
        guard let runtime = parent.coordinator?.runtime.entities[identity.ordinal] else { return nil }
        if identity.primaryKey < 0 {
            if let id = parent.permanentID(forTemporaryKey: identity.primaryKey) { return parent.object(with: id) }
            return parent.registry.object(store: 0, root: runtime.root, primaryKey: identity.primaryKey)
                ?? objectOfAncestor(identity, runtime)
        }
        guard let store = parent.store(at: identity.storeIndex) else { return nil }
        return parent.object(for: RowKey(entity: identity.ordinal, primaryKey: identity.primaryKey), in: store)
    }

    /// Returns a fault of the parent for an object that an ancestor has under a temporary key and that the parent has
    /// released.
    private func objectOfAncestor(_ identity: ParentSave.Identity, _ runtime: EntityRuntime) -> NSManagedObject? {
        guard parent.parentLink.isChild, let store = parent.storeForNew(runtime) else { return nil }
        let object = parent.object(
            for: RowKey(entity: identity.ordinal, primaryKey: identity.primaryKey), in: store)
        do { try parent.readRows(of: [object]) } catch { parent.noteReadFailure(error, "\(object.objectID)") }
        if object.hasRow { return object }
        parent.detach([object])
        return nil
    }

    /// Returns the parent's object of each change, with its values; `nil` for new objects, for those whose rows were
    /// deleted, and for those that the parent deletes.
    func find(_ changes: [ParentSave.Change]) throws -> [NSManagedObject?] {
        let found = changes.map { change in
            change.isNew && change.identity.primaryKey < 0 ? nil : object(change.identity)
        }
        let faults = found.compactMap { $0 }.filter { $0.isFault }
        try parent.readRows(of: faults)
        for object in faults where object.hasRow { object.becomeRealised() }
        return zip(found, changes).map { object, change in
            guard let object, !object.isFault, !object.flags.contains(.inaccessible) else { return nil }
            // Restoring it would omit the effects of its deletion. An object that is new in the child is restored as
            // its undo says.
            return object.isDeleted && !change.isNew ? nil : object
        }
    }

    /// The parent's object for one that is new in the child.
    func insert(_ identity: ParentSave.Identity, over known: NSManagedObject?) -> NSManagedObject? {
        if let known {
            if known.isDeleted {
                parent.insert(known)
                known.becomeEmptied()
            }
            return known
        }
        guard let runtime = parent.coordinator?.runtime.entities[identity.ordinal] else { return nil }
        let home = parent.registry.home(of: runtime, in: parent.store(at: identity.storeIndex))
        if identity.primaryKey >= 0,
            let fault = parent.registry.object(in: home, primaryKey: identity.primaryKey)
        {
            parent.detach([fault])
        }
        let object = NSManagedObject.makeFault(home, identity.primaryKey, type: runtime.objectClass)
        object.flags = []
        parent.takeNew(object)
        return object
    }

    func apply(_ change: UnsafePointer<ParentSave.Change>, to object: NSManagedObject) {
        if let values = change.pointee.newValues, object.values == nil {
            values.event.removeAll()
            values.forgetRare()
            object.values = values
            // Relating the object records the change again; until then there is no older value to keep.
            for (slot, _) in change.pointee.toOnes { values.changed.remove(slot) }
            return
        }
        if let values = change.pointee.newValues {
            for slot in values.live { if let value = values[slot] { object.setAttribute(value, slot) } }
        }
        for (slot, value) in change.pointee.values { object.setAttribute(value, slot) }
    }

    func relate(_ change: UnsafePointer<ParentSave.Change>, _ object: NSManagedObject) {
        for (slot, target) in change.pointee.toOnes { object.setToOne(target.flatMap { self.object($0) }, slot) }
        for members in change.pointee.toManys {
            let removed = Set(members.removed.compactMap { self.object($0).map(ObjectReference.init) })
            guard let order = members.order else {
                for member in removed { object.removeMember(member.object, members.slot) }
                for member in members.added {
                    if let member = self.object(member) { object.addMember(member, members.slot) }
                }
                continue
            }
            // A member that the child did not change and that was removed here is not added again.
            let known = object.knownMembers(members.slot).members
            let there = known.map(ObjectReference.init).filter { !removed.contains($0) }
            let added = Set(members.added.compactMap { self.object($0).map(ObjectReference.init) })
            let present = added.union(there)
            let here = order.compactMap { self.object($0).map(ObjectReference.init) }.filter(present.contains)
            // To-ones that were set before have appended new members: these count as the child's.
            let all = MergedOrder.members(here: here, there: there, addedHere: added, isMovedHere: members.isMoved)
                .map(\.object)
            if !known.elementsEqual(all, by: { $0 === $1 }) { object.setToMany(all, members.slot) }
        }
    }

    func delete(_ identity: ParentSave.Identity) {
        guard let object = object(identity), !object.flags.contains(.inaccessible) else { return }
        parent.delete(object)
    }
}

extension NSManagedObject {
    /// Undoing a deletion has emptied the relationships that the store still has. Empty relationships are now a change,
    /// and further changes are relative to it.
    fileprivate final func becomeEmptied() {
        for (relation, slot) in runtime.relationSlots.enumerated() {
            if !home.facts[slot].isToMany {
                setToOne(nil, slot)
            } else if let members = relations.uncountedMembers(relation) {
                members._withUnsafeGuaranteedRef { $0.becomeEmptied() }
                markChanged(slot)
            }
        }
    }
}

extension ContextRows {
    /// The row of an object that is to be saved.
    fileprivate mutating func rowOfChanged(_ object: NSManagedObject) throws -> RowSnapshot {
        guard let row = try row(of: object) else {
            preconditionFailure("\(object.objectID) is deleted and was to be saved.")
        }
        return row
    }
}

extension NSManagedObjectContext {
    /// Registers an object that a child context has inserted; the next save inserts it.
    fileprivate final func takeNew(_ object: NSManagedObject) {
        object.flags.formUnion([.new, .inserted, .eventInserted, .listedInserted])
        registry.register(object)
        pendingChanges.inserted.append(object)
        pendingChanges.event.inserted.append(object)
        followTurn()
        if retention.isEnabled { retention.objects.append(object) }
    }

    /// Hands everything that changed to the parent; returns what changed meanwhile.
    final func saveToParent(
        inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]
    ) throws -> LateChanges {
        adoptPermanentKeys()
        try readRows(of: updated + deleted)
        // Another object can lose a deleted one; see SavePreparation.
        let written = updated.filter { $0.hasRow || !$0.hasOnlyLost }
        let gone = written.filter { !$0.hasRow }
        if !gone.isEmpty { throw CoreDataErrors.goneInParent(gone) }
        let checked = pendingChanges.versionChecked.filter { $0.isStored && !$0.isDeleted && $0.registry === registry }
        let earlier = pendingChanges.event
        return try writing {
            var save = try ParentSave(
                child: self, inserted: inserted, updated: written, deleted: deleted, checked: checked)
            try save.run()
            let late = LateChanges(pendingChanges.event, since: earlier)
            save.commit()
            return late
        }
    }
}
