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
        /// The relationship is kept, but the order of its objects is lost.
        case order
    }

    package var kind: Kind
    /// The name of the older entity.
    package var entity: String
    /// The name of the property, or the path of a composite's element; `nil` for an entity.
    package var property: String?

    package init(_ kind: Kind, entity: String, property: String? = nil) {
        (self.kind, self.entity, self.property) = (kind, entity, property)
    }

    /// `Unit`, `Item.price`.
    package var name: String { property.map { "\(entity).\($0)" } ?? entity }

    /// The description of the loss: `the attribute Item.price`.
    package var text: String { kind == .order ? "the order of \(name)" : "the \(kind.rawValue) \(name)" }
}

extension ModelMapping {
    /// Returns the values of stored entities that the migration drops, sorted by entity; empty if every stored value is
    /// kept.
    ///
    /// Transient and derived attributes are no loss: stores do not contain them, or compute them again. An abstract
    /// entity has no objects; its properties count if one of its subentities loses them.
    ///
    /// - Parameter stored: the ordinals of the older model's entities in the store.
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
                // The ancestor's loss is reported instead.
                return !above.contains {
                    source.entities[property.declaringEntity].properties[$0].name == property.name
                }
            }
            return own.sorted().map { loss(of: entity.properties[$0], in: ordinal) }
        }
    }

    /// Returns the slots that an entity loses; `nil` if the entity itself is removed.
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
        // If all elements of a composite attribute are lost, report the composite instead.
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
    /// Whether stores contain values of the property that cannot be computed; a composite attribute has only its
    /// elements' values.
    fileprivate var hasValuesOfItsOwn: Bool {
        switch kind {
        case .attribute(let attribute): !isTransient && !isComposite && !attribute.isDerived
        case .relationship: !isTransient
        case .fetched: false
        }
    }
}
