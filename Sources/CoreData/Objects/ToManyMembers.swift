/// The members of one object's to-many relationship, whether they have been read or not.
///
/// Until they are read, additions and removals are only noted, so that setting `item.unit` does not read all items of
/// the unit. Reading applies what was noted. `added` and `removed` are always relative to what the store has.
///
/// ```
/// noted ──read──▶ known          add, remove: allowed in both
/// ```
/// Who is added and removed, or the other way round, while the members are not known may have been one or not: what was noted last
/// holds. Only where each member's to-one tells whose it is, opposites are no change.
///
/// Changes go to a list first, and from there into sets when somebody asks what was added or removed: of most
/// relationships, which are kept by the column of a to-one, nobody does.
final class ToManyMembers {
    let isOrdered: Bool
    /// Whether each member's to-one tells whose it is.
    let isKeptByMembers: Bool
    // As with the fields of an object, nobody else looks at one while it changes.

    /// Whether the list is complete.
    @exclusivity(unchecked) private(set) var isKnown: Bool
    /// Whether of an object the opposite was noted of what had been noted before, while the members are not known.
    @exclusivity(unchecked) private(set) var hasOpposites = false
    /// Changes that are not in the sets yet. It lies where an addition touches no other line of the processor's cache.
    @exclusivity(unchecked) private var log: [Change] = []
    /// In order where that matters; without order they come as they were read and added.
    @exclusivity(unchecked) var list = MemberList()
    @exclusivity(unchecked) var addedSet: Set<ObjectReference> = []
    /// In an unread order also those that went and came back, which are in `addedSet` too: they stand at the end.
    @exclusivity(unchecked) var removedSet: Set<ObjectReference> = []
    /// Additions in the order in which they came, while the members are not known.
    @exclusivity(unchecked) var noted: [NSManagedObject] = []
    /// Members that stay changed places among each other.
    @exclusivity(unchecked) var isReordered = false
    /// The members as they were before the first of them was moved, as far as that is known.
    @exclusivity(unchecked) var orderBefore: [NSManagedObject]?
    /// The members that the store has of an owner that is deleted, and has none any more.
    @exclusivity(unchecked) var left: [NSManagedObject]?
    /// What was done to known members since the event began, once something has to remember how they were.
    @exclusivity(unchecked) var journal: [Step]?

    private enum Change {
        case add(NSManagedObject)
        case remove(NSManagedObject)
    }

    /// One thing that was done to the members; positions are -1 where they were not known.
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

    /// A list of them all, which costs a step for each: for one there are ``subscript(_:)`` and ``contains(_:)``.
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

    /// What is a member and is none in the store.
    var added: Set<ObjectReference> {
        sortOut()
        return addedSet
    }

    /// What is no member and is one in the store.
    var removed: Set<ObjectReference> {
        sortOut()
        return hasOpposites ? removedSet.subtracting(addedSet) : removedSet
    }

    /// What is a member, none in the store, and does not pass.
    func added(except passes: (NSManagedObject) -> Bool) -> [NSManagedObject] {
        let isDoubtful =
            addedSet.contains { !passes($0.object) }
            || log.contains { if case .add(let object) = $0 { !passes(object) } else { false } }
        // Only then what was added is told from what was removed again.
        return isDoubtful ? added.lazy.map(\.object).filter { !passes($0) } : []
    }

    var hasChanges: Bool {
        sortOut(unlessUniform: true)
        return !log.isEmpty || !addedSet.isEmpty || !removedSet.isEmpty || isReordered
    }

    /// The members that the store has, for a known relationship; order is kept where nothing was moved.
    var committedMembers: [NSManagedObject] {
        if let left { return left }
        let added = added
        return members.filter { !added.contains(ObjectReference($0)) } + removed.map(\.object)
    }

    // MARK: Reading

    /// Takes what the store has, and applies what was noted.
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

    /// Who was added several times stands where the last addition puts it.
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

    /// An object that was removed is added again, and nobody knows whether the store has it.
    private func noteReturn(of object: NSManagedObject) {
        journal?.append(.insertion(object))
        hasOpposites = true
        if !isOrdered { removedSet.remove(ObjectReference(object)) }
        addedSet.insert(ObjectReference(object))
        noted.append(object)
    }

    /// An object that was added is removed again, and nobody knows whether the store has it, unless the object is new.
    private func noteDeparture(of object: NSManagedObject) {
        journal?.append(.removal(object, at: -1))
        hasOpposites = true
        if object.isStored { removedSet.insert(ObjectReference(object)) }
    }

    /// The store has the object, or has it not, as it is to be: there is nothing to note of it.
    func forgetNote(of object: NSManagedObject) {
        guard !isKnown else { return }
        sortOut()
        addedSet.remove(ObjectReference(object))
        removedSet.remove(ObjectReference(object))
    }

    /// The object's to-one was set to this owner, and was not before.
    ///
    /// That is a change also where the members, read at another time than the object's row, have it already: whoever deletes the owner is to
    /// find that it has become another one.
    func gain(_ object: NSManagedObject) -> Bool {
        if isKnown, add(object) { return true }
        if !isKnown { journal?.append(.insertion(object)) }
        log.append(.add(object))
        return true
    }

    /// The object's to-one was this owner, and is no longer; as with ``gain(_:)``, also where the members do not have it.
    func lose(_ object: NSManagedObject) -> Bool {
        if isKnown, remove(object) { return true }
        if !isKnown { journal?.append(.removal(object, at: -1)) }
        log.append(.remove(object))
        return true
    }

    /// Puts the object at a position of an ordered relationship whose members are known.
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
            // Each has lost those that are moved before it: where all stood at the index, they come back to their places.
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

    /// Replaces all members; those that go and come are noted as changes.
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

    /// Whoever can take a removal back may want to know that all is in its place again.
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

    /// What is, is what the store has.
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
    /// Additions alone, or removals alone, do not cancel each other out: that there are any is a change, without looking closer.
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
