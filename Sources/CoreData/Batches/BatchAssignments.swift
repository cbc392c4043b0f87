import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Converts the values that a batch request sets to the engine's values: names become slots, objects become rows.
struct BatchAssignments {
    private let entity: EntityRuntime
    private let store: AttachedStore
    /// The whole numbers that each slot takes.
    private let ranges: [ClosedRange<Int64>?]

    init(_ entity: EntityRuntime, _ store: AttachedStore) {
        self.entity = entity
        self.store = store
        ranges = entity.slots.map { $0.type.traits.range }
    }

    /// Returns the assignments of a batch update.
    ///
    /// - Throws: an error for a property that the entity lacks, and for one that a store cannot set.
    func make(_ properties: [AnyHashable: Any]) throws -> [BatchAssignment] {
        let assignments = try properties.flatMap { key, value -> [BatchAssignment] in
            guard let name = key.base as? String ?? (key.base as? NSPropertyDescription)?.path,
                let slot = entity.slot(forKey: name)
            else {
                throw CoreDataErrors.invalidRequest(
                    "Invalid string key \(key.base) passed to propertiesToUpdate: entity '\(entity.name)' has "
                        + entity.slots.map(\.name).joined(separator: ", "))
            }
            let info = entity.slots[slot]
            if info.kind == .composite, info.property.isStored {
                return try elements(of: value, info).map { try assignment($0.value, entity.slots[$0.slot], $0.slot) }
            }
            if info.property.isTransient || info.column < 0 {
                throw CoreDataErrors.invalidRequest(
                    "A batch update cannot set '\(name)' of entity '\(entity.name)': it is "
                        + (info.isToMany ? "a to-many relationship." : "kept in no column."))
            }
            if info.attribute?.isDerived == true {
                throw CoreDataErrors.invalidRequest(
                    "A batch update cannot set '\(name)' of entity '\(entity.name)': it is derived, and the store computes it."
                )
            }
            if info.attribute?.allowsExternalBinaryDataStorage == true {
                throw CoreDataErrors.invalidRequest(
                    "A batch update cannot set '\(name)' of entity '\(entity.name)', whose bytes may lie in files.")
            }
            let source = try source(value, of: slot)
            guard case .value(let value) = source else { return [BatchAssignment(slot: slot, source)] }
            return [try assignment(value, info, slot)]
        }
        // Detects a property that is set by its name and by its description, and a composite attribute that is set with
        // one of its elements.
        var slots: Set<Int> = []
        if let twice = assignments.first(where: { !slots.insert($0.slot).inserted }) {
            throw CoreDataErrors.invalidRequest(
                "propertiesToUpdate has '\(entity.slots[twice.slot].name)' of entity '\(entity.name)' twice: give one value for it."
            )
        }
        return assignments
    }

    private func assignment(_ value: Value, _ info: EntityRuntime.Slot, _ slot: Int) throws -> BatchAssignment {
        guard case .opaque(let box) = value else { return BatchAssignment(slot: slot, .value(value)) }
        return BatchAssignment(
            slot: slot, .value(.data(try Transformation.data(from: box, attribute: info, of: entity))))
    }

    /// Returns the new values of a composite attribute's elements.
    ///
    /// - Throws: an error for anything but a dictionary of its elements; use an element's path to set it alone.
    func elements(of any: Any, _ composite: EntityRuntime.Slot) throws -> [CompositeValues.Element] {
        guard !(any is NSExpression) || (any as? NSExpression)?.expressionType == .constantValue else {
            throw CoreDataErrors.invalidRequest(
                "A batch request cannot set the composite attribute '\(composite.name)' of entity '\(entity.name)' to an expression: set its elements, \(composite.leaves.map { entity.slots[$0].name }.joined(separator: ", "))."
            )
        }
        let given = (any as? NSExpression)?.constantValue ?? any
        do { return try CompositeValues.elements(of: given, slot: composite.property.slot, in: entity) } catch {
            throw CoreDataErrors.invalidRequest("A batch request cannot do this: \(error.message).")
        }
    }

    /// - Throws: an error for a value that is not of the property's type.
    func source(_ any: Any, of slot: Int) throws -> BatchAssignment.Source {
        let info = entity.slots[slot]
        if let expression = any as? NSExpression { return try source(expression, of: slot) }
        if any is NSNull { return info.relationship == nil ? .value(.null) : .destination(nil) }
        guard info.attribute != nil else { return .destination(try key(any, info)) }
        if let value = ManagedObjectValues.acceptedValue(any, info.kind) {
            if case .integer(let number) = value, let range = ranges[slot], !range.contains(number) {
                throw tooLarge(number, range, info)
            }
            if value.isNotANumber { throw notANumber(slot) }
            return .value(value)
        }
        throw CoreDataErrors.invalidRequest(
            "Unacceptable type of value for attribute: property = \"\(info.name)\"; entity = \"\(entity.name)\"; desired type = "
                + "\(ManagedObjectValues.className(info)); given type = \(Swift.type(of: any)).")
    }

    func notANumber(_ slot: Int) -> CocoaError {
        CoreDataErrors.invalidRequest(
            "'\(entity.slots[slot].name)' of entity '\(entity.name)' is not a number, which no store keeps.")
    }

    /// What refuses a number that was set in an object, where validation would refuse it later.
    func tooLarge(_ number: Any, _ slot: Int) -> CocoaError {
        tooLarge(number, ranges[slot] ?? Int64.min...Int64.max, entity.slots[slot])
    }

    private func tooLarge(_ number: Any, _ range: ClosedRange<Int64>, _ info: EntityRuntime.Slot) -> CocoaError {
        CoreDataErrors.invalidRequest(
            "\(number) is too large for '\(info.name)' of entity '\(entity.name)', which takes \(range.lowerBound) to \(range.upperBound)."
        )
    }

    private func source(_ expression: NSExpression, of slot: Int) throws -> BatchAssignment.Source {
        let node = expression.node
        guard case .constant(let constant) = node else { return .expression(node) }
        switch constant {
        // A constant is a value like any other, and is held to the attribute's type.
        case .value(.null): return try source(NSNull(), of: slot)
        case .value, .object: return try source(expression.constantValue ?? NSNull(), of: slot)
        default: return .expression(node)
        }
    }

    /// Returns the key of the row to which a to-one relationship will refer.
    func key(_ any: Any, _ info: EntityRuntime.Slot) throws -> RowKey {
        guard !info.isToMany else {
            throw CoreDataErrors.invalidRequest(
                "A batch request cannot set the to-many relationship '\(info.name)' of entity '\(entity.name)'.")
        }
        guard let id = any as? NSManagedObjectID ?? (any as? NSManagedObject)?.objectID,
            let key = id.predicateRowKey(inStore: store.identifier),
            let ordinal = entity.model.entitiesByName[id.runtime.name] != nil ? id.runtime.ordinal : nil,
            info.destinationSubtree.contains(ordinal)
        else {
            throw CoreDataErrors.invalidRequest(
                "The to-one relationship '\(info.name)' of entity '\(entity.name)' takes the permanent ID of a "
                    + "'\(info.destinationName)' of the same store, not \(any).")
        }
        return key
    }
}
