import CoreDataPrimitives

/// What one event did to a context's objects, as far as it takes to undo it.
///
/// Undoing is an event like any other: it is recorded in turn, and that record is what does everything again.
final class UndoRecord {
    /// Came in the event: to undo it they leave.
    var inserted: [NSManagedObject] = []
    /// Left, or were marked to be deleted: they come back.
    var leaving: [LeavingObject] = []
    /// Were to be deleted before the event and are not any more: they are deleted again.
    var restored: [NSManagedObject] = []
    var changed: [ChangedObject] = []

    /// Adds what followed from it later: a merge had the rules of deletions among it applied again. What is read of those objects when they
    /// come back is what the store has then.
    func add(_ later: UndoRecord, besides again: Set<ObjectIdentifier>) {
        for index in leaving.indices where again.contains(ObjectIdentifier(leaving[index].object)) {
            leaving[index].forgetUnchangedRelations()
        }
        leaving += later.leaving.filter { !again.contains(ObjectIdentifier($0.object)) }
        inserted += later.inserted
        restored += later.restored
        changed = later.changed + changed
    }

    var isEmpty: Bool { inserted.isEmpty && leaving.isEmpty && restored.isEmpty && changed.isEmpty }
}

/// An object's properties before an event that set some of them.
struct ChangedObject {
    let object: NSManagedObject
    let slots: IndexMask
    /// The row that has the values of those that are not in `old`; nothing for a new object, which had its defaults.
    let row: RowSnapshot?
    let old: [ValueBeforeEvent]
    /// What was done to the members of its to-many relationships.
    let steps: [(slot: Int, steps: [ToManyMembers.Step])]

    /// Whether nothing was done but to relate it to objects that have left, and all is as it was.
    var isVoid: Bool {
        slots.allSatisfy { slot in
            let info = object.runtime.slots[slot]
            guard info.relationship != nil else { return false }
            if info.isToMany {
                return steps.first { $0.slot == slot }?.steps.allSatisfy { $0.isOfLeaving } ?? true
            }
            guard object.registry != nil else { return false }
            if case .toOne(let before)? = old.first(where: { $0.slot == slot })?.content {
                return before === object.toOne(slot)
            }
            return !object.isChanged(slot)
        }
    }
}

extension ToManyMembers.Step {
    /// Whether it concerns nobody but objects that are in no context any more.
    fileprivate var isOfLeaving: Bool {
        switch self {
        case .insertion(let object), .removal(let object, at: _): object.registry == nil
        case .replacement(let before, by: let after):
            before.filter { $0.registry != nil }.elementsEqual(after.filter { $0.registry != nil }, by: ===)
        }
    }
}

/// An object as it was when it was deleted, before its relationships were given up.
struct LeavingObject {
    let object: NSManagedObject
    let flags: ObjectFlags
    let values: ObjectValues?
    private(set) var relations: [RelationValue]
    let store: AttachedStore?

    init(_ object: NSManagedObject) {
        self.object = object
        var flags = object.flags.intersection([.inserted, .wideInteger])
        // It was not updated any more when it was to be deleted; its changes are there.
        let hasValues = object.values.map { !$0.changed.isEmpty } ?? false
        if !object.isInserted, hasValues || object.hasChangedMembers { flags.insert(.updated) }
        self.flags = flags
        values = object.values?.copyWithoutEvent()
        relations = object.relations.map { relation in
            if case .toMany(let members) = relation { .toMany(members.copy()) } else { relation }
        }
        store = object.home.store
    }

    mutating func forgetUnchangedRelations() {
        for (index, relation) in relations.enumerated() {
            switch relation {
            case .unread: break
            case .toOne:
                if values?.changed.contains(object.runtime.relationSlots[index]) ?? false { continue }
                relations[index] = .unread
            case .toMany(let members): if !members.hasChanges { relations[index] = .unread }
            }
        }
    }
}

/// A record that lives as long as the undo manager has it.
struct WeakUndoRecord {
    weak var record: UndoRecord?

    init(_ record: UndoRecord) { self.record = record }
}
