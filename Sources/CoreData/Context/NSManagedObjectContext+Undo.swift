import CoreDataPrimitives
import Foundation

// Undo: each event is recorded with the undo manager, and taken back as an event of its own.
extension NSManagedObjectContext {
    /// What ``undoManager`` does when it is set.
    final func setUndoManager(_ manager: UndoManager?) {
        guard manager !== keptUndoManager else { return }
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        checkpoints = nil
        keptUndoManager?.removeAllActions(withTarget: self)
        keptUndoManager = manager
        deletionRecords = [:]
        mergedDeletions = []
        // What changed until now cannot be undone: its beginning was not recorded.
        processPendingChanges()
        registry.recordsUndo = manager != nil
        guard let manager else { return }
        // The main thread's run loop may turn while a queue of its own is at work: there an event is a block.
        if concurrencyType == .privateQueueConcurrencyType { manager.followsRunLoop = false }
        // Before a group is closed or undone, what changed in it belongs to it.
        checkpoints = NotificationCenter.default.addObserver(
            forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
        ) { [weak self] _ in
            guard let self, self.isOwnedByCurrentThread else { return }
            self.processPendingChanges()
        }
    }

    // MARK: Recording

    /// Takes note of an object that is about to leave its relationships and perhaps the context.
    final func noteLeaving(_ object: NSManagedObject) { event.leaving.append(LeavingObject(object)) }

    /// Registers what the event did.
    final func registerUndo(of event: ChangeEvent) {
        let record = UndoRecord()
        record.inserted = event.inserted.filter { $0.isInserted && !$0.isDeleted }
        // What a policy let go of is gone from the store; what nobody had saved comes back.
        record.leaving = isResolved ? event.leaving.filter { $0.flags.contains(.inserted) } : event.leaving
        record.restored = event.restored.filter { !$0.isDeleted && $0.registry === registry }
        record.changed.reserveCapacity(event.updated.count)
        // A new object that was deleted has given up its relationships; they are kept as they were when it left.
        let left = Dictionary(
            event.leaving.lazy.filter { $0.object.registry == nil }.map { (ObjectIdentifier($0.object), $0) },
            uniquingKeysWith: { $1 })
        event.updated.forEachHeld { object in
            let leaving = left.isEmpty ? nil : left[ObjectIdentifier(object)]
            if let changed = takeChange(of: object, leaving) { record.changed.append(changed) }
        }
        // Whoever came and went within the event has left the others as they were.
        if event.inserted.contains(where: { !$0.home.isInContext }) { record.changed.removeAll(where: \.isVoid) }
        if let deletion = takeMergedDeletion(event) {
            return deletion.record?.add(record, besides: deletion.objects) ?? ()
        }
        guard let manager = keptUndoManager, manager.isUndoRegistrationEnabled, !record.isEmpty else { return }
        for leaving in record.leaving where leaving.object.registry === registry {
            deletionRecords[ObjectIdentifier(leaving.object)] = WeakUndoRecord(record)
        }
        manager.registerEvent(of: self) { context in
            context.runAndWait { context.takeBack(record) }
        }
    }

    /// The record of a deletion whose rules were applied again, because a merge changed the row, and the objects for which they were.
    private func takeMergedDeletion(_ event: ChangeEvent) -> (record: UndoRecord?, objects: Set<ObjectIdentifier>)? {
        guard !mergedDeletions.isEmpty else { return nil }
        let objects = mergedDeletions.intersection(event.leaving.map { ObjectIdentifier($0.object) })
        mergedDeletions.subtract(objects)
        guard let first = objects.first else { return nil }
        return (deletionRecords[first]?.record, objects)
    }

    /// Ends the step of what a block of ``perform(_:)`` did.
    final func endUndoEvent() {
        if let keptUndoManager, !keptUndoManager.followsRunLoop { keptUndoManager.endEvent() }
    }

    private func takeChange(of object: NSManagedObject, _ leaving: LeavingObject?) -> ChangedObject? {
        // A new object's first values come and go with it.
        guard !object.flags.contains(.eventInserted), !object.flags.contains(.inaccessible), let values = object.values,
            !values.event.isEmpty
        else { return nil }
        var steps: [(Int, [ToManyMembers.Step])] = []
        func take(_ relation: Int, _ members: ToManyMembers) {
            let taken = members.journalSteps
            if !taken.isEmpty { steps.append((object.runtime.relationSlots[relation], taken)) }
        }
        if let leaving {
            for case (let relation, .toMany(let members)) in leaving.relations.enumerated() { take(relation, members) }
        } else if object.home.hasToMany {
            for relation in object.relations.indices {
                object.relations.uncountedMembers(relation)?._withUnsafeGuaranteedRef { take(relation, $0) }
            }
        }
        return ChangedObject(
            object: object, slots: values.event, row: object.row, old: values.hasRare ? values.eventOld : [],
            steps: steps)
    }

