import CoreDataPrimitives
import Foundation

// Undo: each event is registered with the undo manager, and undone as an event of its own.
extension NSManagedObjectContext {
    /// What ``undoManager`` does when it is set.
    final func setUndoManager(_ manager: UndoManager?) {
        guard manager !== undoRecording.manager else { return }
        if let observer = undoRecording.checkpointObserver { NotificationCenter.default.removeObserver(observer) }
        undoRecording.checkpointObserver = nil
        undoRecording.manager?.removeAllActions(withTarget: self)
        undoRecording.manager = manager
        undoRecording.deletionRecords = [:]
        undoRecording.reappliedDeletions = []
        // What changed until now cannot be undone: its beginning was not recorded.
        processPendingChanges()
        registry.recordsUndo = manager != nil
        guard let manager else { return }
        // The main thread's run loop may turn while a private queue works: there an event is a block.
        if concurrencyType == .privateQueueConcurrencyType { manager.followsRunLoop = false }
        // Before a group is closed or undone, what changed in it belongs to it.
        undoRecording.checkpointObserver = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { [weak self] _ in
            guard let self, self.isOwnedByCurrentThread else { return }
            self.processPendingChanges()
        }
    }

    /// Implements the open method of the class.
    final func undoLastGroup() {
        if isRefusedWhileWriting("undo()") { return }
        processPendingChanges()
        undoRecording.manager?.undo()
    }

    /// Implements the open method of the class.
    final func redoLastGroup() {
        if isRefusedWhileWriting("redo()") { return }
        processPendingChanges()
        undoRecording.manager?.redo()
    }

    // MARK: Recording

    /// Records the state of an object that is about to leave its relationships, and perhaps the context.
    final func recordDeletion(_ object: NSManagedObject) {
        pendingChanges.event.deletedStates.append(DeletedObjectState(object))
    }

    /// Registers the changes of the event.
    final func registerUndo(of event: ChangeEvent) {
        let record = UndoRecord()
        record.inserted = event.inserted.filter { $0.isInserted && !$0.isDeleted }
        // Rows that a merge policy deleted do not exist any more. Objects without rows can be restored.
        record.deletedStates =
            saveState.isEndingPolicyEvent
            ? event.deletedStates.filter { $0.flags.contains(.inserted) } : event.deletedStates
        record.restored = event.restored.filter { !$0.isDeleted && $0.registry === registry }
        record.changed.reserveCapacity(event.updated.count)
        // A new object that was deleted has left its relationships. Its recorded state has them.
        let left = Dictionary(
            event.deletedStates.lazy.filter { $0.object.registry == nil }.map { (ObjectIdentifier($0.object), $0) },
            uniquingKeysWith: { $1 })
        event.updated.forEachHeld { object in
            let state = left.isEmpty ? nil : left[ObjectIdentifier(object)]
            if let changed = takeChange(of: object, state) { record.changed.append(changed) }
        }
        // An object that was inserted and deleted within the event has left the others unchanged.
        if event.inserted.contains(where: { !$0.home.isInContext }) { record.changed.removeAll(where: \.isVoid) }
        if let deletion = takeMergedDeletion(event) {
            return deletion.record?.add(record, besides: deletion.objects) ?? ()
        }
        guard let manager = undoRecording.manager, manager.isUndoRegistrationEnabled, !record.isEmpty else { return }
        for state in record.deletedStates where state.object.registry === registry {
            undoRecording.deletionRecords[ObjectIdentifier(state.object)] = WeakUndoRecord(record)
        }
        manager.registerEvent(of: self) { context in
            context.runAndWait { context.undo(record) }
        }
    }

    /// Returns the record of a deletion whose rules were applied again because a merge changed the row, and the objects
    /// concerned.
    private func takeMergedDeletion(_ event: ChangeEvent) -> (record: UndoRecord?, objects: Set<ObjectIdentifier>)? {
        guard !undoRecording.reappliedDeletions.isEmpty else { return nil }
        let objects = undoRecording.reappliedDeletions.intersection(
            event.deletedStates.map { ObjectIdentifier($0.object) })
        undoRecording.reappliedDeletions.subtract(objects)
        guard let first = objects.first else { return nil }
        return (undoRecording.deletionRecords[first]?.record, objects)
    }

    /// Ends the undo step of a block of ``perform(_:)``.
    final func endUndoEvent() {
        if let manager = undoRecording.manager, !manager.followsRunLoop { manager.endEvent() }
    }

