import CoreDataPrimitives
import CoreDataStore

/// The object that a batch insert's handler fills again and again.
///
/// It is in no context. After each call its values are taken out of it.
struct BatchObject {
    private let object: NSManagedObject
    private let entity: EntityRuntime
    private let store: AttachedStore
    private let assignments: BatchAssignments

    init(_ entity: EntityRuntime, _ store: AttachedStore, _ assignments: BatchAssignments) {
        self.entity = entity
        self.store = store
        self.assignments = assignments
        object = entity.objectClass.init(entity: entity.entity, insertInto: nil)
        // Its changes are not recorded.
        object.flags.insert(.ignoresChanges)
    }

    /// Lets the handler fill the next object, and passes on its values; returns `false` if there is none.
    @inline(__always)
    func read(
        _ handler: (NSManagedObject) -> Bool, setValue: (Value, Int) throws -> Void,
        setDestination: (RowKey, Int) throws -> Void
    ) throws -> Bool {
        clear()
        if handler(object) {
            clear()
            return false
        }
        if object.flags.contains(.wideInteger) { try checkWidths() }
        if let values = object.uncountedValues {
            try values._withUnsafeGuaranteedRef { values in
                for slot in values.live {
                    if let value = values[slot] { try setValue(value, slot) }
                }
            }
        }
        guard !object.relations.isEmpty else { return true }
        for relation in object.relations.indices where object.relations.isRead(relation) {
            let slot = entity.relationSlots[relation]
            if object.relations.uncountedMembers(relation) != nil {
                try refuseMembers(slot)
            } else if let target = object.relations.uncountedToOne(relation) {
                try setDestination(target._withUnsafeGuaranteedRef { try key(of: $0, slot) }, slot)
            }
        }
        return true
    }

    private func clear() {
        object.flags.remove(.wideInteger)
        object.uncountedValues?._withUnsafeGuaranteedRef { $0.removeAll() }
        object.relations.removeAll()
    }

    /// The key of a destination's row, which must be there.
    private func key(of target: NSManagedObject, _ slot: Int) throws -> RowKey {
        if target.home.store === store, !target.hasTemporaryKey,
            target.home.ordinal == entity.facts[slot].destination
        {
            return RowKey(entity: Int(target.home.ordinal), primaryKey: target.primaryKey)
        }
        return try assignments.key(target, entity.slots[slot])
    }

    private func checkWidths() throws {
        for slot in entity.slots.indices {
            switch object.uncountedValues?.takeUnretainedValue()[slot] {
            case .integer(let number) where !entity.kinds[slot].holds(number):
                throw assignments.tooLarge(number, slot)
            case .double(let number) where entity.kinds[slot].plainKind == .integer:
                throw assignments.tooLarge(number, slot)
            default: break
            }
        }
    }

    private func refuseMembers(_ slot: Int) throws {
        guard object.members(slot).isKnown, !object.members(slot).members.isEmpty else { return }
        throw CoreDataErrors.invalidRequest(
            "A batch insert cannot set the to-many relationship '\(entity.slots[slot].name)' of entity '\(entity.name)'."
        )
    }
}
