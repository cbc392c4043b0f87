/// What was changed of a context's objects after a save had taken their values: no part of what it wrote, and not to be lost with
/// becoming clean.
///
/// A parent tells of what it took over, on the same thread, before the child's objects count as saved; a value transformer runs while
/// rows are made.
///
///     parent's ObjectsDidChange ─▶ observer: draft.title = "…"        the next save of the child hands it to the parent
struct LateChanges {
    private let changes: [(object: NSManagedObject, values: [(slot: Int, value: Any?)])]
    private let deleted: [NSManagedObject]

    /// Takes down what the event has, but for the objects that were in it before.
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
        // Members are read anew: those that the object has would count as saved.
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
