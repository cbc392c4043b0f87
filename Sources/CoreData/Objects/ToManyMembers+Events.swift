// The owner leaves and comes back, and the members before an event.
extension ToManyMembers {
    // MARK: Leaving and coming back

    /// The owner was restored without its members: the members in the store count as removed.
    func becomeEmptied() {
        guard let left else { return }
        self.left = nil
        removedSet.formUnion(left.map(ObjectReference.init))
        for member in members { removedSet.remove(ObjectReference(member)) }
        if isOrdered { orderBefore = left }
    }

    /// The store has no members, because it has lost their owner.
    func becomeNew() {
        sortOut()
        if !isKnown { know([]) }
        commit()
        addedSet = Set(members.map(ObjectReference.init))
    }

    // MARK: Before the event

    /// Begins to record the changes of the members, without a copy of them.
    func beginJournal() {
        if journal == nil { journal = [] }
    }

    func endJournal() { journal = nil }

    /// The changes since the journal began.
    var journalSteps: [Step] { journal ?? [] }

    /// The members at the beginning of the journal.
    var membersBeforeEvent: [NSManagedObject] {
        var before = MemberList(members)
        for step in (journal ?? []).reversed() {
            switch step {
            case .insertion(let object): _ = before.remove(object)
            case .removal(let object, let index):
                if !before.contains(object) {
                    before.insert(object, at: index < 0 ? before.count : min(index, before.count))
                }
            case .replacement(let members, by: _): before = MemberList(members)
            }
        }
        return before.members
    }
}