    // MARK: Taking back

    private func takeBack(_ record: UndoRecord) {
        processPendingChanges()
        let leaving = record.leaving.filter { bringBack($0) }
        let gone = goneDestinations(of: record.changed, leaving)
        for leaving in leaving { leaving.object.forgetStrangers(gone) }
        // Members first: a to-one then finds itself among them, at its old place.
        for change in record.changed where change.object.registry === registry { takeBackMembers(change) }
        for change in record.changed where change.object.registry === registry { takeBackValues(change, gone) }
        // Their rules first: what leaves with them is then known to them as long as it is there.
        for object in record.restored where object.registry === registry { delete(object) }
        if !record.restored.isEmpty { propagateDeletes() }
        for object in record.inserted where object.registry === registry { takeOut(object) }
        for change in record.changed where change.object.registry === registry { mendInverses(change) }
        for leaving in leaving { mendInverses(of: leaving.object) }
        propagateDeletes()
        for change in record.changed where change.object.registry === registry {
            tell(change.object, .undoUpdate)
        }
        for object in record.inserted { tell(object, .undoInsertion) }
        for leaving in leaving { tell(leaving.object, .undoDeletion) }
        processPendingChanges()
        for change in record.changed { change.object.forgetUnchangedValues() }
        for leaving in leaving { leaving.object.forgetUnchangedValues() }
    }

    /// Those that to-ones led to, and whose rows others have deleted since.
    private func goneDestinations(of changed: [ChangedObject], _ leaving: [LeavingObject]) -> Set<ObjectReference> {
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
        for object in leaving.lazy.map(\.object) where object.home.hasOneWayToOne {
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

    /// The insertion is undone: a new object leaves as it is, one that was saved meanwhile is deleted.
    private func takeOut(_ object: NSManagedObject) {
        guard object.isInserted else { return delete(object) }
        noteLeaving(object)
        if !object.flags.contains(.eventDeleted) { event.deleted.append(object) }
        forget(object)
        object.leaveRelations()
    }

    /// The deletion is undone: the object is there as it was, the same instance under the same ID. Whether it could.
    private func bringBack(_ leaving: LeavingObject) -> Bool {
        let object = leaving.object
        let isHere = object.registry === registry
        guard isHere ? object.isDeleted : object.registry == nil && !object.flags.contains(.inaccessible) else {
            return false
        }
        object.relations.removeAll()
        object.values = leaving.values?.copyWithoutEvent()
        if isHere {
            object.flags.remove(.deleted)
            unpropagated.removeAll { $0 === object }
            event.restored.append(object)
        } else {
            if let store = leaving.store, !store.isAttached { return false }
            // Whoever asked for the ID meanwhile got an object that had nothing.
            if let other = registeredObject(for: object.objectID), other !== object { detach([other]) }
            object.move(to: registry.home(of: object.runtime, in: leaving.store))
            object.flags.subtract([.eventDeleted, .eventUpdated])
            object.flags.formUnion([.new, .inserted, .eventInserted])
            registry.register(object)
            list(object, as: .listedInserted, in: &insertedList)
            event.inserted.append(object)
            if keepsObjects { retained.append(object) }
        }
        object.flags.formUnion(leaving.flags.intersection(.wideInteger))
        for (index, relation) in leaving.relations.enumerated() {
            bringBack(relation, index, of: object, isNew: !isHere && !leaving.flags.contains(.inserted))
        }
        if isHere, leaving.flags.contains(.updated) {
            object.flags.insert(.updated)
            list(object, as: .listedUpdated, in: &updatedList)
        }
        return true
    }

    private func bringBack(_ relation: RelationValue, _ index: Int, of object: NSManagedObject, isNew: Bool) {
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

    private func takeBackMembers(_ change: ChangedObject) {
        let object = change.object
        object.fireIfNeeded(slot: -1)
        for (slot, steps) in change.steps {
            // Where others have forgotten the members since, those that come back come back to their places.
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

    /// Both sides of a relationship have been taken back by themselves. Where others changed one of them meanwhile, or the record has
    /// one alone, the other follows: a to-one decides, of many-to-manys the side that is taken back here.
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

    /// A merge between a deletion and its undoing takes what the deletion changed in other objects for done: they know the object again.
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

    private func takeBackValues(_ change: ChangedObject, _ gone: Set<ObjectReference>) {
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