    private func takeChange(of object: NSManagedObject, _ state: DeletedObjectState?) -> ChangedObject? {
        // The first values of a new object are undone with its insertion.
        guard !object.flags.contains(.eventInserted), !object.flags.contains(.inaccessible), let values = object.values,
            !values.event.isEmpty
        else { return nil }
        var steps: [(Int, [ToManyMembers.Step])] = []
        func take(_ relation: Int, _ members: ToManyMembers) {
            let taken = members.journalSteps
            if !taken.isEmpty { steps.append((object.runtime.relationSlots[relation], taken)) }
        }
        if let state {
            for case (let relation, .toMany(let members)) in state.relations.enumerated() { take(relation, members) }
        } else if object.home.hasToMany {
            for relation in object.relations.indices {
                object.relations.uncountedMembers(relation)?._withUnsafeGuaranteedRef { take(relation, $0) }
            }
        }
        return ChangedObject(
            object: object, slots: values.event, row: object.row, old: values.hasRare ? values.eventOld : [],
            steps: steps)
    }

    // MARK: Undoing

    /// Undoes the changes of the record, as an event of its own.
    private func undo(_ record: UndoRecord) {
        processPendingChanges()
        let states = record.deletedStates.filter { restore($0) }
        let gone = goneDestinations(of: record.changed, states)
        for state in states { state.object.forgetStrangers(gone) }
        // Members first: a to-one then finds itself among them, at its old place.
        for change in record.changed where change.object.registry === registry { restoreMembers(change) }
        for change in record.changed where change.object.registry === registry { restoreValues(change, gone) }
        // Apply their delete rules first, while the related objects are still known to them.
        for object in record.restored where object.registry === registry { delete(object) }
        if !record.restored.isEmpty { propagateDeletes() }
        for object in record.inserted where object.registry === registry { undoInsertion(of: object) }
        for change in record.changed where change.object.registry === registry { mendInverses(change) }
        for state in states { mendInverses(of: state.object) }
        propagateDeletes()
        for change in record.changed where change.object.registry === registry {
            tell(change.object, .undoUpdate)
        }
        for object in record.inserted { tell(object, .undoInsertion) }
        for state in states { tell(state.object, .undoDeletion) }
        processPendingChanges()
        for change in record.changed { change.object.forgetUnchangedValues() }
        for state in states { state.object.forgetUnchangedValues() }
    }

    /// Returns the destinations of to-ones whose rows other writers have deleted since.
    private func goneDestinations(of changed: [ChangedObject], _ states: [DeletedObjectState]) -> Set<ObjectReference> {
        var unread: Set<ObjectReference> = []
        func look(_ target: NSManagedObject?) {
            guard let target, target.registry === registry, target.isFault, target.isStored, !target.hasCurrentRow
            else { return }
            unread.insert(ObjectReference(target))
        }
        for change in changed where change.object.registry === registry {
            for slot in change.slots where change.object.isToOne(slot) {
                look(change.object.toOne(slot, before: change))
            }
        }
        for object in states.lazy.map(\.object) where object.home.hasOneWayToOne {
            for slot in object.runtime.relationSlots where object.isToOne(slot) { look(object.toOne(slot)) }
        }
        do { try readRows(of: unread.map(\.object)) } catch {
            noteReadFailure(error, "The destinations of what is undone")
            return []
        }
        return unread.filter { !$0.object.hasRow }
    }

    private func tell(_ object: NSManagedObject, _ event: NSSnapshotEventType) {
        object.withoutNotingChanges { object.awake(fromSnapshotEvents: event) }
    }

    /// Undoes an insertion. A new object leaves the context; an object that was saved meanwhile is deleted.
    private func undoInsertion(of object: NSManagedObject) {
        guard object.isInserted else { return delete(object) }
        recordDeletion(object)
        if !object.flags.contains(.eventDeleted) { pendingChanges.event.deleted.append(object) }
        forget(object)
        object.leaveRelations()
    }

    /// Undoes a deletion: restores the same instance under the same ID. Returns `false` if the object cannot be
    /// restored.
    private func restore(_ state: DeletedObjectState) -> Bool {
        let object = state.object
        let isHere = object.registry === registry
        guard isHere ? object.isDeleted : object.registry == nil && !object.flags.contains(.inaccessible) else {
            return false
        }
        object.relations.removeAll()
        object.values = state.values?.copyWithoutEvent()
        if isHere {
            object.flags.remove(.deleted)
            pendingChanges.awaitingDeleteRules.removeAll { $0 === object }
            pendingChanges.event.restored.append(object)
        } else {
            if let store = state.store, !store.isAttached { return false }
            // A lookup by ID since the deletion registered an object without values.
            if let other = registeredObject(for: object.objectID), other !== object { detach([other]) }
            object.move(to: registry.home(of: object.runtime, in: state.store))
            object.flags.subtract([.eventDeleted, .eventUpdated])
            object.flags.formUnion([.new, .inserted, .eventInserted])
            registry.register(object)
            list(object, as: .listedInserted, in: &pendingChanges.inserted)
            pendingChanges.event.inserted.append(object)
            if retention.isEnabled { retention.objects.append(object) }
        }
        object.flags.formUnion(state.flags.intersection(.wideInteger))
        for (index, relation) in state.relations.enumerated() {
            restore(relation, index, of: object, isNew: !isHere && !state.flags.contains(.inserted))
        }
        if isHere, state.flags.contains(.updated) {
            object.flags.insert(.updated)
            list(object, as: .listedUpdated, in: &pendingChanges.updated)
        }
        return true
    }

