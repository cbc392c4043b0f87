import CoreDataModel

/// Simulates the pass in which Apple's Core Data visits the to-many relationships of a store.
///
/// It visits the entities by name, not by number, and in each all relationships, including inherited ones, in the order
/// of an old dictionary. The first visited side names a join table. Conflicting names are numbered, and the columns of
/// to-many relationships are created, in the order of the pass.
///
///     Bank.members ⇄ Person.banks, Club.members ⇄ Person.clubs
///     // Bank before Club: Z_1MEMBERS ( Z_1…, Z_3MEMBERS ), Z_2MEMBERS ( Z_2…, Z_3MEMBERS1 )
struct ToManyPass {
    /// The effect of a relationship on the schema.
    enum Trace {
        /// Without inverse: a column for its owner's key in the destination's table.
        case ownerKey
        /// Ordered, with a to-one inverse: a column for the order of its members, next to the inverse's key.
        case order(of: StoreLayout.Relationship)
        /// With a to-many inverse: a table. It is the first of the two relationships.
        case joinTable(inverse: StoreLayout.Relationship)
    }

    struct Visit {
        /// The relationship, identified by its declaring entity.
        var relationship: StoreLayout.Relationship
        var trace: Trace
    }

    let model: CompiledModel
    /// The store's entities.
    let entities: [Int]
    /// Whether an entity is one of them, by ordinal.
    let isStored: [Bool]

    /// Returns the relationships that affect the schema, in the order of the pass, without duplicates.
    func visits() -> [Visit] {
        var visits: [Visit] = []
        var seen: Set<StoreLayout.Relationship> = []
        for entity in byName {
            var found: [(name: String, visit: Visit)] = []
            for property in entity.properties {
                let relationship = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
                guard let trace = trace(of: property), !seen.contains(relationship) else { continue }
                found.append((property.name, Visit(relationship: relationship, trace: trace)))
            }
            if found.count > 1 { found = sorted(found, of: entity) }
            for (_, visit) in found where seen.insert(visit.relationship).inserted {
                if case .joinTable(let inverse) = visit.trace { seen.insert(inverse) }
                visits.append(visit)
            }
        }
        return visits
    }

    private var byName: [CompiledEntity] {
        entities.map { model.entities[$0] }.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
    }

    private func sorted(_ found: [(name: String, visit: Visit)], of entity: CompiledEntity) -> [(String, Visit)] {
        var places: [String: Int] = [:]
        for (place, name) in DictionaryOrder.leopard(entity.namesInModel).enumerated() {
            places[name] = place
        }
        return found.sorted { (places[$0.name] ?? 0) < (places[$1.name] ?? 0) }
    }

    private func trace(of property: CompiledProperty) -> Trace? {
        guard let relationship = property.relationship, relationship.isToMany, !property.isTransient,
            isStored[relationship.destination]
        else { return nil }
        guard let inverse = model.inverse(of: relationship), let back = inverse.relationship else { return .ownerKey }
        let other = StoreLayout.Relationship(entity: inverse.declaringEntity, slot: inverse.slot)
        if back.isToMany { return isStored[back.destination] ? .joinTable(inverse: other) : nil }
        return relationship.isOrdered && !inverse.isTransient ? .order(of: other) : nil
    }
}
