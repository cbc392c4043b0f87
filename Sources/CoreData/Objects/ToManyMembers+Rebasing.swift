// Applies members' changes to the current members of the store, and forgets changes that are no longer changes.
extension ToManyMembers {
    /// Replaces the stored members and applies the additions, removals and moves of this context to them.
    /// ``MergedOrder`` decides the order.
    ///
    /// With `keepsOrder` false, moves are discarded.
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

    /// Forgets the additions and removals for which the closure returns true; its second argument says whether the
    /// object was added.
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

    /// Forgets moves that restore the former order.
    func forgetVoidMoves() {
        sortOut()
        guard addedSet.isEmpty, removedSet.isEmpty else { return }
        // Members that were added before the first move are not part of it.
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
