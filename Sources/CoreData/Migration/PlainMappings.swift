import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// What the property mappings of an entity mapping come to where their expressions only name a property of the source object, as
/// nearly all do that Xcode writes and that are inferred: pairs of slots. Those are followed without evaluating an expression.
///
///     $source.name                                                                                            .copy
///     FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "A->A", $source.unit)   .relate
struct PlainMappings {
    enum Step {
        /// An attribute of the same type, whose values are numbers, texts, dates.
        case copy(from: Int, to: Int)
        /// Related objects, by the mapping of that name, or by whichever.
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

    /// The property that the expression names, and the one that it is for.
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
    /// What the mapping comes to for objects of these entities; nothing where a manager of the user's answers itself.
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

    /// Relates the object as the step tells; `false` where an expression is to be evaluated after all.
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

    /// Whether both sides of a relationship, a to-one and a to-many without order, are mapped by plain expressions that lead to one
    /// another: then the to-ones say it all, and nobody looks at the other side before it is saved.
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
    /// As `setToOne`, but the other side does not learn of it.
    fileprivate final func setToOneAlone(_ object: NSManagedObject?, _ slot: Int) {
        fireIfNeeded(slot: slot)
        if let object { checkDestination(object, slot) }
        noteOldValue(slot)
        assignToOne(object, slot)
        markChanged(slot)
    }
}
