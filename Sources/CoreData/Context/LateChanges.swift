/// Changes of a context's objects that were made after a save had read their values. The save did not write them, so
/// they must survive when the objects become clean.
///
/// There are two causes. A parent notifies observers of the changes that it received, on the same thread, before the
/// child's objects count as saved. And a value transformer runs while rows are made.
///
///     parent's ObjectsDidChange ─▶ observer: draft.title = "…"        the child's next save hands it to the parent
struct LateChanges {
    private let changes: [(object: NSManagedObject, values: [(slot: Int, value: Any?)])]
    private let deleted: [NSManagedObject]

    /// Records the changes of the event, except those of `earlier`.
    init(_ event: ChangeEvent, since earlier: ChangeEvent) {
        guard event.updated.count > earlier.updated.count || event.deleted.count > earlier.deleted.count else {
            (changes, deleted) = ([], [])
            return
        }
        let known = Set((earlier.updated + earlier.deleted).map(ObjectReference.init))
        deleted = event.deleted.filter { $0.isDeleted && !known.contains(ObjectReference($0)) }
        changes = event.updated.compactMap { object in
            guard !known.contains(ObjectReference(object)), object.hasChanges, !object.isDeleted,
                let slots = object.values?.event, !slots.isEmpty
            else { return nil }
            return (object, slots.map { ($0, object.anyValue($0)) })
        }
    }

    /// Makes the changes again, on objects that are clean now.
    func make(in context: NSManagedObjectContext) {
        // Members are read again: the members in memory would count as saved.
        for (object, values) in changes {
            for (slot, _) in values where object.home.facts[slot].isToMany {
                object.relations.forget(Int(object.home.facts[slot].relation))
            }
        }
        for (object, values) in changes {
            object.flags.remove(.eventUpdated)
            for (slot, value) in values { object.setAnyValue(value, slot) }
        }
        for object in deleted where object.registry === context.registry {
            object.flags.remove(.deleted)
            context.delete(object)
        }
    }
}
