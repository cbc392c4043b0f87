/// An entity, attribute or relationship of the older model whose values a migration drops.
///
///     Unit            // the entity, with its objects
///     Item.price      // an attribute
///     Item.unit       // a relationship
package struct MappingLoss: Hashable, Sendable {
    package enum Kind: String, Sendable {
        case entity
        case attribute
        case relationship
        /// The relationship stays, the order of its objects goes.
        case order
    }

    package var kind: Kind
    /// The name of the older entity.
    package var entity: String
    /// The name of the property; `nil` for an entity. Of an element of a composite attribute its path.
    package var property: String?

    package init(_ kind: Kind, entity: String, property: String? = nil) {
        (self.kind, self.entity, self.property) = (kind, entity, property)
    }

    /// `Unit`, `Item.price`.
    package var name: String { property.map { "\(entity).\($0)" } ?? entity }

    /// The loss in words: `the attribute Item.price`.
    package var text: String { kind == .order ? "the order of \(name)" : "the \(kind.rawValue) \(name)" }
}

extension ModelMapping {
    /// What the migration drops of the entities that the store has, sorted by entity; empty where every stored value is kept.
    ///
    /// Transient and derived attributes are no loss: stores have none of them, or compute them anew. An abstract entity has no objects;
    /// its properties count where an entity below it loses them.
    ///
    /// - Parameter stored: the entities of the older model that the store has, by ordinal.
    package func losses(of stored: [Int]) -> [MappingLoss] {
        let ordinals = stored.filter { !source.entities[$0].isAbstract }
            .sorted { source.entities[$0].name < source.entities[$1].name }
        var lost: [Int: Set<Int>] = [:]
        for ordinal in ordinals { lost[ordinal] = slotsLost(of: ordinal) }
        return ordinals.flatMap { ordinal -> [MappingLoss] in
            let entity = source.entities[ordinal]
            guard let slots = lost[ordinal] else { return [MappingLoss(.entity, entity: entity.name)] }
            let own = slots.filter { slot in
                let property = entity.properties[slot]
                guard property.declaringEntity != ordinal, let above = lost[property.declaringEntity] else {
                    return true
                }
                // It is reported there.
                return !above.contains {
                    source.entities[property.declaringEntity].properties[$0].name == property.name
                }
            }
            return own.sorted().map { loss(of: entity.properties[$0], in: ordinal) }
        }
    }

    /// The slots of what an entity loses; `nil` where the entity itself goes.
    private func slotsLost(of ordinal: Int) -> Set<Int>? {
        guard let heir = destination(of: ordinal) else { return nil }
        let entity = source.entities[ordinal]
        let kept = entities[heir].sourceSlots
        var result: Set<Int> = []
        for property in entity.properties where property.hasValuesOfItsOwn {
            guard let slot = kept.firstIndex(of: property.slot) else {
                result.insert(property.slot)
                continue
            }
            let new = destination.entities[heir].properties[slot].relationship
            if property.relationship?.isOrdered == true, new?.isOrdered == false { result.insert(property.slot) }
        }
        // A composite attribute takes the place of its elements where all of them go.
        for composite in entity.properties.reversed() {
            guard let elements = composite.attribute?.elements, composite.isComposite else { continue }
            let stored = elements.filter {
                entity.properties[$0].hasValuesOfItsOwn || entity.properties[$0].isComposite
            }
            guard !stored.isEmpty, result.isSuperset(of: stored) else { continue }
            result.subtract(stored)
            result.insert(composite.slot)
        }
        return result
    }

    private func loss(of property: CompiledProperty, in ordinal: Int) -> MappingLoss {
        let isKept = destination(of: ordinal).map { entities[$0].sourceSlots.contains(property.slot) } ?? false
        let kind: MappingLoss.Kind = property.relationship == nil ? .attribute : isKept ? .order : .relationship
        return MappingLoss(kind, entity: source.entities[ordinal].name, property: property.name)
    }
}

extension CompiledProperty {
    /// Whether stores keep values of it that they cannot compute; a composite attribute has none beside its elements.
    fileprivate var hasValuesOfItsOwn: Bool {
        switch kind {
        case .attribute(let attribute): !isTransient && !isComposite && !attribute.isDerived
        case .relationship: !isTransient
        case .fetched: false
        }
    }
}
