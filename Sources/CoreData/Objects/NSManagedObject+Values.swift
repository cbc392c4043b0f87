import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Attributes: reading, setting, noting changes. Generated accessors and key-value coding end here.
extension NSManagedObject {
    /// The attribute's value now; the fault must have been fired.
    final func attributeValue(_ slot: Int) -> Value {
        if let uncountedValues, let live = uncountedValues._withUnsafeGuaranteedRef({ $0[slot] }) { return live }
        return committedAttribute(slot)
    }

    /// The attribute's value as last read or saved; a new object's default.
    final func committedAttribute(_ slot: Int) -> Value {
        let info = runtime.slots[slot]
        if let row {
            // A value without a column, that of a transient attribute, is the default until it is set.
            guard info.column >= 0 else { return valueWithoutColumn(info, slot) }
            let value = ManagedObjectValues.decode(row, column: info.column, kind: info.kind)
            if value.isNull, row.isUnreadable(info.column) { return missingValue(slot, row) }
            // A transformed value is made once, so that it is the same object each time.
            if info.type == .transformable, case .data(let data) = value {
                let object = transformedValue(data, slot)
                liveValues()[slot] = object
                return object
            }
            return value
        }
        if !flags.isDisjoint(with: [.inaccessible, .fault]) { return .null }
        return valueWithoutColumn(info, slot)
    }

    private final func valueWithoutColumn(_ info: EntityRuntime.Slot, _ slot: Int) -> Value {
        info.kind == .composite ? compositeValue(slot) : info.attribute?.defaultValue ?? .null
    }

    /// Returns a value whose file could not be read with its row: reads it if the file exists again, else returns nil.
    ///
    /// Saves do not write unchanged values, so the stored value is not replaced by nil.
    final func missingValue(_ slot: Int, _ row: RowSnapshot) -> Value {
        let info = runtime.slots[slot]
        guard let store = home.store else { return .null }
        do {
            let data = try row.withBytes(info.column) { try store.source.bytes(ofStored: $0) }
            return info.type == .transformable ? transformedValue(data, slot) : .data(data)
        } catch {
            tellUnreadable(error, slot)
            return .null
        }
    }

    /// Returns the object that a transformable's bytes represent. Corrupted bytes are reported and read as nil; the
    /// object's other values are unaffected.
    final func transformedValue(_ data: Data, _ slot: Int) -> Value {
        let info = runtime.slots[slot]
        let value = Transformation.value(from: data, attribute: info)
        if case .data = value, let error = Transformation.failure(of: data, attribute: info) {
            tellUnreadable(error, slot)
        }
        return value
    }

    private final func tellUnreadable(_ error: any Error, _ slot: Int) {
        let what = "'\(runtime.slots[slot].name)' of \(runtime.name) \(primaryKey)"
        UnreadableValues.tell(error, what, home.registry?.context)
    }

    /// Whether the attribute has a value that cannot be read, and has not been set since.
    final func isUnreadable(_ slot: Int) -> Bool {
        let info = runtime.slots[slot]
        guard info.attribute != nil, values?[slot] == nil, let row, info.column >= 0 else { return false }
        return row.isUnreadable(info.column)
    }

    /// Sets an attribute as an accessor does: fires the fault, notes the old value, marks the object as changed.
    final func setAttribute(_ value: Value, _ slot: Int) {
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        noteWidth(of: value, slot)
        withLiveValues { values in
            noteOldValue(slot, values)
            values.set(value, slot)
            markChanged(slot, values)
        }
    }

    /// Notes a number that is too large for the attribute, or NaN. The value is kept as it was set, and validation
    /// refuses it.
    @inline(__always)
    final func noteWidth(of value: Value, _ slot: Int) {
        switch value {
        case .integer(let number):
            guard Int64(Int16(truncatingIfNeeded: number)) != number else { return }
            if !home.kinds[slot].holds(number) { flags.insert(.wideInteger) }
        case .double(let number), .date(let number): if number.isNaN { flags.insert(.wideInteger) }
        case .decimal(let number): if number.isNaN { flags.insert(.wideInteger) }
        default: break
        }
    }

    /// As ``noteWidth(of:_:)``, also of a number that no 64 bits hold, as only key-value coding can give one.
    final func noteAnyWidth(of value: Value, _ slot: Int) -> Value {
        if case .double = value, home.kinds[slot].plainKind == .integer { flags.insert(.wideInteger) }
        noteWidth(of: value, slot)
        return value
    }

    /// Sets a value and records nothing but whether its width is valid.
    final func setPrimitiveAttribute(_ value: Any?, _ slot: Int) {
        if runtime.slots[slot].kind == .composite { return setPrimitiveComposite(value, slot) }
        let value = ManagedObjectValues.value(from: value, slot: runtime.slots[slot], entity: runtime)
        liveValues()[slot] = noteAnyWidth(of: value, slot)
    }

    final func liveValues() -> ObjectValues { uncountedLiveValues().takeUnretainedValue() }

    @inline(__always)
    private final func uncountedLiveValues() -> Unmanaged<ObjectValues> {
        if let uncountedValues { return uncountedValues }
        let made = ObjectValues.make(slotCount: home.slotCount)
        values = made
        return .passUnretained(made)
    }

