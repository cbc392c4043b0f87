import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Insertion, change and deletion, and their consequences.
extension NSManagedObjectContext {
    /// Implements the open method of the class.
    final func insertObject(_ object: NSManagedObject) {
        checkOwned("insert(_:)")
        let isHere = object.home.registryAddress == registryAddress
        if isHere, object.flags != .new {
            if object.flags.contains(.deleted) { undelete(object) }
            return
        }
        precondition(
            isHere || object.registry?.context == nil,
            "\(object.objectID) is in another context already; an object belongs to one context.")
        if !isHere {
            precondition(
                coordinator?.runtime.entity(named: object.runtime.name) != nil || coordinator == nil,
                "Entity '\(object.runtime.name)' is not in the model of the context's coordinator.")
            object.move(to: registry.home(of: object.runtime, in: nil))
        }
        object.flags.formUnion([.new, .inserted, .eventInserted])
        registry.register(object)
        if !object.flags.contains(.listedInserted) {
            object.flags.insert(.listedInserted)
            pendingChanges.inserted.append(object)
        }
        pendingChanges.event.inserted.append(object)
        followTurn()
        if retention.isEnabled { retention.objects.append(object) }
        object.awakeFromInsert()
    }

    /// Implements the open method of the class.
    final func deleteObject(_ object: NSManagedObject) {
        checkOwned("delete(_:)")
        guard object.home.registryAddress == registryAddress else {
            // It has left already, by a deletion that was saved or merged.
            guard object.registry?.context != nil else { return }
            preconditionFailure(
                "\(object.objectID) is not in this context; delete context.object(with: object.objectID).")
        }
        // A deletion inside the object's own hook has no further effect.
        guard !object.flags.contains(.deleted), !pendingChanges.preparingForDeletion.contains(where: { $0 === object })
        else { return }
        pendingChanges.preparingForDeletion.append(object)
        object.prepareForDeletion()
        pendingChanges.preparingForDeletion.removeLast()
        guard !object.flags.contains(.deleted) else { return }
        if children.mayExist { supersedeRows(of: object) }
        object.flags.insert(.deleted)
        object.flags.remove(.updated)
        registry.mayHaveDangling = true
        pendingChanges.awaitingDeleteRules.append(object)
        if !object.flags.contains(.inserted) {
            if !object.flags.contains(.listedDeleted) {
                object.flags.insert(.listedDeleted)
                pendingChanges.deleted.append(object)
            }
        }
        if !object.flags.contains(.eventDeleted) {
            object.flags.insert(.eventDeleted)
            pendingChanges.event.deleted.append(object)
        }
        followTurn()
    }

    /// The row of the object, and of one that has not been read the row that children's faults may have in hand.
    private func supersedeRows(of object: NSManagedObject) {
        object.supersedeRow()
        guard !object.hasRow, object.isStored, let store = object.home.store else { return }
        store.source.rowCache.row(root: object.home.root, primaryKey: object.primaryKey)?.supersede()
    }

    /// Takes note that a property of the object was set, or its side of a relationship followed another's.
    final func noteChange(of object: NSManagedObject) {
        if object.flags.contains(.deleted) {
            // Undoing the deletion also undoes later changes of the object until it leaves.
            if registry.recordsUndo, object.flags.isDisjoint(with: [.eventUpdated, .eventInserted]) {
                object.flags.insert(.eventUpdated)
                pendingChanges.event.updated.append(object)
            }
            return
        }
        if !object.flags.contains(.inserted), !object.flags.contains(.updated) {
            if object.hasRow, !object.hasCurrentRow {
                do { try readRows(of: [object]) } catch { noteReadFailure(error, "\(object.objectID)") }
            }
            if children.mayExist { object.supersedeRow() }
            object.flags.insert(.updated)
            if !object.flags.contains(.listedUpdated) {
                object.flags.insert(.listedUpdated)
                pendingChanges.updated.append(object)
            }
        }
        if object.flags.isDisjoint(with: [.eventUpdated, .eventInserted]) {
            object.flags.insert(.eventUpdated)
            pendingChanges.event.updated.append(object)
            followTurn()
        }
    }

