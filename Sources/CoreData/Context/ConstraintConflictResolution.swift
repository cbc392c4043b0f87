import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Resolves conflicts of uniqueness constraints: of the objects with equal values, one survives. Writes nothing.
///
/// ```
///  new object ──values that were set, if they win──▶ survivor: the row's object, else the first new one
///      ▲                                                ▲
///      └── references ─────────redirected───────────────┘
/// ```
/// The new object leaves the context. For an object that has a row itself, see ``resolve(stored:against:_:)``.
final class ConstraintConflictResolution {
    let context: NSManagedObjectContext
    let type: NSMergePolicyType
    /// The survivor of each object that was replaced.
    private(set) var survivors: [ObjectIdentifier: NSManagedObject] = [:]
    private var dropped: [NSManagedObject] = []
    /// The replaced objects whose rows will be deleted.
    private(set) var merged: [NSManagedObject] = []
    /// Objects of the row conflicts that this came to.
    private lazy var rows = RowConflictResolution(context, .rollbackMergePolicyType)

    var prefersMine: Bool { type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType }

    init(_ context: NSManagedObjectContext, _ type: NSMergePolicyType) {
        self.context = context
        self.type = type
    }

    func resolve(_ conflicts: [NSConstraintConflict]) throws {
        try readRows(of: conflicts.compactMap(\.databaseObject))
        // Check all conflicts before the first is resolved: after an error every object is unchanged.
        for conflict in conflicts { try checkPlaces(conflict, conflict.conflictingObjects.filter(isPresent)) }
        for conflict in conflicts {
            let objects = conflict.conflictingObjects.filter(isPresent)
            try checkPlaces(conflict, objects)
            if let row = conflict.databaseObject {
                guard let survivor = survivor(of: row), survivor.isStored, survivor.hasRow else { continue }
                for object in objects { try resolve(object, against: survivor, conflict.constraint) }
            } else if let survivor = objects.first(where: \.isStored) ?? objects.first {
                for object in objects where object !== survivor {
                    try resolve(object, against: survivor, conflict.constraint)
                }
            }
        }
        try redirectOneWayReferences()
        context.detach(dropped)
        for object in dropped { object.leaveRelations() }
    }

    func isPresent(_ object: NSManagedObject) -> Bool {
        object.registry === context.registry && !object.isDeleted && !object.flags.contains(.inaccessible)
            && survivors[ObjectIdentifier(object)] == nil
    }

    /// Returns the object, or the object that replaced it.
    func survivor(of object: NSManagedObject) -> NSManagedObject? {
        var object = object
        while let next = survivors[ObjectIdentifier(object)] { object = next }
        return isPresent(object) ? object : nil
    }

    /// Throws if the survivor, which is of another entity of the hierarchy, cannot take over something: values that
    /// were set on an object and win, and references to it.
    private func checkPlaces(_ conflict: NSConstraintConflict, _ objects: [NSManagedObject]) throws {
        let survivor = conflict.databaseObject.flatMap(survivor) ?? objects.first(where: \.isStored) ?? objects.first
        guard let survivor else { return }
        for object in objects where object !== survivor && object.runtime !== survivor.runtime {
            let lost = object.runtime.slots.indices.filter { slot in
                self.slot(slot, of: object, in: survivor) == nil
                    && (prefersMine && hasValue(object, slot) || isReferred(object, by: slot))
            }
            if !lost.isEmpty {
                let names = lost.map { object.runtime.slots[$0].name }.joined(separator: ", ")
                throw noPlace(
                    conflict, object, survivor,
                    "which has no place for \(names): delete that one first, or leave \(names) unset")
            }
            if let (referrer, name) = try referrer(to: object, thatCannotLeadTo: survivor) {
                throw noPlace(
                    conflict, object, survivor,
                    "to which \(name) of \(referrer.runtime.name) cannot lead: delete that one first, or set \(name) to another object"
                )
            }
        }
    }

    private func noPlace(
        _ conflict: NSConstraintConflict, _ object: NSManagedObject, _ survivor: NSManagedObject, _ why: String
    ) -> CocoaError {
        CoreDataErrors.constraint(
            [conflict], context.mergePolicy as? NSMergePolicy ?? .error,
            ". The \(object.runtime.name) cannot become the \(survivor.runtime.name) that has the values already, \(why)"
        )
    }