    private func restore(_ relation: RelationValue, _ index: Int, of object: NSManagedObject, isNew: Bool) {
        switch relation {
        case .unread: break
        case .toOne(let target):
            object.relations.setToOne(index, target, of: object.home.relationCount)
        case .toMany(let members):
            let copy = members.copy()
            copy.endJournal()
            if isNew { copy.becomeNew() }
            object.relations.setMembers(index, copy, of: object.home.relationCount)
        }
    }

    private func list(_ object: NSManagedObject, as flag: ObjectFlags, in list: inout [NSManagedObject]) {
        guard !object.flags.contains(flag) else { return }
        object.flags.insert(flag)
        list.append(object)
    }

    private func restoreMembers(_ change: ChangedObject) {
        let object = change.object
        object.fireIfNeeded(slot: -1)
        for (slot, steps) in change.steps {
            // If other writers removed the members since, restored members return to their positions.
            let needsAll = steps.contains { step in
                switch step {
                case .replacement: true
                case .removal(_, let index): index >= 0 && object.runtime.slots[slot].relationship?.isOrdered == true
                case .insertion: false
                }
            }
            let members = needsAll ? object.knownMembers(slot) : object.members(slot)
            object.noteOldValue(slot)
            members.takeBack(steps) { [registry] in $0.registry === registry }
            object.markChanged(slot)
        }
    }

    /// Reconciles both sides of an undone relationship. Each side was undone by itself. If another writer changed one
    /// side meanwhile, or the record has only one side, the other side follows: a to-one decides, and for a
    /// many-to-many the undone side.
    private func mendInverses(_ change: ChangedObject) {
        let object = change.object
        guard !object.isDeleted else { return }
        for (slot, steps) in change.steps {
            let facts = object.home.facts[slot]
            guard facts.inverse >= 0 else { continue }
            let inverse = Int(facts.inverse)
            for member in ToManyMembers.objects(in: steps) where member.registry === registry && !member.isDeleted {
                object.settleOpposites(member, slot)
                member.settleOpposites(object, inverse)
                guard let isMember = object.isKnownToLead(to: member, slot),
                    let leadsBack = member.isKnownToLead(to: object, inverse), isMember != leadsBack
                else { continue }
                if facts.isInverseToMany {
                    isMember ? member.inverseDidGain(object, inverse) : member.inverseDidLose(object, inverse)
                } else {
                    leadsBack ? object.inverseDidGain(member, slot) : object.inverseDidLose(member, slot)
                }
            }
        }
    }

    /// Restores references to an object whose deletion is undone, if a merge in between treated the deletion's effects
    /// on other objects as saved.
    private func mendInverses(of object: NSManagedObject) {
        guard !object.isDeleted else { return }
        for slot in object.runtime.relationSlots {
            let facts = object.home.facts[slot]
            guard facts.inverse >= 0 else { continue }
            let inverse = Int(facts.inverse)
            guard facts.isToMany else {
                if let target = object.toOne(slot), target.registry === registry, !target.isDeleted,
                    facts.isInverseToMany || target.toOne(inverse) == nil,
                    target.isKnownToLead(to: object, inverse) == false
                {
                    target.inverseDidGain(object, inverse)
                }
                continue
            }
            for member in object.members(slot).members where member.registry === registry && !member.isDeleted {
                guard member.isKnownToLead(to: object, inverse) == false else { continue }
                // A to-one decides, here too.
                if facts.isInverseToMany {
                    member.inverseDidGain(object, inverse)
                } else {
                    object.inverseDidLose(member, slot)
                }
            }
        }
    }

    private func restoreValues(_ change: ChangedObject, _ gone: Set<ObjectReference>) {
        let object = change.object
        for slot in change.slots {
            let info = object.runtime.slots[slot]
            let old = change.old.first { $0.slot == slot }?.content
            if info.attribute != nil {
                object.takeBackAttribute(old, slot, change.row)
            } else if object.isToOne(slot) {
                object.takeBackToOne(object.toOne(slot, before: change), slot, gone)
            }
        }
    }
}