    /// Implements the open method of the class.
    final func processChanges() {
        // Changes made while a save writes belong to an event that ends after it: see LateChanges.
        guard !pendingChanges.isProcessing, saveState.phase != .writing else { return }
        pendingChanges.isProcessing = true
        defer { pendingChanges.isProcessing = false }
        if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletes() }
        guard !pendingChanges.event.isEmpty else { return }
        let finished = pendingChanges.event
        pendingChanges.event = ChangeEvent()
        if saveState.touched != nil { noteTouched(finished) }
        if registry.recordsUndo { registerUndo(of: finished) }
        let observations = registry.observations
        let observed = observations == nil ? [] : observedChanges(in: finished)
        let userInfo = ContextNotification.objectsDidChange.isWanted ? userInfo(of: finished) : nil
        if userInfo != nil || !observers.followers.isEmpty {
            finished.forEachObject { $0.flags.subtract(.event) }
            // What observers change belongs to the next event, which they may end: they may save, too.
            pendingChanges.isProcessing = false
            if let userInfo {
                NotificationCenter.default.post(
                    name: ContextNotification.objectsDidChange.name, object: self, userInfo: userInfo)
            }
            observers.followers.forEach { $0.contextDidChange(finished) }
            finished.forEachObject { if $0.flags.isDisjoint(with: .event) { forgetEventValues(of: $0) } }
        } else {
            finished.forEachObject {
                $0.flags.subtract(.event)
                forgetEventValues(of: $0)
            }
        }
        guard let observations, !observed.isEmpty else { return }
        pendingChanges.isProcessing = false
        tell(observed, observations)
    }

    /// Tells the running save that it must call hooks and validation of these objects, also if another caller ended the
    /// event.
    private func noteTouched(_ finished: ChangeEvent) {
        saveState.touched?.append(contentsOf: finished.inserted)
        saveState.touched?.append(contentsOf: finished.updated)
        saveState.touched?.append(contentsOf: finished.deleted)
    }

    private func forgetEventValues(of object: NSManagedObject) {
        object.uncountedValues?._withUnsafeGuaranteedRef { values in
            if registry.recordsUndo { endJournals(object) }
            values.event.removeAll()
            guard values.hasRare, !values.eventOld.isEmpty else { return }
            for old in values.eventOld { if case .toMany(let members) = old.content { members.endJournal() } }
            values.eventOld = []
        }
    }

    private func endJournals(_ object: NSManagedObject) {
        for relation in object.relations.indices {
            object.relations.uncountedMembers(relation)?._withUnsafeGuaranteedRef { $0.endJournal() }
        }
    }

    // MARK: Delete rules

    /// Applies the delete rules of every object that was deleted since they were last applied.
    final func propagateDeletes() {
        while !pendingChanges.awaitingDeleteRules.isEmpty {
            let objects = pendingChanges.awaitingDeleteRules
            pendingChanges.awaitingDeleteRules = []
            let earlier = rowReading.failure
            rowReading.failure = nil
            if !objects.allHeldSatisfy({ !$0.isFault }) {
                realiseAll(objects.filter { $0.isFault })
                if children.mayExist { objects.forEachHeld { $0.supersedeRow() } }
            }
            readMembers(ofDeleted: objects)
            objects.forEachHeld { if $0.flags.contains(.deleted) { applyDeleteRules(of: $0) } }
            if rowReading.failure != nil {
                // Rules that could not be followed to the end are applied again, before anything is saved.
                pendingChanges.awaitingDeleteRules = objects + pendingChanges.awaitingDeleteRules
                return
            }
            rowReading.failure = earlier
            objects.forEachHeld { object in
                guard object.flags.isSuperset(of: [.deleted, .inserted]) else { return }
                forget(object)
                object.leaveRelations()
            }
        }
    }

    /// Reads the to-many relationships that the delete rules of several objects need, for all objects at once. Used if
    /// a statement for each object is expensive.
    private func readMembers(ofDeleted objects: [NSManagedObject]) {
        guard objects.count > 1, objects.contains(where: { $0.home.store?.isRemote == true }) else { return }
        let deleted = objects.filter { $0.flags.contains(.deleted) && !$0.flags.contains(.inaccessible) }
        for alike in Dictionary(grouping: deleted, by: { ObjectIdentifier($0.home) }).values where alike.count > 1 {
            guard let home = alike.first?.home, let store = home.store, store.isRemote, store.isAttached else {
                continue
            }
            let slots = home.deleteSteps.filter(\.isToMany).map(\.slot) + alike[0].runtime.validation.denying
            for slot in slots where home.facts[slot].isToMany {
                do { try readMembers(slot, of: alike) } catch {
                    return noteReadFailure(
                        error, "The members of '\(alike[0].runtime.slots[slot].name)' of \(alike.count) objects")
                }
            }
        }
    }

    private func applyDeleteRules(of object: NSManagedObject) {
        guard !object.flags.contains(.inaccessible) else { return }
        // If the rules are applied again, the row refers to a partner that the object has lost.
        if object.home.hasOneToOne { giveUpPartnersLedElsewhere(of: object) }
        for step in object.home.deleteSteps {
            guard step.isToMany else {
                if let target = object.toOne(step.slot) { apply(step, of: object, to: target) }
                continue
            }
            let members = object.knownMembers(step.slot).members
            if !step.cascades { realiseAll(members.filter { $0.isFault && !$0.hasCurrentRow }) }
            for target in members { apply(step, of: object, to: target) }
        }
        // If a read failed, the rules are applied again.
        guard rowReading.failure == nil else { return }
        if registry.recordsUndo, !object.flags.isSuperset(of: [.inserted, .eventInserted]) { recordDeletion(object) }
        object.leaveDestinations()
    }

    private func apply(_ step: DeleteStep, of object: NSManagedObject, to target: NSManagedObject) {
        // An object that has left the context loses nothing more.
        guard target.home.registryAddress == registryAddress else { return }
        if step.cascades {
            delete(target)
        } else if !target.flags.contains(.deleted) {
            takeNewestRow(of: target, ledBy: step.inverse, to: object)
            target.inverseDidLose(object, step.inverse)
        }
    }

    /// Gives the target its newest row if the store's row refers to the other object and the older row here does not.
    final func takeNewestRow(of target: NSManagedObject, ledBy inverse: Int, to object: NSManagedObject) {
        guard inverse >= 0, !target.home.facts[inverse].isToMany, target.isStored, target.hasRow, object.isStored,
            target.toOne(inverse) !== object, !target.isChanged(inverse),
            let store = target.home.store, store.isAttached
        else { return }
        do {
            guard let row = try store.source.row(target.primaryKey, root: target.home.root, staleness: 0),
                !target.hasSameRow(as: row)
            else { return }
            if target.isFault { target.takeRow(HeldRow(row)) } else { merge(row, into: target) }
        } catch { noteReadFailure(error, "\(target.objectID)") }
    }

    /// Releases an object that was inserted and deleted without a save in between.
    final func forget(_ object: NSManagedObject) {
        if !children.isEmpty { pendingChanges.discardedInsertions.append(object.objectID) }
        registry.unregister(object, primaryKey: object.primaryKey)
        object.flags.subtract([.inserted, .deleted, .registered, .updated])
        object.move(to: registry.homeOutside(object.home))
    }

    private func undelete(_ object: NSManagedObject) {
        object.flags.remove(.deleted)
        pendingChanges.awaitingDeleteRules.removeAll { $0 === object }
        pendingChanges.event.deletedStates.removeAll { $0.object === object }
        pendingChanges.event.restored.append(object)
        noteChange(of: object)
    }

    // MARK: Notifications

    /// Returns the user info of the notification of an event; `nil` if there is nothing to report.
    private func userInfo(of event: ChangeEvent) -> [AnyHashable: Any]? {
        var sets: [NotificationKey: Set<NSManagedObject>] = [:]
        // An object is reported under the last change that happened to it.
        sets[.insertedObjects] = Set(event.inserted.lazy.filter { $0.flags.contains(.registered) && !$0.isDeleted })
            .union(event.mergedInsertions.lazy.filter { !$0.isDeleted })
            .union(event.restored.lazy.filter { !$0.isDeleted })
        sets[.updatedObjects] = Set(
            event.updated.lazy.filter { !$0.isDeleted && !$0.flags.contains(.eventInserted) && $0.registry != nil })
        sets[.deletedObjects] = Set(
            event.deleted.lazy.filter { !$0.flags.contains(.eventInserted) })
        sets[.refreshedObjects] = Set(
            event.refreshed.lazy.filter { $0.flags.isDisjoint(with: [.eventDeleted, .eventInserted]) })
        sets[.invalidatedObjects] = Set(event.invalidated)
        var userInfo: [AnyHashable: Any] = [:]
        for (key, objects) in sets where !objects.isEmpty { userInfo[key.rawValue] = objects }
        guard !userInfo.isEmpty else { return nil }
        userInfo["managedObjectContext"] = self
        return userInfo
    }
}
