import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// The property mappings of an entity mapping whose expressions only name a property of the source object, as pairs of
/// slots. Nearly all mappings that Xcode writes, and all inferred ones, are of this kind. They are executed without
/// evaluating an expression.
///
///     $source.name                                                                                            .copy
///     FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "A->A", $source.unit)   .relate
struct PlainMappings {
    enum Step {
        /// An attribute of the same type, whose values are numbers, texts or dates.
        case copy(from: Int, to: Int)
        /// Related objects, by the mapping of that name, or by any.
        case relate(from: Int, to: Int, mapping: String?)
        /// An expression to evaluate.
        case other
    }

    let source: EntityRuntime
    let destination: EntityRuntime
    /// One for each of the mapping's property mappings, in their order.
    let attributes: [Step]
    let relationships: [Step]
    /// The elements of composite attributes that the mapping leaves as a new object has them.
    let unmappedElements: [UnmappedElement]

    init(_ mapping: NSEntityMapping, from source: EntityRuntime, to destination: EntityRuntime) {
        self.source = source
        self.destination = destination
        unmappedElements = UnmappedElement.all(of: mapping, from: source, to: destination)
        attributes = (mapping.attributeMappings ?? []).map { property in
            guard let (from, to) = Self.slots(property, property.valueExpression?.node, source, destination),
                Self.isCopied(source.slots[from], destination.slots[to])
            else { return .other }
            return .copy(from: from, to: to)
        }
        relationships = (mapping.relationshipMappings ?? []).map { property in
            guard
                case .message(.variable(NSMigrationManagerKey), let selector, let arguments)? =
                    property.valueExpression?.node,
                arguments.count == 2, let (from, to) = Self.slots(property, arguments[1], source, destination),
                source.slots[from].relationship != nil, destination.slots[to].relationship != nil,
                case .constant(.value(.string(let name))) = arguments[0]
            else { return .other }
            switch selector {
            case "destinationInstancesForEntityMappingNamed:sourceInstances:",
                "destinationInstancesForEntityMappingNamed:sourceInstances":
                return .relate(from: from, to: to, mapping: name)
            case "destinationInstancesForSourceRelationshipNamed:sourceInstances:",
                "destinationInstancesForSourceRelationshipNamed:sourceInstances":
                return .relate(from: from, to: to, mapping: nil)
            default: return .other
            }
        }
    }

    /// Returns the property that the expression names, and the property that it sets.
    static func slots(
        _ property: NSPropertyMapping, _ expression: ExpressionNode?, _ source: EntityRuntime,
        _ destination: EntityRuntime
    ) -> (Int, Int)? {
        let key: String
        switch expression {
        case .keyPath(.variable(NSMigrationSourceObjectKey), let keys)? where keys.count == 1: key = keys[0]
        case .message(.variable(NSMigrationSourceObjectKey), "valueForKey:", let arguments)?:
            guard arguments.count == 1, case .constant(.value(.string(let name))) = arguments[0] else { return nil }
            key = name
        default: return nil
        }
        guard let from = source.slot(forKey: key), let to = property.name.flatMap(destination.slot(forKey:)) else {
            return nil
        }
        return (from, to)
    }

    private static func isCopied(_ from: EntityRuntime.Slot, _ to: EntityRuntime.Slot) -> Bool {
        guard from.type == to.type, from.property.composite == nil, to.property.composite == nil,
            to.attribute?.isDerived == false
        else { return false }
        switch from.kind {
        case .integer, .boolean, .real, .single, .date, .text, .decimal, .identifier: return true
        default: return false
        }
    }
}

extension MigrationRun {
    /// Returns the plain form of the mapping for objects of these entities; empty if the user's manager overrides the
    /// lookups.
    func plainMappings(
        of mapping: NSEntityMapping, from source: NSManagedObject, to destination: NSManagedObject
    ) -> PlainMappings? {
        guard isPlainManager else { return nil }
        if let known = plain[ObjectIdentifier(mapping)], known.source === source.runtime,
            known.destination === destination.runtime
        {
            return known
        }
        let made = PlainMappings(mapping, from: source.runtime, to: destination.runtime)
        plain[ObjectIdentifier(mapping)] = made
        return made
    }

    /// Relates the object as the step says; returns `false` if an expression must be evaluated after all.
    func relate(
        _ object: NSManagedObject, _ step: PlainMappings.Step, of source: NSManagedObject,
        _ mapping: NSEntityMapping
    ) throws -> Bool {
        guard case .relate(let from, let to, let name) = step else { return false }
        let info = object.runtime.slots[to]
        let isPaired = isPaired(object.runtime, to, mapping)
        // The members have this object as their to-one, and say so themselves.
        if info.isToMany, isPaired { return true }
        source.fireIfNeeded(slot: from)
        let related =
            source.runtime.slots[from].isToMany
            ? source.knownMembers(from).members : [source.toOne(from)].compactMap { $0 }
        let members = related.flatMap { destinations(of: $0, mappingNamed: name, info) }
        if let other = members.first(where: { !info.destinationSubtree.contains($0.runtime.ordinal) }) {
            throw CoreDataErrors.wrongMember(other, of: object, info.name, wanted: info.destinationName, by: mapping)
        }
        if info.isToMany {
            object.setToMany(members, to)
        } else if isPaired {
            object.setToOneAlone(members.first, to)
        } else {
            object.setToOne(members.first, to)
        }
        return true
    }

    private func destinations(
        of source: NSManagedObject, mappingNamed name: String?, _ info: EntityRuntime.Slot
    ) -> [NSManagedObject] {
        guard let name else {
            return destinations(of: source, by: nil).filter { info.destinationSubtree.contains($0.runtime.ordinal) }
        }
        let found = destinations(of: source, by: name)
        return found.isEmpty && isInferred ? destinations(of: source, by: nil) : found
    }

    /// Returns whether both sides of a relationship, a to-one and an unordered to-many, are mapped by plain expressions
    /// that correspond to each other: then the to-ones determine it, and no code reads the other side before it is
    /// saved.
    private func isPaired(_ entity: EntityRuntime, _ slot: Int, _ mapping: NSEntityMapping) -> Bool {
        guard neverLooks else { return false }
        let key = PairKey(mapping: ObjectIdentifier(mapping), entity: entity.ordinal, slot: slot)
        if let known = pairs[key] { return known }
        guard let old = source.persistentStoreCoordinator?.runtime,
            let new = destination.persistentStoreCoordinator?.runtime
        else { return false }
        let found = MappingPairs(mappings: mappings, old: old, new: new, isInferred: isInferred).arePlain(entity, slot)
        pairs[key] = found
        return found
    }

    struct PairKey: Hashable {
        let mapping: ObjectIdentifier
        let entity: Int
        let slot: Int
    }
}

extension NSManagedObject {
    /// Does the work of `setToOne` without updating the other side.
    fileprivate final func setToOneAlone(_ object: NSManagedObject?, _ slot: Int) {
        fireIfNeeded(slot: slot)
        if let object { checkDestination(object, slot) }
        noteOldValue(slot)
        assignToOne(object, slot)
        markChanged(slot)
    }
}
