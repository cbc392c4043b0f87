import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Key-value coding: what NSObject brings on Apple's platforms, for managed objects.
extension NSManagedObject {
    /// The value of a property by name; as `value(forKey:)` and `setValue(_:forKey:)`.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    final func unmodeledValue(forKey key: String) -> Any? {
        if let answer = KeyPathProbe.value(forKey: key, in: self) { return answer }
        return ownValue(forKey: key) ?? inheritedValue(forKey: key) ?? value(forUndefinedKey: key)
    }

    /// Returns the value of a property that every managed object has, `.some(nil)` for nil; `nil` if there is no such
    /// property.
    ///
    /// Key-value coding finds `isInserted` also by the key `inserted`.
    private final func inheritedValue(forKey key: String) -> Any?? {
        switch key {
        case "self": .some(self)
        case "objectID": .some(objectID)
        case "entity": .some(entity)
        case "deleted", "isDeleted": .some(NSNumber(value: isDeleted))
        case "inserted", "isInserted": .some(NSNumber(value: isInserted))
        case "updated", "isUpdated": .some(NSNumber(value: isUpdated))
        case "fault", "isFault": .some(NSNumber(value: isFault))
        case "hasChanges": .some(NSNumber(value: hasChanges))
        case "hasPersistentChangedValues": .some(NSNumber(value: hasPersistentChangedValues))
        case "faultingState": .some(NSNumber(value: faultingState))
        case "changedValues": .some(changedValues())
        case "changedValuesForCurrentEvent": .some(changedValuesForCurrentEvent())
        case "managedObjectContext": .some(managedObjectContext)
        case "hash": .some(NSNumber(value: hash))
        case "description": .some(description)
        case "debugDescription": .some(debugDescription)
        default: nil
        }
    }

    /// Returns the value of a property that the class declares, `.some(nil)` for nil; `nil` if there is no such
    /// property.
    final func ownValue(forKey key: String) -> Any?? { memberTable.property(key).map { $0.get(self) } }

    final func setUnmodeledValue(_ value: Any?, forKey key: String) {
        guard let set = memberTable.property(key)?.set else { return setValue(value, forUndefinedKey: key) }
        set(self, value)
    }

    /// Returns the value at a path of properties, including collection operators. Calls `value(forKey:)` of each object
    /// on the path.
    ///
    ///     item.value(forKeyPath: "locationAtShop.aisle")
    ///     unit.value(forKeyPath: "items.@sum.quantity")
    ///     unit.value(forKeyPath: "items.name")              // the set of the items' names
    ///
    /// A collection returns the collection of its members' values: a set omits nil, an array has `NSNull` for it.
    ///
    /// - Precondition: every key is known.
    public final func value(forKeyPath keyPath: String) -> Any? { KeyValueCoding.value(of: self, at: keyPath) }

    /// Sets the last property of the path on the objects that the rest of the path refers to, on each member of a
    /// collection. Does nothing if the rest is nil.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        KeyValueCoding.set(value, of: self, at: keyPath)
    }

    /// Sets every property of the dictionary; `NSNull` sets nil.
    public final func setValuesForKeys(_ keyedValues: [String: Any]) {
        for (key, value) in keyedValues { setValue(value is NSNull ? nil : value, forKey: key) }
    }

    /// The values of these properties; nil is `NSNull`.
    public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
        Dictionary(
            keys.map { ($0, value(forKey: $0) ?? NSNull()) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Primitives

    /// The value as it lies in the object: fires no fault, calls no accessor.
    public final func primitiveValue(forKey key: String) -> Any? {
        guard let slot = runtime.slot(forKey: key) else {
            return KeyPathProbe.value(forKey: key, in: self) ?? value(forUndefinedKey: key)
        }
        if isFault { return nil }
        let info = runtime.slots[slot]
        if info.attribute != nil { return ManagedObjectValues.any(attributeValue(slot), slot: info) }
        guard let relationship = info.relationship else { return nil }
        if !relationship.isToMany { return toOne(slot) }
        // The new value is not checked here.
        home.registry?.mayHaveDangling = true
        let members = RelationshipMembers(of: self, slot: slot, isPrimitive: true)
        return relationship.isOrdered ? MutableRelationshipOrderedSet(members) : MutableRelationshipSet(members)
    }

    /// Puts the value into the object without marking it as changed and without touching the inverse.
    ///
    /// Call `willChangeValue(forKey:)` before and `didChangeValue(forKey:)` after it.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let slot = runtime.slot(forKey: key) else { return setValue(value, forUndefinedKey: key) }
        let info = runtime.slots[slot]
        if info.relationship != nil { home.registry?.mayHaveDangling = true }
        if info.attribute != nil {
            setPrimitiveAttribute(value, slot)
        } else if info.relationship != nil, !info.isToMany {
            assignToOne(KeyValueCoding.member(value, slot: info, entity: runtime), slot)
        } else if info.relationship != nil {
            knownMembers(slot).replaceAll(
                with: KeyValueCoding.members(of: value, slot: info, entity: runtime))
        }
    }
}

