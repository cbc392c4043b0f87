import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

// What changed since when.
extension NSManagedObject {
    /// Returns the present values of the properties that were set since the object was last read or saved, if they
    /// differ.
    ///
    /// Nil is `NSNull`. Never fires a fault.
    ///
    /// Differs from Apple: omits a property that was set to the value it had.
    public final func changedValues() -> [String: Any] {
        var result: [String: Any] = [:]
        for slot in setSlots {
            let info = runtime.slots[slot]
            guard !info.property.isTransient, isChanged(slot) else { continue }
            let name = runtime.slots[info.modelSlot].name
            if info.modelSlot == slot || result[name] == nil { result[name] = currentAny(info.modelSlot) ?? NSNull() }
        }
        return result
    }

    /// The properties that were set since the object was last read or saved. If the next save writes the object, also
    /// those that were set by primitive values, because the save writes them, too.
    private final var setSlots: IndexMask {
        var slots = values?.changed ?? IndexMask()
        guard !flags.isDisjoint(with: [.inserted, .updated]) else { return slots }
        for slot in values?.live ?? IndexMask() where hasLiveValue(slot) { slots.insert(slot) }
        for (relation, slot) in runtime.relationSlots.enumerated() where relations.indices.contains(relation) {
            switch relations[relation] {
            case .toOne(let object) where object != nil || isStored: slots.insert(slot)
            case .toMany(let members) where members.hasChanges: slots.insert(slot)
            case .unread, .toOne, .toMany: break
            }
        }
        return slots
    }

    /// Returns the values before this event, that is, since changes were last processed.
    public final func changedValuesForCurrentEvent() -> [String: Any] {
        var result: [String: Any] = [:]
        guard let values else { return result }
        for slot in values.event {
            let model = runtime.slots[slot].modelSlot
            let name = runtime.slots[model].name
            if model != slot {
                if result[name] == nil { result[name] = compositeBeforeEvent(model, values) ?? NSNull() }
                continue
            }
            let noted = values.eventOld.first { $0.slot == slot }
            result[name] = anyBeforeEvent(slot, noted?.content ?? .unread) ?? NSNull()
        }
        return result
    }

    private final func compositeBeforeEvent(_ slot: Int, _ values: ObjectValues) -> [String: Any]? {
        CompositeValues.dictionary(of: slot, in: runtime) { element in
            guard values.event.contains(element) else { return attributeValue(element) }
            if case .attribute(let value)? = values.eventOld.first(where: { $0.slot == element })?.content {
                return value
            }
            return isStored ? committedAttributeWithoutCaching(element) : committedAttribute(element)
        }
    }

    private final func anyBeforeEvent(_ slot: Int, _ content: ValueBeforeEvent.Content) -> Any? {
        let info = runtime.slots[slot]
        switch content {
        case .attribute(let value): return ManagedObjectValues.any(value, slot: info)
        case .toOne(let object): return object
        case .toMany(let members):
            let before = members.membersBeforeEvent
            return members.isOrdered ? NSOrderedSet(array: before) : NSSet(array: before)
        case .unread where isStored: return committedAny(slot)
        // A new object's committed values are the defaults.
        case .unread where info.attribute != nil: return ManagedObjectValues.any(committedAttribute(slot), slot: info)
        case .unread where info.isToMany:
            return info.relationship?.isOrdered == true ? NSOrderedSet() : NSSet()
        case .unread: return nil
        }
    }

    /// Returns the values as last read or saved. Nil is `NSNull`; a new object has none.
    ///
    /// - Parameter keys: the properties to return; `nil` for all persistent ones.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        var result: [String: Any] = [:]
        guard isStored else { return result }
        fireIfNeeded(key: nil)
        for (index, info) in runtime.slots.enumerated() where info.property.isStored && info.property.composite == nil {
            guard keys?.contains(info.name) ?? true, info.attribute != nil || info.relationship != nil else {
                continue
            }
            result[info.name] = committedAny(index) ?? NSNull()
        }
        return result
    }

    /// Whether a value that the store keeps differs from the stored one; setting the same value does not count.
    public final var hasPersistentChangedValues: Bool {
        if flags.contains(.inserted) || flags.contains(.deleted) { return true }
        return setSlots.contains { slot in
            !runtime.slots[slot].property.isTransient && isChanged(slot)
        }
    }

    /// Whether the property's value differs from the committed one.
    final func isChanged(_ slot: Int) -> Bool {
        let info = runtime.slots[slot]
        guard isStored else { return true }
        if info.kind == .composite { return info.leaves.contains(where: isChanged) }
        if info.attribute != nil {
            guard let live = values?[slot] else { return false }
            guard let row else { return true }
            if live != committedAttributeWithoutCaching(slot) { return true }
            // A value that cannot be read is not nil.
            return live.isNull && info.column >= 0 && row.isUnreadable(info.column)
        }
        switch relations[info.relation] {
        case .unread: return false
        case .toOne(let object): return isChangedToOne(key: object?.primaryKey, column: info.column)
        case .toMany(let members): return members.hasChanges
        }
    }

    /// Returns whether a to-one whose destination has that key differs from the row.
    final func isChangedToOne(key: Int64?, column: Int) -> Bool {
        guard let row = rowView, column >= 0 else { return key != nil }
        guard let key else { return !row.isNull(column) || row.isUnreadable(column) }
        if row.isNull(column) { return true }
        let stored = row.integer(column)
        if stored == key { return false }
        // The row may have the key that the destination had before an ancestor saved it.
        return stored >= 0 || managedObjectContext?.permanentID(forTemporaryKey: stored)?.primaryKey != key
    }

    /// As ``committedAttribute(_:)``, but a transformable's bytes stay bytes.
    final func committedAttributeWithoutCaching(_ slot: Int) -> Value {
        let info = runtime.slots[slot]
        guard let row else { return .null }
        if info.kind == .composite { return compositeValue(slot) { committedAttributeWithoutCaching($0) } }
        guard info.column >= 0 else { return info.attribute?.defaultValue ?? .null }
        let value = ManagedObjectValues.decode(row, column: info.column, kind: info.kind)
        if value.isNull, row.isUnreadable(info.column) { return missingValue(slot, row) }
        if info.type == .transformable, case .data(let data) = value {
            return Transformation.value(from: data, attribute: info)
        }
        return value
    }

    private final func currentAny(_ slot: Int) -> Any? {
        let info = runtime.slots[slot]
        if info.attribute != nil { return ManagedObjectValues.any(attributeValue(slot), slot: info) }
        guard let relationship = info.relationship else { return nil }
        if !relationship.isToMany { return toOne(slot) }
        let members = knownMembers(slot).members
        return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }

    private final func committedAny(_ slot: Int) -> Any? {
        let info = runtime.slots[slot]
        if info.attribute != nil {
            return ManagedObjectValues.any(committedAttributeWithoutCaching(slot), slot: info)
        }
        guard let relationship = info.relationship, isStored else { return nil }
        if !relationship.isToMany { return committedToOne(slot) }
        let members = knownMembers(slot).committedMembers
        return relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
    }
}
