import CoreDataPrimitives

extension Compilation {
    /// Resolves destinations first, then inverses, which need the destinations of both sides.
    mutating func resolveRelationships() {
        for index in order {
            for (slot, property) in slots[index].enumerated() where property.declarer == index {
                guard case .relationship(let relationship) = property.element.kind else { continue }
                checkCounts(relationship, property.element, in: index)
                guard let destination = destination(of: relationship, property.element, in: index) else { continue }
                ends[End(entity: index, slot: slot)] = (destination, nil)
            }
        }
        for index in order {
            for (slot, property) in slots[index].enumerated() where property.declarer == index {
                guard case .relationship(let relationship) = property.element.kind,
                    let end = ends[End(entity: index, slot: slot)]
                else { continue }
                let inverse = inverseSlot(of: relationship, property.element, in: index, destination: end.destination)
                ends[End(entity: index, slot: slot)] = (end.destination, inverse)
            }
        }
        for (index, entity) in entities.enumerated() {
            for property in entity.properties {
                guard case .fetched(let request) = property.kind, let name = request.entityName,
                    indexByName[name] == nil
                else { continue }
                report(
                    "fetched property '\(path(property, in: index))' fetches entity '\(name)', which is not in the "
                        + "model", at: location(property, in: index))
            }
        }
    }

    private mutating func checkCounts(
        _ relationship: RelationshipElement, _ property: PropertyElement, in index: Int
    ) {
        let place = location(property, in: index)
        if relationship.maxCount > 0 && relationship.minCount > relationship.maxCount {
            report(
                "relationship '\(path(property, in: index))' has a minimum count of \(relationship.minCount), more than "
                    + "its maximum of \(relationship.maxCount)", at: place,
                hint: "lower the minimum or raise the maximum",
                rule: .minimumAboveMaximum, subject: path(property, in: index))
        }
        if relationship.isOrdered && relationship.maxCount == 1 {
            report(
                "relationship '\(path(property, in: index))' is to-one, so being ordered has no effect",
                at: place, severity: .warning, rule: .orderedToOne, subject: path(property, in: index))
        }
    }

    private mutating func destination(
        of relationship: RelationshipElement, _ property: PropertyElement, in index: Int
    ) -> Int? {
        let place = location(property, in: index)
        guard let name = relationship.destinationName, !name.isEmpty else {
            report(
                "relationship '\(path(property, in: index))' has no destination", at: place,
                hint: "set destinationEntity", rule: .badDestination, subject: path(property, in: index))
            return nil
        }
        if let found = indexByName[name] { return found }
        report(
            "relationship '\(path(property, in: index))' leads to entity '\(name)', which is not in the model",
            at: place, hint: nearest(to: name, among: indexByName.keys).map { "did you mean '\($0)'?" },
            rule: .badDestination, subject: path(property, in: index))
        return nil
    }

    private mutating func inverseSlot(
        of relationship: RelationshipElement, _ property: PropertyElement, in index: Int, destination: Int
    ) -> Int? {
        let place = location(property, in: index)
        let own = path(property, in: index)
        guard let name = relationship.inverseName, !name.isEmpty else {
            report(
                "relationship '\(own)' has no inverse", at: place,
                hint: "without an inverse, deleting the other end leaves a reference to nothing", severity: .warning,
                rule: .missingInverse, subject: own)
            return nil
        }
        let there = entities[destination].name
        guard let slot = slotByName[destination][name] else {
            report(
                "the inverse of relationship '\(own)' is '\(there).\(name)', which does not exist", at: place,
                hint: nearest(to: name, among: slotByName[destination].keys).map { "did you mean '\($0)'?" },
                rule: .badInverse, subject: own)
            return nil
        }
        let other = slots[destination][slot]
        guard case .relationship(let inverse) = other.element.kind else {
            report(
                "the inverse of relationship '\(own)' is '\(there).\(name)', which is not a relationship", at: place,
                rule: .badInverse, subject: own)
            return nil
        }
        let end = ends[End(entity: other.declarer, slot: slot)]
        // The other side's destination was reported already; this relationship cannot be checked further.
        guard let back = end?.destination else { return nil }
        guard let backName = inverse.inverseName, !backName.isEmpty else {
            report(
                "the inverse of relationship '\(own)' is '\(there).\(name)', which names no inverse itself", at: place,
                hint: "set the inverse of '\(there).\(name)' to '\(property.name)'", rule: .badInverse, subject: own)
            return nil
        }
        guard let backSlot = slotByName[back][backName], slots[back][backSlot].declarer == index,
            backName == property.name
        else {
            report(
                "relationships '\(own)' and '\(there).\(name)' are not each other's inverse: the second names "
                    + "'\(entities[back].name).\(backName)'", at: place, rule: .badInverse, subject: own)
            return nil
        }
        return slot
    }
}
