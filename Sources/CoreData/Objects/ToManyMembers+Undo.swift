// Former members, which undo restores.
extension ToManyMembers {
    /// Undoes the steps, the last one first, as far as the members have not been replaced meanwhile. Members for which
    /// `isHere` is false are not restored.
    func takeBack(_ steps: [Step], isHere: (NSManagedObject) -> Bool) {
        for step in steps.reversed() {
            switch step {
            case .insertion(let object): remove(object)
            case .removal(let object, let index): if isHere(object) { bringBack(object, at: index) }
            case .replacement(let before, by: let after): takeBack(before.filter(isHere), after)
            }
        }
        if isOrdered { forgetVoidMoves() }
    }

    /// The objects that the steps were done with, each once.
    static func objects(in steps: [Step]) -> [NSManagedObject] {
        var found: Set<ObjectReference> = []
        for step in steps {
            switch step {
            case .insertion(let object), .removal(let object, at: _): found.insert(ObjectReference(object))
            case .replacement(let before, by: let after):
                found.formUnion(before.map(ObjectReference.init))
                found.formUnion(after.map(ObjectReference.init))
            }
        }
        return found.map(\.object)
    }

    /// Changes that were made meanwhile stay.
    private func takeBack(_ before: [NSManagedObject], _ after: [NSManagedObject]) {
        guard isKnown else { return }
        if members.elementsEqual(after, by: ===) { return replaceAll(with: before) }
        let (old, new) = (Set(before.map(ObjectReference.init)), Set(after.map(ObjectReference.init)))
        for object in after where !old.contains(ObjectReference(object)) { remove(object) }
        for (index, object) in before.enumerated() where !new.contains(ObjectReference(object)) {
            bringBack(object, at: index)
        }
    }

    private func bringBack(_ object: NSManagedObject, at index: Int) {
        if isKnown, index >= 0 {
            insert(object, at: min(index, count))
        } else {
            add(object)
        }
    }
}
