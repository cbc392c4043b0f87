// The members on top of what the store has now, and changes that are none any more.
extension ToManyMembers {
    /// The store has other members now: what was added, removed and moved here is done to those. ``MergedOrder`` tells the order.
    ///
    /// `keepsOrder` false gives up the moves.
    func rebase(onto stored: [NSManagedObject], keepsOrder: Bool = true) {
        guard isKnown else { return }
        sortOut()
        orderBefore = nil
        if !keepsOrder { isReordered = false }
        let before = members
        defer { journal?.append(.replacement(before, by: members)) }
        let theirs = Set(stored.map(ObjectReference.init))
        let addedHere = addedSet
        addedSet.subtract(theirs)
        removedSet.formIntersection(theirs)
        let there = stored.map(ObjectReference.init).filter { !removedSet.contains($0) }
        if !isReordered, addedHere.isEmpty {
            list = MemberList(there.map(\.object))
            return
        }
        let here = before.map(ObjectReference.init).filter { theirs.contains($0) || addedSet.contains($0) }
        let merged = MergedOrder.members(
            here: here, there: there, addedHere: keepsOrder ? addedHere : addedSet, isMovedHere: isReordered)
        list = MemberList(merged.map(\.object))
        // What both added may stand elsewhere in the store.
        if isOrdered, !isReordered, addedSet.count < addedHere.count {
            isReordered = merged.filter { theirs.contains($0) } != there
        }
    }

    /// Additions and removals are none of which the closure says so; it is told whether the object was added.
    func forgetChanges(where isVoid: (NSManagedObject, Bool) -> Bool) {
        sortOut()
        for reference in addedSet where isVoid(reference.object, true) {
            addedSet.remove(reference)
            noted.removeAll { $0 === reference.object }
            if let position = list.remove(reference.object) {
                journal?.append(.removal(reference.object, at: position))
            }
        }
        removedSet = removedSet.filter { !isVoid($0.object, false) }
    }

    /// Objects that are none of the context's any more are no members, and never were.
    func forget(where isGone: (NSManagedObject) -> Bool) {
        sortOut()
        addedSet = addedSet.filter { !isGone($0.object) }
        removedSet = removedSet.filter { !isGone($0.object) }
        noted.removeAll(where: isGone)
        for object in members where isGone(object) { _ = list.remove(object) }
    }

    /// Moves that lead to where all was before are none.
    func forgetVoidMoves() {
        sortOut()
        guard addedSet.isEmpty, removedSet.isEmpty else { return }
        // What had come when the first one went is none of them.
        if isReordered, let orderBefore {
            let present = Set(members.map(ObjectReference.init))
            let before = orderBefore.filter { present.contains(ObjectReference($0)) }
            guard members.elementsEqual(before, by: ===) else { return }
            isReordered = false
        }
        if !isReordered { orderBefore = nil }
    }

    /// Whether the store has the members in another order than before they were moved here.
    func isReordered(in stored: [NSManagedObject]) -> Bool {
        guard isReordered, let orderBefore else { return false }
        let known = Set(orderBefore.map(ObjectReference.init))
        let theirs = stored.filter { known.contains(ObjectReference($0)) }
        let present = Set(theirs.map(ObjectReference.init))
        return !zip(theirs, orderBefore.filter { present.contains(ObjectReference($0)) }).allSatisfy { $0 === $1 }
    }
}
