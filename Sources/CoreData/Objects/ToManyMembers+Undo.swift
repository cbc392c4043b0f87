// Members as they were: what undo puts back.
extension ToManyMembers {
    /// Takes the steps back, the last one first; as far as the members have not become others meanwhile.
    func takeBack(_ steps: [Step]) {
        for step in steps.reversed() {
            switch step {
            case .insertion(let object): remove(object)
            case .removal(let object, let index): bringBack(object, at: index)
            case .replacement(let members): if isKnown { replaceAll(with: members) }
            }
        }
    }

    /// The objects that the steps were done with, each once.
    static func objects(in steps: [Step]) -> [NSManagedObject] {
        var found: Set<ObjectReference> = []
        for step in steps {
            switch step {
            case .insertion(let object), .removal(let object, at: _): found.insert(ObjectReference(object))
            case .replacement(let members): found.formUnion(members.map(ObjectReference.init))
            }
        }
        return found.map(\.object)
    }

    private func bringBack(_ object: NSManagedObject, at index: Int) {
        if isKnown, index >= 0 {
            insert(object, at: min(index, count))
        } else {
            add(object)
        }
    }
}