extension NSManagedObject: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        guard let slot = runtime.slot(forKey: key) else {
            if key == "self" { return .object(self) }
            // A class may answer for properties that its entity does not have; the plain class would stop.
            if ClassOverrides.overridesValue(type(of: self)) {
                return OperandBridging.operand(from: value(forKey: key))
            }
            if let value = ownValue(forKey: key) ?? inheritedValue(forKey: key) {
                return OperandBridging.operand(from: value)
            }
            guard ClassOverrides.overridesUndefinedKey(type(of: self)) else {
                throw PredicateFailure(
                    .evaluation,
                    Diagnostic(.error, KeyValueCoding.unknownKeyMessage(key, of: self)),
                    subexpression: key)
            }
            return OperandBridging.operand(from: value(forUndefinedKey: key))
        }
        return operand(slot)
    }

    package func predicateOperand(for key: PredicateKey) throws -> Operand {
        let known = key.memory.load(ordering: .relaxed)
        if known >> 32 == UInt64(home.runtimeIdentifier) { return operand(Int(known & 0xFFFF_FFFF)) }
        guard let slot = runtime.slot(forKey: key.name) else { return try predicateOperand(forKey: key.name) }
        key.memory.store(UInt64(home.runtimeIdentifier) << 32 | UInt64(slot), ordering: .relaxed)
        return operand(slot)
    }

    final func describedOperand(_ slot: Int) -> Operand {
        noteRead(slot)
        fireIfNeeded(slot: slot)
        let info = runtime.slots[slot]
        if info.kind == .composite { noteReadOfElements(slot) }
        if info.attribute != nil {
            let value = attributeValue(slot)
            if case .opaque(let box) = value { return OperandBridging.operand(from: box.object) }
            return .value(value)
        }
        guard let relationship = info.relationship else {
            return OperandBridging.operand(from: fetchedPropertyValue(info))
        }
        if !relationship.isToMany { return toOne(slot).map { .object($0) } ?? .null }
        return .collection(
            knownMembers(slot).members.map { .object($0) }, isOrdered: relationship.isOrdered)
    }

    package func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        switch other {
        case let object as NSManagedObject: object === self || object.objectID.isSame(as: objectID)
        case let id as NSManagedObjectID: id.isSame(as: objectID)
        default: false
        }
    }

    package var predicateHash: Int { objectID.hash }

    package func predicateOrder(relativeTo other: any PredicateObject) -> Int {
        objectID.predicateOrder(relativeTo: other)
    }

    package var predicateDescription: String { objectID.description }

    package func predicateRowKey(inStore identifier: String) -> RowKey? {
        objectID.predicateRowKey(inStore: identifier)
    }
}
