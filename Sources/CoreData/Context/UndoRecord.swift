import CoreDataPrimitives

/// The changes of one event, as far as undoing it needs them.
///
/// Undoing is an event like any other: the context records it in turn, and that record redoes the changes.
final class UndoRecord {
    /// Objects that the event inserted: to undo it, the context removes them.
    var inserted: [NSManagedObject] = []
    /// Objects that the event deleted, as they were before: to undo it, the context restores them.
    var deletedStates: [DeletedObjectState] = []
    /// Objects that the event restored from an earlier deletion: to undo it, the context deletes them again.
    var restored: [NSManagedObject] = []
    /// Objects that the event changed.
    var changed: [ChangedObject] = []

    /// Adds the record of a later event, in which a merge applied the rules of this record's deletions again.
    ///
    /// - Parameter again: the objects for which the rules were applied. When they are restored, their unchanged
    ///   relationships are read from the store.
    func add(_ later: UndoRecord, besides again: Set<ObjectIdentifier>) {
        for index in deletedStates.indices where again.contains(ObjectIdentifier(deletedStates[index].object)) {
            deletedStates[index].forgetUnchangedRelations()
        }
        deletedStates += later.deletedStates.filter { !again.contains(ObjectIdentifier($0.object)) }
        inserted += later.inserted
        restored += later.restored
        changed = later.changed + changed
    }

    var isEmpty: Bool { inserted.isEmpty && deletedStates.isEmpty && restored.isEmpty && changed.isEmpty }
}

/// An object's properties before an event that set some of them.
struct ChangedObject {
    let object: NSManagedObject
    let slots: IndexMask
    /// The row with the values that are not in `old`; nil for a new object, which had its defaults.
    let row: RowSnapshot?
    let old: [ValueBeforeEvent]
    /// The changes of the members of its to-many relationships.
    let steps: [(slot: Int, steps: [ToManyMembers.Step])]

    /// Whether the only changes were relationships to objects that have left, so that the object is unchanged.
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
    /// Whether it concerns only objects that are in no context any more.
    fileprivate var isOfLeaving: Bool {
        switch self {
        case .insertion(let object), .removal(let object, at: _): object.registry == nil
        case .replacement(let before, by: let after):
            before.filter { $0.registry != nil }.elementsEqual(after.filter { $0.registry != nil }, by: ===)
        }
    }
}

/// The state of an object when it was deleted, before it left its relationships.
struct DeletedObjectState {
    let object: NSManagedObject
    let flags: ObjectFlags
    let values: ObjectValues?
    private(set) var relations: [RelationValue]
    let store: AttachedStore?

    init(_ object: NSManagedObject) {
        self.object = object
        var flags = object.flags.intersection([.inserted, .wideInteger])
        // A deleted object does not count as updated any more; its changes still exist.
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