    /// Returns whether objects refer to this one by the inverse of its relationship. These references would be
    /// redirected to the survivor. A to-one that makes the object one of many is a value of its own.
    private func isReferred(_ object: NSManagedObject, by slot: Int) -> Bool {
        let info = object.runtime.slots[slot]
        guard !object.isStored || prefersMine, !info.property.isTransient, info.relationship?.inverseSlot != nil else {
            return false
        }
        if info.isToMany { return object.knownMembers(slot).members.contains { !$0.isDeleted } }
        return !info.isInverseToMany && object.toOne(slot).map { !$0.isDeleted } ?? false
    }

    /// Whether something was set that a row of the object would have, and that is not there by default.
    private func hasValue(_ object: NSManagedObject, _ slot: Int) -> Bool {
        let info = object.runtime.slots[slot]
        guard !info.property.isTransient, object.values?.changed.contains(slot) ?? false else { return false }
        guard let attribute = info.attribute else {
            return info.isToMany ? !object.members(slot).members.isEmpty : object.toOne(slot) != nil
        }
        return !attribute.isDerived && !object.attributeValue(slot).isNull
    }

    /// Reads the current rows of the conflicting objects, with few statements.
    private func readRows(of objects: [NSManagedObject]) throws {
        let clean = objects.filter { isPresent($0) && $0.isStored && !$0.hasChanges }
        for members in Dictionary(grouping: clean, by: { [Int($0.storeIndex), $0.home.root] }).values {
            guard let store = members[0].home.store, store.isAttached else { continue }
            let rows = try CoreDataErrors.converting {
                try store.newest.heldRows(members.map(\.primaryKey), root: members[0].home.root, staleness: 0)
            }
            for (object, index) in zip(members, rows.indices) {
                if !rows.hasRow(index) || object.isFault {
                    object.takeRow(rows.take(index))
                } else if object.row?.version != rows.view(index).version {
                    context.merge(rows[index], into: object)
                }
            }
        }
    }

    private func resolve(
        _ object: NSManagedObject, against survivor: NSManagedObject, _ constraint: [String]
    ) throws {
        if object.isStored {
            try resolve(stored: object, against: survivor, constraint)
        } else {
            context.objectWillMerge?(object, survivor)
            if prefersMine { giveValues(of: object, to: survivor) }
            redirectReferences(of: object, to: survivor)
            drop(object, for: survivor)
        }
    }

    private func drop(_ object: NSManagedObject, for survivor: NSManagedObject) {
        survivors[ObjectIdentifier(object)] = survivor
        dropped.append(object)
        context.pendingChanges.event.deleted.append(object)
        if object.hasTemporaryKey, object.cachedID != nil || context.isKnownElsewhere {
            context.saveState.absorbedInsertions.append((object.primaryKey, survivor))
        }
    }

    // MARK: Objects that have rows themselves

    /// Resolves a conflict between an object that was changed and another row with the same values. Both rows are in
    /// the store, so the constraint says that they are the same thing.
    ///
    /// - If the context wins, they become one: the other row's object gets the changes and the references of this
    ///   object, and this object is deleted.
    /// - If the store wins, the constraint's properties get their former values; under the rollback policy, all
    ///   properties.
    private func resolve(
        stored object: NSManagedObject, against survivor: NSManagedObject, _ constraint: [String]
    ) throws {
        if prefersMine {
            context.objectWillMerge?(object, survivor)
            giveValues(of: object, to: survivor)
            for (slot, info) in object.runtime.slots.enumerated()
            where info.isToMany && info.relationship?.inverseSlot != nil && !info.property.isTransient {
                _ = object.knownMembers(slot)
            }
            redirectReferences(of: object, to: survivor)
            survivors[ObjectIdentifier(object)] = survivor
            // New objects that this object absorbed in an earlier round now become the survivor.
            for index in context.saveState.absorbedInsertions.indices
            where context.saveState.absorbedInsertions[index].survivor === object {
                context.saveState.absorbedInsertions[index].survivor = survivor
            }
            merged.append(object)
            context.delete(object)
            return
        }
        guard let row = object.row, let store = object.home.store else { return }
        if type == .rollbackMergePolicyType {
            let conflict = NSMergeConflict(
                object, in: store, expectedVersion: row.version, cached: nil, persisted: row)
            return try rows.resolve([conflict])
        }
        for name in constraint {
            guard let slot = object.runtime.slot(forKey: name) else { continue }
            if object.runtime.slots[slot].attribute != nil {
                object.values?[slot] = nil
                object.values?.changed.remove(slot)
            } else {
                object.setToOne(object.committedToOne(slot), slot)
                object.values?.changed.remove(slot)
            }
        }
        if object.isUpdated, !object.hasPersistentChangedValues { object.flags.remove(.updated) }
        context.pendingChanges.event.refreshed.append(object)
    }