    /// Calls `body` with the values, which stay while it runs, without counting a reference.
    @inline(__always)
    private final func withLiveValues(_ body: (ObjectValues) -> Void) {
        uncountedLiveValues()._withUnsafeGuaranteedRef(body)
    }

    /// Records the value before the first change of this event. Usually that is the committed value, which the object
    /// has anyway.
    final func noteOldValue(_ slot: Int) {
        guard !flags.contains(.ignoresChanges), let registry = home.uncountedRegistry else { return }
        withLiveValues { noteOldValue(slot, $0) }
        let relation = Int(home.facts[slot].relation)
        // To undo it is done step by step: the members before may never have been read.
        if relation >= 0, registry._withUnsafeGuaranteedRef({ $0.recordsUndo }) {
            relations.uncountedMembers(relation)?._withUnsafeGuaranteedRef { $0.beginJournal() }
        }
    }

    @inline(__always)
    private final func noteOldValue(_ slot: Int, _ values: ObjectValues) {
        if flags.contains(.announces) { announceChange(slot) }
        guard !flags.contains(.ignoresChanges), home.isInContext, !values.event.contains(slot) else { return }
        values.event.insert(slot)
        if values.changed.contains(slot) || values.live.contains(slot) { keepOldValue(slot, values) }
    }

    private final func keepOldValue(_ slot: Int, _ values: ObjectValues) {
        values.eventOld.append(ValueBeforeEvent(slot: slot, content: contentNow(slot)))
    }

    private final func contentNow(_ slot: Int) -> ValueBeforeEvent.Content {
        let info = runtime.slots[slot]
        if info.relationship == nil { return .attribute(attributeValue(slot)) }
        switch relations[info.relation] {
        case .toOne(let object): return .toOne(object)
        case .toMany(let members) where members.isKnown:
            members.beginJournal()
            return .toMany(members)
        case .unread, .toMany: return .unread
        }
    }

    /// Marks the object as changed by that property; the context lists it.
    final func markChanged(_ slot: Int) {
        guard !flags.contains(.ignoresChanges) else { return }
        withLiveValues { markChanged(slot, $0) }
    }

    @inline(__always)
    private final func markChanged(_ slot: Int, _ values: ObjectValues) {
        guard !flags.contains(.ignoresChanges) else { return }
        values.changed.insert(slot)
        if flags.isListedAsChanged { return }
        home.registry?.context?.noteChange(of: self)
        if flags.contains(.announces) { announceChanged(slot) }
    }

    // MARK: Any

    /// The attributes' values, in the order of their names, for messages.
    final var attributeDescriptions: String {
        let texts = runtime.slots.indices.filter {
            runtime.slots[$0].attribute != nil && runtime.slots[$0].property.composite == nil
        }.map { index in
            let slot = runtime.slots[index]
            let now = attributeValue(index)
            // Foundation's own description of such a date stops the program.
            if case .date(let seconds) = now, !seconds.isFinite { return "\(slot.name) = \(seconds)" }
            let value = ManagedObjectValues.any(now, slot: slot)
            return "\(slot.name) = \(value.map { String(describing: $0) } ?? "nil")"
        }
        return "{" + texts.sorted().joined(separator: "; ") + "}"
    }

    final func describedValue(_ slot: Int) -> Any? {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        let info = runtime.slots[slot]
        if info.kind == .composite { noteReadOfElements(slot) }
        if info.attribute != nil { return ManagedObjectValues.any(attributeValue(slot), slot: info) }
        guard let relationship = info.relationship else { return fetchedPropertyValue(info) }
        if !relationship.isToMany { return toOne(slot) }
        let members = knownMembers(slot).members
        return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    /// Sets a property to a value of its type.
    ///
    /// `refusesNull` is for values that a caller gave by key: there `NSNull` is a value of the wrong type. Elsewhere it
    /// stands for nil.
    final func setAnyValue(_ value: Any?, _ slot: Int, refusesNull: Bool = false) {
        // Most values are seen to fit without looking at the property's description.
        if let value, let kind = home.kinds[slot].plainKind, let plain = ManagedObjectValues.plain(value, kind) {
            return setAttribute(noteAnyWidth(of: plain, slot), slot)
        }
        let info = runtime.slots[slot]
        if refusesNull, value is NSNull, info.kind != .object || info.relationship != nil {
            preconditionFailure(KeyValueCoding.nullMessage(info, of: runtime))
        }
        if info.kind == .composite {
            setComposite(value, slot)
        } else if info.attribute != nil {
            let value = ManagedObjectValues.value(from: value, slot: info, entity: runtime)
            setAttribute(noteAnyWidth(of: value, slot), slot)
        } else if let relationship = info.relationship {
            if relationship.isToMany {
                setToMany(KeyValueCoding.members(of: value, slot: info, entity: runtime), slot)
            } else {
                setToOne(KeyValueCoding.member(value, slot: info, entity: runtime), slot)
            }
        } else {
            preconditionFailure("Fetched property '\(info.name)' of entity '\(runtime.name)' cannot be set.")
        }
    }
}
