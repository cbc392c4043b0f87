import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Relationships: reading, setting, and keeping both sides in step.
extension NSManagedObject {
    // MARK: To-one

    /// The destination, as an object that may be a fault.
    final func toOne(_ slot: Int) -> NSManagedObject? { uncountedToOne(slot)?.takeUnretainedValue() }

    /// The destination, without counting a reference: for as long as the relationship is not set.
    final func uncountedToOne(_ slot: Int) -> Unmanaged<NSManagedObject>? {
        let relation = Int(home.facts[slot].relation)
        if !relations.isRead(relation) {
            let address = retainedDestination(slot)
            if address == 0, isUnasked(slot) { return askedToOne(slot) }
            relations.takeToOne(relation, address, of: home.relationCount)
        }
        return relations.uncountedToOne(relation)
    }

    /// Whether the row lacks the destination of a to-one: the store is asked when it is read.
    final func isUnasked(_ slot: Int) -> Bool {
        let column = Int(home.facts[slot].column)
        guard column >= 0, let row = rowView else { return false }
        return row.isUnreadable(column)
    }

    /// Returns the destination that the store has now. If the store cannot be read, the relationship stays unread.
    @inline(never)
    private final func askedToOne(_ slot: Int) -> Unmanaged<NSManagedObject>? {
        guard managedObjectContext?.askDestination(of: self, slot: slot) == true else { return nil }
        return uncountedToOne(slot)
    }

    /// Forgets to-ones whose destination the row does not contain, so that the next read asks for them again.
    final func forgetUnaskedToOnes() {
        for (index, slot) in runtime.relationSlots.enumerated() where relations.isRead(index) && isUnasked(slot) {
            relations.forget(index)
        }
    }