    // MARK: Values

    /// Sets the values that were set on the object on the survivor. Properties that were never set, and equal values,
    /// stay unchanged.
    private func giveValues(of object: NSManagedObject, to survivor: NSManagedObject) {
        guard let changed = object.values?.changed else { return }
        var same: [(place: Int, value: Value)] = []
        for slot in changed {
            let info = object.runtime.slots[slot]
            guard let attribute = info.attribute, !attribute.isDerived, !info.property.isTransient,
                let place = self.slot(slot, of: object, in: survivor)
            else { continue }
            survivor.fireIfNeeded(slot: place)
            let value = object.attributeValue(slot)
            if survivor.attributeValue(place) != value {
                survivor.setAttribute(value, place)
            } else {
                same.append((place, value))
            }
        }
        // Set here as well, for another row that the survivor may meet by one of the other values.
        guard survivor.isUpdated else { return }
        for (place, value) in same {
            let values = survivor.liveValues()
            values[place] = value
            values.changed.insert(place)
        }
    }

    /// Returns the survivor's slot for a property of the object; `nil` if its entity does not have the property.
    private func slot(_ slot: Int, of object: NSManagedObject, in survivor: NSManagedObject) -> Int? {
        if object.runtime === survivor.runtime { return slot }
        let info = object.runtime.slots[slot]
        guard let place = survivor.runtime.slot(forKey: info.name),
            survivor.runtime.slots[place].property.declaringEntity == info.property.declaringEntity
        else { return nil }
        return place
    }

    // MARK: References

    /// Redirects references to the object to the survivor. If the context wins, the survivor also gets the object's own
    /// references.
    private func redirectReferences(of object: NSManagedObject, to survivor: NSManagedObject) {
        guard !object.relations.isEmpty else { return }
        for (index, slot) in object.runtime.relationSlots.enumerated() where object.relations.isRead(index) {
            let info = object.runtime.slots[slot]
            guard !info.property.isTransient else { continue }
            let place = self.slot(slot, of: object, in: survivor)
            if info.isToMany {
                redirectMembers(slot, of: object, to: survivor, place)
            } else {
                redirectToOne(slot, of: object, to: survivor, place)
            }
        }
    }

    private func redirectToOne(
        _ slot: Int, of object: NSManagedObject, to survivor: NSManagedObject, _ place: Int?
    ) {
        let info = object.runtime.slots[slot]
        let target = object.toOne(slot)
        let wasSet = object.values?.changed.contains(slot) ?? false
        let inverse = info.relationship?.inverseSlot
        guard let target, target !== survivor, !target.isDeleted else {
            if let target, let inverse { target.inverseDidLose(object, inverse) }
            if prefersMine, wasSet, target == nil, let place { survivor.setToOne(nil, place) }
            return
        }
        guard let inverse else {
            if prefersMine, wasSet, let place { survivor.setToOne(target, place) }
            return
        }
        // Of one-to-one relationships the other side refers to the object too.
        let isReferred = !info.isInverseToMany && place.map { survivor.toOne($0) == nil } ?? false
        let isGiven = place != nil && (wasSet && prefersMine || isReferred)
        if info.isInverseToMany, isGiven {
            replace(object, by: survivor, among: target, inverse)
        } else {
            target.inverseDidLose(object, inverse)
            if isGiven, let place { survivor.setToOne(target, place) }
        }
        object.assignToOne(nil, slot)
    }

    /// Replaces the object by the survivor.
    func replace(
        _ object: NSManagedObject, by survivor: NSManagedObject, among target: NSManagedObject, _ slot: Int
    ) {
        let members = target.runtime.slots[slot].relationship?.isOrdered == true ? target.knownMembers(slot) : nil
        let position = members?.position(of: object)
        let isMember = members?.contains(survivor) ?? false
        target.removeMember(object, slot)
        target.addMember(survivor, slot, at: isMember ? nil : position)
    }

    private func redirectMembers(
        _ slot: Int, of object: NSManagedObject, to survivor: NSManagedObject, _ place: Int?
    ) {
        let info = object.runtime.slots[slot]
        let inverse = info.relationship?.inverseSlot
        for member in object.members(slot).members where !member.isDeleted {
            if let inverse, info.isInverseToMany, member.runtime.slots[inverse].relationship?.isOrdered == true {
                if place != nil { replace(object, by: survivor, among: member, inverse) }
                continue
            }
            if inverse != nil { object.removeMember(member, slot) }
            guard let place, member !== survivor, inverse != nil || prefersMine else { continue }
            survivor.addMember(member, place)
        }
    }
}
