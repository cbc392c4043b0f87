/// The members of one object's to-many relationship, read or not.
///
/// Until they are read, additions and removals are only recorded, so that setting `item.unit` does not read all items
/// of the unit. Reading applies the records. `added` and `removed` are always relative to the store's members.
///
/// ```
/// recorded ──read──▶ known          add, remove: allowed in both
/// ```
/// If an object is added and removed, or the reverse, while the members are not known, it may have been a member or
/// not: the last record counts. Opposite records cancel each other only if each member's to-one names its owner.
///
/// Changes are first appended to a list, and are moved into sets when `added` or `removed` is read. For most
/// relationships, which are stored in the column of a to-one, that never happens.
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether each member's to-one names its owner.
    let isKeptByMembers: Bool
    // As with the fields of an object, no other code reads a variable while it changes.

    /// Whether the list is complete.
    @exclusivity(unchecked) private(set) var isKnown: Bool
    /// Whether opposite records of one object exist while the members are not known.
    @exclusivity(unchecked) private(set) var hasOpposites = false
    /// Changes that are not in the sets yet. Its position in memory lets an addition touch no other cache line.
    @exclusivity(unchecked) private var log: [Change] = []
    /// In order for an ordered relationship; otherwise in the order in which they were read and added.
    @exclusivity(unchecked) var list = MemberList()
    @exclusivity(unchecked) var addedSet: Set<ObjectReference> = []
    /// In an unread ordered relationship it also has members that were removed and added again, which are in
    /// `addedSet`, too: they are at the end.
    @exclusivity(unchecked) var removedSet: Set<ObjectReference> = []
    /// Additions in the order in which they came, while the members are not known.
    @exclusivity(unchecked) var noted: [NSManagedObject] = []
    /// Members that stay changed places among each other.
    @exclusivity(unchecked) var isReordered = false
    /// The members before the first of them was moved, as far as they are known.
    @exclusivity(unchecked) var orderBefore: [NSManagedObject]?
    /// The members that the store has of an owner that is deleted, and has none any more.
    @exclusivity(unchecked) var left: [NSManagedObject]?
    /// The changes of known members since the event began, from the first time that former members are needed.
    @exclusivity(unchecked) var journal: [Step]?

    private enum Change {
        case add(NSManagedObject)
        case remove(NSManagedObject)
    }

    /// One change of the members; positions are -1 if they were not known.
    enum Step {
        case insertion(NSManagedObject)
        case removal(NSManagedObject, at: Int)
        case replacement([NSManagedObject], by: [NSManagedObject])
    }

    init(isOrdered: Bool, isKnown: Bool, isKeptByMembers: Bool = false) {
        self.isOrdered = isOrdered
        self.isKeptByMembers = isKeptByMembers
        self.isKnown = isKnown
    }

    // MARK: Asking

    /// A list of all members, which costs a step for each; for a single member use ``subscript(_:)`` and
    /// ``contains(_:)``.
    var members: [NSManagedObject] { list.members }

    var count: Int { list.count }

    subscript(index: Int) -> NSManagedObject { list[index] }

    func contains(_ object: NSManagedObject) -> Bool { list.contains(object) }

    func position(of object: NSManagedObject) -> Int? { list.position(of: object) }

    /// Whether the object was added, and the members are not known.
    func isNoted(_ object: NSManagedObject) -> Bool {
        sortOut()
        return addedSet.contains(ObjectReference(object))
    }

    /// The members that are not members in the store.
    var added: Set<ObjectReference> {
        sortOut()
        return addedSet
    }

    /// The store's members that are not members here.
    var removed: Set<ObjectReference> {
        sortOut()
        return hasOpposites ? removedSet.subtracting(addedSet) : removedSet
    }

    /// Returns the added members that do not pass.
    func added(except passes: (NSManagedObject) -> Bool) -> [NSManagedObject] {
        let isDoubtful =
            addedSet.contains { !passes($0.object) }
            || log.contains { if case .add(let object) = $0 { !passes(object) } else { false } }
        // Only then additions must be separated from removals.
        return isDoubtful ? added.lazy.map(\.object).filter { !passes($0) } : []
    }

    var hasChanges: Bool {
        sortOut(unlessUniform: true)
        return !log.isEmpty || !addedSet.isEmpty || !removedSet.isEmpty || isReordered
    }

    /// The store's members, for a known relationship; in their order if no member was moved.
    var committedMembers: [NSManagedObject] {
        if let left { return left }
        let added = added
        return members.filter { !added.contains(ObjectReference($0)) } + removed.map(\.object)
    }

    // MARK: Reading

    /// Sets the store's members, and applies the recorded changes.
    func know(_ stored: [NSManagedObject]) {
        guard !isKnown else { return }
        sortOut()
        isKnown = true
        list.reserveCapacity(stored.count + noted.count)
        if hasOpposites { forgetEarlierNotes() }
        var present: Set<ObjectReference> = []
        for object in stored {
            let reference = ObjectReference(object)
            if removedSet.contains(reference) {
                present.insert(reference)
            } else {
                // Noted as an addition, but it is a member already: no change.
                addedSet.remove(reference)
                list.append(object)
            }
        }
        // Noted removals of objects that are not members in the store are no change.
        removedSet.formIntersection(present)
        for object in noted where addedSet.contains(ObjectReference(object)) && !contains(object) {
            list.append(object)
        }
        noted = []
        guard hasOpposites else { return }
        hasOpposites = false
        let returned = removedSet.intersection(addedSet)
        if !returned.isEmpty { isReordered = true }
        addedSet.subtract(returned)
        removedSet.subtract(returned)
    }

    /// For an object that was added several times, the last addition determines its position.
    private func forgetEarlierNotes() {
        var later: Set<ObjectReference> = []
        noted = noted.reversed().filter { later.insert(ObjectReference($0)).inserted }.reversed()
    }

    // MARK: Changing

    /// Adds the object at the end; whether it was not a member (as far as is known).
    @discardableResult
    func add(_ object: NSManagedObject) -> Bool {
        if isKnown {
            guard !contains(object) else { return false }
            list.append(object)
        } else {
            sortOut()
            guard !addedSet.contains(ObjectReference(object)) else { return false }
            if !isKeptByMembers, removedSet.contains(ObjectReference(object)) {
                noteReturn(of: object)
                return true
            }
        }
        journal?.append(.insertion(object))
        log.append(.add(object))
        return true
    }

    /// Removes the object; whether it was a member (as far as is known).
    @discardableResult
    func remove(_ object: NSManagedObject) -> Bool {
        if isKnown {
            noteOrder()
            guard let position = list.remove(object) else { return false }
            journal?.append(.removal(object, at: position))
        } else {
            sortOut()
            if !isKeptByMembers, addedSet.remove(ObjectReference(object)) != nil {
                noteDeparture(of: object)
                return true
            }
            guard !removedSet.contains(ObjectReference(object)) else { return false }
            journal?.append(.removal(object, at: -1))
        }
        log.append(.remove(object))
        return true
    }

    /// Records that a removed object is added again, while it is not known whether the store has it.
    private func noteReturn(of object: NSManagedObject) {
        journal?.append(.insertion(object))
        hasOpposites = true
        if !isOrdered { removedSet.remove(ObjectReference(object)) }
        addedSet.insert(ObjectReference(object))
        noted.append(object)
    }

    /// Records that an added object is removed again, while it is not known whether the store has it; a new object it
    /// does not have.
    private func noteDeparture(of object: NSManagedObject) {
        journal?.append(.removal(object, at: -1))
        hasOpposites = true
        if object.isStored { removedSet.insert(ObjectReference(object)) }
    }

    /// Forgets the record of an object, because the store's state is the wanted one.
    func forgetNote(of object: NSManagedObject) {
        guard !isKnown else { return }
        sortOut()
        addedSet.remove(ObjectReference(object))
        removedSet.remove(ObjectReference(object))
    }

    /// Records that the object's to-one was set to this owner and was not before.
    ///
    /// This is a change even if the members, which were read at another time than the object's row, contain the object
    /// already: a deletion of the owner by another writer must become a conflict.
    func gain(_ object: NSManagedObject) -> Bool {
        if isKnown, add(object) { return true }
        if !isKnown { journal?.append(.insertion(object)) }
        log.append(.add(object))
        return true
    }

    /// Records that the object's to-one referred to this owner and does not any more; as with ``gain(_:)``, even if the
    /// members do not contain it.
    func lose(_ object: NSManagedObject) -> Bool {
        if isKnown, remove(object) { return true }
        if !isKnown { journal?.append(.removal(object, at: -1)) }
        log.append(.remove(object))
        return true
    }

    /// Inserts the object at a position of an ordered relationship with known members.
    func insert(_ object: NSManagedObject, at index: Int) {
        guard !contains(object) else { return }
        journal?.append(.insertion(object))
        list.insert(object, at: index)
        log.append(.add(object))
    }

    /// Puts members of an ordered relationship elsewhere; `index` counts without them.
    func move(_ objects: [NSManagedObject], to index: Int) {
        if !isReordered, orderBefore == nil { orderBefore = members }
        let moved = objects.filter { object in
            guard let position = list.remove(object) else { return false }
            journal?.append(.removal(object, at: position))
            // Each index decreases by the moved members before it. If all were at the index, they return to their
            // positions.
            if position != index { isReordered = true }
            return true
        }
        var place = index
        for object in moved {
            journal?.append(.insertion(object))
            list.insert(object, at: place)
            place += 1
        }
    }

    /// Replaces all members, and records the removed and added ones.
    func replaceAll(with objects: [NSManagedObject]) {
        var wanted: Set<ObjectReference> = []
        wanted.reserveCapacity(objects.count)
        let unique = objects.filter { wanted.insert(ObjectReference($0)).inserted }
        let members = members
        noteOrder()
        journal?.append(.replacement(members, by: unique))
        for member in members where !wanted.contains(ObjectReference(member)) { log.append(.remove(member)) }
        for object in unique where !contains(object) { log.append(.add(object)) }
        let stayed = members.filter { wanted.contains(ObjectReference($0)) }
        if isOrdered, !zip(stayed, unique.filter { contains($0) }).allSatisfy({ $0 === $1 }) {
            if !isReordered, orderBefore == nil { orderBefore = members }
            isReordered = true
        }
        list = MemberList(unique)
    }

    /// Records the order, so that a removal that is undone restores the positions.
    private func noteOrder() {
        if isOrdered, journal != nil, orderBefore == nil, !isReordered { orderBefore = members }
    }

    /// The same members with the same changes.
    func copy() -> ToManyMembers {
        let copy = ToManyMembers(isOrdered: isOrdered, isKnown: isKnown, isKeptByMembers: isKeptByMembers)
        copy.hasOpposites = hasOpposites
        copy.log = log
        copy.list = MemberList(members)
        copy.addedSet = addedSet
        copy.removedSet = removedSet
        copy.noted = noted
        copy.isReordered = isReordered
        copy.orderBefore = orderBefore
        copy.left = left
        copy.journal = journal
        return copy
    }

    /// Makes the current members the store's members.
    func commit() {
        hasOpposites = false
        orderBefore = nil
        log = []
        addedSet = []
        removedSet = []
        noted = []
        isReordered = false
        left = nil
    }

    /// The owner is deleted: there are no members any more, and nothing was done to them.
    func leave() {
        guard isKnown else { return }
        let committed = left ?? (hasChanges ? committedMembers : members)
        journal?.append(.replacement(members, by: []))
        list = MemberList()
        commit()
        left = committed
    }

    // MARK: Bookkeeping

    /// Puts logged changes into the sets.
    ///
    /// Additions alone, or removals alone, do not cancel each other out: that there are any is a change, without
    /// looking closer.
    func sortOut(unlessUniform: Bool = false) {
        guard !log.isEmpty else { return }
        if unlessUniform, addedSet.isEmpty, removedSet.isEmpty {
            let removals = log.count { if case .remove = $0 { true } else { false } }
            if removals == 0 || removals == log.count { return }
        }
        for change in log {
            switch change {
            case .add(let object):
                let reference = ObjectReference(object)
                if removedSet.remove(reference) != nil {
                    if isKnown, isOrdered { isReordered = true }
                } else if addedSet.insert(reference).inserted, !isKnown {
                    noted.append(object)
                }
            case .remove(let object):
                let reference = ObjectReference(object)
                if addedSet.remove(reference) == nil { removedSet.insert(reference) }
            }
        }
        log = []
    }
}