    /// The destination that the row names.
    final func committedToOne(_ slot: Int) -> NSManagedObject? {
        var address = retainedDestination(slot)
        if address == 0, isUnasked(slot), managedObjectContext?.askDestination(of: self, slot: slot) == true {
            address = retainedDestination(slot)
        }
        return UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0).takeRetainedValue() }
    }

    /// The address of that object, retained, or 0.
    private final func retainedDestination(_ slot: Int) -> UInt {
        // The object keeps its home meanwhile, so no reference is counted.
        Unmanaged.passUnretained(home)._withUnsafeGuaranteedRef { home in
            let facts = home.facts + slot
            let column = Int(facts.pointee.column)
            guard let row = rowView, column >= 0, !row.isNull(column), let registry = home.uncountedRegistry else {
                return 0
            }
            let key = row.integer(column)
            let known = registry._withUnsafeGuaranteedRef {
                $0.retainedDestination(
                    of: home, Int(facts.pointee.relation), root: Int(facts.pointee.destinationRoot), primaryKey: key)
            }
            return known != 0 ? known : retainedFault(key, row, facts)
        }
    }

    /// Returns the retained address of a destination that is not registered, or 0.
    @inline(never)
    private final func retainedFault(_ key: Int64, _ row: RowView, _ facts: UnsafePointer<SlotFacts>) -> UInt {
        guard let context = managedObjectContext, let store = home.store else { return 0 }
        let entityColumn = Int(facts.pointee.entityColumn)
        context.noteTrail(
            from: self, slot: facts - UnsafePointer(home.facts), to: key, root: Int(facts.pointee.destinationRoot),
            in: store)
        let number = entityColumn >= 0 && !row.isNull(entityColumn) ? row.integer(entityColumn) : nil
        let made = context.destination(
            in: store, entity: Int(facts.pointee.destination), entityNumber: number, primaryKey: key)
        return made.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
    }

    final func setToOne(_ object: NSManagedObject?, _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        if let object { checkDestination(object, slot) }
        let old = toOne(slot)
        noteOldValue(slot)
        assignToOne(object, slot)
        markChanged(slot)
        let inverse = Int(home.facts[slot].inverse)
        guard old !== object, inverse >= 0, home.isInContext else { return }
        old?.inverseDidLose(self, inverse)
        object?.inverseDidGain(self, inverse)
    }

    final func assignToOne(_ object: NSManagedObject?, _ slot: Int) {
        relations.setToOne(Int(home.facts[slot].relation), object, of: home.relationCount)
    }

    // MARK: To-many

    /// The relationship's members, read or not.
    final func members(_ slot: Int) -> ToManyMembers { uncountedMembers(slot).takeUnretainedValue() }

    /// The relationship's members, without counting a reference: the relationship holds them.
    private final func uncountedMembers(_ slot: Int) -> Unmanaged<ToManyMembers> {
        let relation = Int(home.facts[slot].relation)
        if let members = relations.uncountedMembers(relation) { return members }
        let info = runtime.slots[slot]
        let mayBeStored = isStored && !info.property.isTransient
        let facts = home.facts + slot
        let members = ToManyMembers(
            isOrdered: info.relationship?.isOrdered ?? false, isKnown: !mayBeStored,
            isKeptByMembers: facts.pointee.inverse >= 0 && !facts.pointee.isInverseToMany)
        relations.setMembers(relation, members, of: home.relationCount)
        return .passUnretained(members)
    }

    /// Returns the relationship's members. If they are not known yet, one statement reads them from the store.
    ///
    /// If they cannot be read, they stay unknown, and the context cannot be saved.
    ///
    /// `changing` is a member whose to-one is just being changed and that must still be removed.
    final func knownMembers(_ slot: Int, besides changing: NSManagedObject? = nil) -> ToManyMembers {
        let members = members(slot)
        if !members.isKnown, let context = managedObjectContext,
            let stored = context.storedMembers(of: self, slot: slot)
        {
            members.know(stored)
            context.giveUpMembersLedElsewhere(stored, of: self, slot, besides: changing)
        }
        return members
    }

    final func addMember(_ object: NSManagedObject, _ slot: Int, at index: Int? = nil) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        checkDestination(object, slot)
        let members = index == nil && !mustKnowMembers(slot) ? members(slot) : knownMembers(slot)
        noteOldValue(slot)
        if let index {
            guard !members.contains(object) else { return }
            members.insert(object, at: index)
        } else if !members.add(object) {
            return
        }
        markChanged(slot)
        if isKnownToOthers, let inverse = runtime.slots[slot].relationship?.inverseSlot {
            object.inverseDidGain(self, inverse)
        }
        if members.hasOpposites { settleOpposites(object, slot) }
    }

    /// Whether destinations are informed about this object; not for an object that a batch insert fills.
    private final var isKnownToOthers: Bool { home.isInContext || !flags.contains(.ignoresChanges) }

    final func removeMember(_ object: NSManagedObject, _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        let members = mustKnowMembers(slot) ? knownMembers(slot) : members(slot)
        noteOldValue(slot)
        guard members.remove(object) else { return }
        markChanged(slot)
        if let inverse = runtime.slots[slot].relationship?.inverseSlot { object.inverseDidLose(self, inverse) }
        if members.hasOpposites { settleOpposites(object, slot) }
    }

    /// Whether it has to be known of an object if it is a member already, so that undo does not take out one that was.
    private final func mustKnowMembers(_ slot: Int) -> Bool {
        let facts = home.facts + slot
        guard facts.pointee.inverse < 0 || facts.pointee.isInverseToMany, let registry = home.uncountedRegistry else {
            return false
        }
        return registry._withUnsafeGuaranteedRef { $0.recordsUndo }
    }

    /// Whether the positions of unread members are needed, so that undo can restore a lost member.
    @inline(__always)
    private final func mustKnowOrder(_ slot: Int) -> Bool {
        guard let registry = home.uncountedRegistry, registry._withUnsafeGuaranteedRef({ $0.recordsUndo }) else {
            return false
        }
        return runtime.slots[slot].relationship?.isOrdered ?? false
    }

    /// Puts members of an ordered relationship elsewhere; `index` counts without them.
    final func moveMembers(_ objects: [NSManagedObject], to index: Int, _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        let members = knownMembers(slot)
        noteOldValue(slot)
        members.move(objects, to: index)
        markChanged(slot)
    }

    final func setToMany(_ objects: [NSManagedObject], _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        for object in objects { checkDestination(object, slot) }
        let members = knownMembers(slot)
        noteOldValue(slot)
        let old = members.members
        members.replaceAll(with: objects)
        markChanged(slot)
        guard isKnownToOthers, let inverse = runtime.slots[slot].relationship?.inverseSlot else { return }
        let before = Set(old.map(ObjectReference.init))
        for object in old where !members.contains(object) { object.inverseDidLose(self, inverse) }
        for object in members.members where !before.contains(ObjectReference(object)) {
            object.inverseDidGain(self, inverse)
        }
    }

    // MARK: The other side

    /// Adds an object to this object's relationship because the inverse of that object was set to this one.
    final func inverseDidGain(_ object: NSManagedObject, _ slot: Int) {
        let facts = home.facts + slot
        if facts.pointee.isToMany {
            if mustKnowOrder(slot) { _ = knownMembers(slot, besides: object) }
            let members = uncountedMembers(slot)
            noteOldValue(slot)
            let isNew = members._withUnsafeGuaranteedRef {
                facts.pointee.isInverseToMany ? $0.add(object) : $0.gain(object)
            }
            if isNew { markChanged(slot) }
            if members._withUnsafeGuaranteedRef({ $0.hasOpposites }) { settleOpposites(object, slot) }
            return
        }
        fireIfNeeded(slot: slot)
        let previous = toOne(slot)
        guard previous !== object else { return }
        noteOldValue(slot)
        assignToOne(object, slot)
        markChanged(slot)
        // The former owner loses this object.
        if let previous, facts.pointee.inverse >= 0 { previous.inverseDidLose(self, Int(facts.pointee.inverse)) }
    }

    /// Removes an object from this object's relationship because the inverse of that object does not refer to this one
    /// any more.
    final func inverseDidLose(_ object: NSManagedObject, _ slot: Int) {
        let facts = home.facts + slot
        if facts.pointee.isToMany {
            if mustKnowOrder(slot) { _ = knownMembers(slot, besides: object) }
            let members = uncountedMembers(slot)
            noteOldValue(slot)
            let wasMember = members._withUnsafeGuaranteedRef {
                facts.pointee.isInverseToMany ? $0.remove(object) : $0.lose(object)
            }
            if wasMember { markChanged(slot) }
            if members._withUnsafeGuaranteedRef({ $0.hasOpposites }) { settleOpposites(object, slot) }
            return
        }
        fireIfNeeded(slot: slot)
        guard let known = uncountedToOne(slot), known._withUnsafeGuaranteedRef({ $0 === object }) else { return }
        noteOldValue(slot)
        assignToOne(nil, slot)
        markChanged(slot)
    }

    /// Handles an object that was added and removed, or removed and added, while the members were unread. If its own
    /// side records no change, there is nothing to record here.
    @inline(never)
    final func settleOpposites(_ object: NSManagedObject, _ slot: Int) {
        let facts = home.facts[slot]
        guard facts.inverse >= 0, facts.isInverseToMany, object !== self || Int(facts.inverse) != slot,
            let members = relations.uncountedMembers(Int(facts.relation))?.takeUnretainedValue(), members.hasOpposites
        else { return }
        let relation = Int(object.home.facts[Int(facts.inverse)].relation)
        if let others = object.relations.uncountedMembers(relation)?.takeUnretainedValue(), others !== members {
            let reference = ObjectReference(self)
            if others.added.contains(reference) || others.removed.contains(reference) { return }
        }
        members.forgetNote(of: object)
    }

    /// Removes this object from the relationships of the objects that it refers to.
    final func leaveInverses() {
        for (object, inverse) in relatives where object !== self { object.inverseDidLose(self, inverse) }
    }

    /// The objects that this one refers to, as far as its relationships were read, and their relationships that refer
    /// back.
    final var relatives: [(object: NSManagedObject, slot: Int)] {
        var found: [(object: NSManagedObject, slot: Int)] = []
        for (relation, slot) in runtime.relationSlots.enumerated() where relations.isRead(relation) {
            guard let inverse = runtime.slots[slot].relationship?.inverseSlot else { continue }
            if let members = relations.uncountedMembers(relation) {
                found += members.takeUnretainedValue().members.map { ($0, inverse) }
            } else if let object = toOne(slot) {
                found.append((object, inverse))
            }
        }
        return found
    }

    /// Stops the program if the object cannot be a destination of the relationship.
    final func checkDestination(_ object: NSManagedObject, _ slot: Int) {
        // The usual case is checked without counting a reference.
        let isWhole = flags.union(object.flags).isDisjoint(with: [.deleted, .inaccessible])
        if object.home.registryAddress == home.registryAddress, object.home.ordinal == home.facts[slot].destination {
            if !isWhole { noteDangling(object) }
            return
        }
        if !isWhole || object.home.registryAddress != home.registryAddress { noteDangling(object) }
        guard let relationship = runtime.slots[slot].relationship else { return }
        if object.registry !== registry, let registry, let other = object.registry {
            preconditionFailure(
                """
                Illegal attempt to establish a relationship '\(runtime.slots[slot].name)' between objects in \
                different contexts (source = '\(runtime.name)' in \(registry.context?.contextName ?? "none"), \
                destination = '\(object.runtime.name)' in \(other.context?.contextName ?? "none")). \
                Use context.object(with: destination.objectID).
                """)
        }
        if relationship.destination == object.runtime.ordinal { return }
        guard runtime.slots[slot].destinationSubtree.contains(object.runtime.ordinal) else {
            preconditionFailure(
                """
                Unacceptable type of value for \(relationship.isToMany ? "to-many" : "to-one") relationship: \
                property = "\(runtime.slots[slot].name)"; entity = "\(runtime.name)"; desired type = \
                "\(runtime.slots[slot].destinationName)"; given type = "\(object.runtime.name)".
                """)
        }
    }

    // MARK: Asking without reading

    /// Whether the relationship has not been read yet; asking does not read it.
    public final func hasFault(forRelationshipNamed key: String) -> Bool {
        guard let slot = runtime.slot(forKey: key), runtime.slots[slot].relationship != nil else { return false }
        if isFault { return true }
        let info = runtime.slots[slot]
        switch relations[info.relation] {
        case .toOne(let object): return object?.isFault ?? false
        case .toMany(let members): return !members.isKnown
        case .unread:
            if info.isToMany { return isStored }
            return toOne(slot)?.isFault ?? false
        }
    }

    /// The IDs of the relationship's destinations; reads the relationship, not its members.
    public final func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        guard let slot = runtime.slot(forKey: key), let relationship = runtime.slots[slot].relationship else {
            return []
        }
        fireIfNeeded(slot: slot)
        if relationship.isToMany { return knownMembers(slot).members.map(\.objectID) }
        return toOne(slot).map { [$0.objectID] } ?? []
    }
}
