/// Both sides of a relationship, as the mappings fill them.
struct MappingPairs {
    let mappings: [NSEntityMapping]
    let old: ModelRuntime
    let new: ModelRuntime
    let isInferred: Bool

    /// Returns whether both sides are mapped by plain expressions that correspond to each other: then each to-one
    /// determines the relationship. One of the sides is a to-one, and neither is ordered.
    func arePlain(_ entity: EntityRuntime, _ slot: Int, oneToOne: Bool = false) -> Bool {
        let info = entity.slots[slot]
        guard let back = info.relationship?.inverseSlot, let destination = info.relationship?.destination,
            info.isToMany != info.isInverseToMany || oneToOne && !info.isToMany
        else { return false }
        let other = new.entities[destination]
        guard info.relationship?.isOrdered == false, other.slots[back].relationship?.isOrdered == false else {
            return false
        }
        // Every mapping that makes objects of one side, and the name by which the other side's objects are found.
        let near = plainRelations(of: info, among: entity)
        let far = plainRelations(of: other.slots[back], among: other)
        guard let near, let far, !near.isEmpty, !far.isEmpty else { return false }
        guard isInferred || near.count == 1 && far.count == 1 else { return false }
        for (nearMapping, nearStep, nearSource) in near {
            for (farMapping, farStep, farSource) in far {
                guard case .relate(let from, _, let toFar) = nearStep,
                    case .relate(let farFrom, _, let toNear) = farStep
                else { return false }
                guard isInferred || toFar == farMapping.name && toNear == nearMapping.name,
                    nearSource.slots[from].relationship?.inverseSlot == farFrom,
                    farSource.slots[farFrom].relationship?.inverseSlot == from,
                    nearSource.slots[from].isToMany == entity.slots[slot].isToMany
                else { return false }
            }
        }
        return true
    }

    /// Returns how each mapping that makes objects of the entity, or of its subentities, sets the relationship; `nil`
    /// if a mapping uses another expression, or does not set it.
    private func plainRelations(
        of info: EntityRuntime.Slot, among entity: EntityRuntime
    ) -> [(NSEntityMapping, PlainMappings.Step, EntityRuntime)]? {
        let declarer = new.entities[info.property.declaringEntity]
        var found: [(NSEntityMapping, PlainMappings.Step, EntityRuntime)] = []
        for mapping in mappings {
            guard let made = mapping.destinationEntityName.flatMap(new.entity(named:)),
                declarer.compiled.subtree.contains(made.ordinal)
            else { continue }
            // Nothing is made by it.
            if mapping.mappingType == .addEntityMappingType || mapping.mappingType == .removeEntityMappingType {
                continue
            }
            guard let from = mapping.sourceEntityName.flatMap(old.entity(named:)) else { return nil }
            let plain = PlainMappings(mapping, from: from, to: made)
            let steps = zip(mapping.relationshipMappings ?? [], plain.relationships).filter { $0.0.name == info.name }
            guard steps.count == 1, case .relate = steps[0].1 else { return nil }
            found.append((mapping, steps[0].1, from))
        }
        return found
    }
}
