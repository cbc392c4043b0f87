import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

enum KeyValueCoding {
    static func unknownKeyMessage(_ key: String, of runtime: EntityRuntime) -> String {
        "[<\(runtime.compiled.className ?? "NSManagedObject")>]: the entity \(runtime.name) is not key value "
            + "coding-compliant for the key \"\(key)\"; it has: "
            + runtime.slots.map(\.name).sorted().joined(separator: ", ")
    }

    /// The destination of a to-one that a caller set; see C7.
    static func member(_ value: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime) -> NSManagedObject? {
        guard let value, !(value is NSNull) else { return nil }
        if let object = value as? NSManagedObject { return object }
        preconditionFailure(
            """
            Unacceptable type of value for to-one relationship: property = "\(slot.name)"; entity = \
            "\(entity.name)"; desired type = "\(slot.destinationName)"; given type = \(type(of: value)).
            """)
    }

    /// The members of a to-many that a caller set; nil is none (C11).
    static func members(
        of value: Any?, slot: EntityRuntime.Slot, entity: EntityRuntime
    ) -> [NSManagedObject] {
        guard let value, !(value is NSNull) else { return [] }
        let elements: [Any]? =
            switch value {
            case let set as NSOrderedSet: set.array
            case let set as NSSet: set.allObjects
            case let array as [Any]: array
            case let set as Set<NSManagedObject>: Array(set)
            default: nil
            }
        if let objects = elements as? [NSManagedObject] { return objects }
        preconditionFailure(
            """
            Unacceptable type of value for to-many relationship: property = "\(slot.name)"; entity = \
            "\(entity.name)"; desired type = a collection of "\(slot.destinationName)"; given type = \
            \(type(of: value)).
            """)
    }
}

// Key-value coding: what NSObject brings on Apple's platforms, for managed objects.
extension NSManagedObject {
    /// The value of a property by name; as `value(forKey:)` and `setValue(_:forKey:)`.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    final func unmodeledValue(forKey key: String) -> Any? {
        switch key {
        case "self": self
        case "objectID": objectID
        case "entity": entity
        case "isDeleted": NSNumber(value: isDeleted)
        case "isInserted": NSNumber(value: isInserted)
        case "isUpdated": NSNumber(value: isUpdated)
        case "isFault": NSNumber(value: isFault)
        case "hasChanges": NSNumber(value: hasChanges)
        case "managedObjectContext": managedObjectContext
        case "description": description
        default: value(forUndefinedKey: key)
        }
    }

    /// The value at a path of properties, collection operators included.
    ///
    ///     item.value(forKeyPath: "locationAtShop.aisle")
    ///     unit.value(forKeyPath: "items.@sum.quantity")
    ///     unit.value(forKeyPath: "items.name")              // one name for each item
    ///
    /// - Precondition: every key is known.
    public final func value(forKeyPath keyPath: String) -> Any? {
        do {
            let keys = keyPath.split(separator: ".").map(String.init)
            let node = ExpressionNode.keyPath(operand: .evaluatedObject, keys)
            let operand = try ExpressionEvaluator(node).value(for: .object(self))
            return OperandBridging.any(from: operand)
        } catch let failure as PredicateFailure {
            preconditionFailure(failure.diagnostic.rendered)
        } catch {
            preconditionFailure(String(describing: error))
        }
    }

    /// Sets the last property of a path on the object that the rest of it leads to; nothing where that is nil.
    public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let dot = keyPath.lastIndex(of: ".") else { return setValue(value, forKey: keyPath) }
        let key = String(keyPath[keyPath.index(after: dot)...])
        let owner = self.value(forKeyPath: String(keyPath[..<dot]))
        switch owner {
        case let object as NSManagedObject: object.setValue(value, forKey: key)
        case let objects as NSSet: objects.forEach { ($0 as? NSManagedObject)?.setValue(value, forKey: key) }
        case let objects as NSOrderedSet:
            objects.forEach { ($0 as? NSManagedObject)?.setValue(value, forKey: key) }
        default: break
        }
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

    /// The value as it lies in the object: fires no fault, calls no accessor (C2).
    public final func primitiveValue(forKey key: String) -> Any? {
        guard let slot = runtime.slot(forKey: key) else { return value(forUndefinedKey: key) }
        if isFault { return nil }
        let info = runtime.slots[slot]
        if info.attribute != nil { return ManagedObjectValues.any(attributeValue(slot), slot: info) }
        guard let relationship = info.relationship else { return nil }
        if !relationship.isToMany { return toOne(slot) }
        return relationship.isOrdered
            ? MutableRelationshipOrderedSet(object: self, slot: slot, isPrimitive: true)
            : MutableRelationshipSet(object: self, slot: slot, isPrimitive: true)
    }

    /// Puts the value into the object without marking it as changed and without touching the inverse (C2).
    ///
    /// Call `willChangeValue(forKey:)` before and `didChangeValue(forKey:)` after it.
    public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
        guard let slot = runtime.slot(forKey: key) else { return setValue(value, forUndefinedKey: key) }
        let info = runtime.slots[slot]
        if info.attribute != nil {
            liveValues()[slot] = ManagedObjectValues.value(from: value, slot: info, entity: runtime)
        } else if info.relationship != nil, !info.isToMany {
            assignToOne(KeyValueCoding.member(value, slot: info, entity: runtime), slot)
        } else if info.relationship != nil {
            knownMembers(slot).replaceAll(
                with: KeyValueCoding.members(of: value, slot: info, entity: runtime))
        }
    }

    // MARK: Collections

    /// The members of an unordered to-many as a set whose changes are the relationship's (C10).
    ///
    ///     unit.mutableSetValue(forKey: "items").add(item)      // item.unit is unit now
    ///
    /// - Precondition: the relationship is to-many and not ordered.
    public final func mutableSetValue(forKey key: String) -> NSMutableSet {
        let slot = toManySlot(key, function: "mutableSetValue(forKey:)")
        precondition(
            !members(slot).isOrdered,
            "Ordered relationship '\(key)' of entity '\(runtime.name)' does not support "
                + "mutableSetValue(forKey:); use mutableOrderedSetValue(forKey:).")
        return MutableRelationshipSet(object: self, slot: slot, isPrimitive: false)
    }

    /// The members of an ordered to-many as an ordered set whose changes are the relationship's.
    ///
    /// - Precondition: the relationship is to-many and ordered.
    public final func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
        let slot = toManySlot(key, function: "mutableOrderedSetValue(forKey:)")
        precondition(
            members(slot).isOrdered,
            "Relationship '\(key)' of entity '\(runtime.name)' is not ordered; use mutableSetValue(forKey:).")
        return MutableRelationshipOrderedSet(object: self, slot: slot, isPrimitive: false)
    }

    private final func toManySlot(_ key: String, function: String) -> Int {
        guard let slot = runtime.slot(forKey: key), runtime.slots[slot].isToMany else {
            preconditionFailure(
                "\(function) needs a to-many relationship; '\(key)' of entity '\(runtime.name)' is none.")
        }
        return slot
    }
}

extension NSManagedObject: PredicateObject {
    package func predicateOperand(forKey key: String) throws -> Operand {
        guard let slot = runtime.slot(forKey: key) else {
            switch key {
            case "self": return .object(self)
            case "objectID": return .object(objectID)
            case "entity": return .value(.string(runtime.name))
            default: break
            }
            // A class may answer for properties that its entity does not have; the plain class would stop.
            guard ClassOverrides.overridesUndefinedKey(type(of: self)) else {
                throw PredicateFailure(
                    .evaluation,
                    Diagnostic(.error, KeyValueCoding.unknownKeyMessage(key, of: runtime)),
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
        checkQueue(nil, slot: slot)
        fireIfNeeded(slot: slot)
        let info = runtime.slots[slot]
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

    package var predicateDescription: String { objectID.description }

    package func predicateRowKey(inStore identifier: String) -> RowKey? {
        objectID.predicateRowKey(inStore: identifier)
    }
}
