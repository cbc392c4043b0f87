// Models at random: every kind of relationship, rule and identity comes in some of them.
extension SimulatedModel {
    /// The smallest model: one entity with a text.
    package static let smallest = Self(
        entities: [Entity(name: "A", attributes: [Attribute(name: "text", kind: .string)])])

    package static func random(_ numbers: inout SimulationNumbers, versions: Int) -> Self {
        var model = Self(entities: [])
        let count = 2 + numbers.below(4)
        for index in 0..<count { model.addEntity(index, &numbers, versions) }
        for index in 0..<(1 + numbers.below(count + 2)) { model.addRelationship(index, &numbers, versions) }
        return model
    }

    private static let letters = ["A", "B", "C", "D", "E", "F"]

    private mutating func addEntity(_ index: Int, _ numbers: inout SimulationNumbers, _ versions: Int) {
        var entity = Entity(name: Self.letters[index])
        if index > 0, numbers.chance(4) {
            entity.parent = numbers.pick(entities).name
        } else {
            entity.identity = numbers.chance(2) ? .random : numbers.pick(Identity.allCases)
            entity.editWins = numbers.chance(5)
            entity.hasCode = entity.identity != .declared && numbers.chance(6)
        }
        for place in 0..<(1 + numbers.below(4)) {
            var attribute = Attribute(
                name: "\(entity.name.lowercased())\(place)", kind: numbers.pick(SimulatedValue.allCases))
            if attribute.kind.isNumber {
                attribute.merge = numbers.pick([.last, .last, .sum, .min, .max])
            }
            if place > 0, versions > 1, numbers.chance(3) { attribute.since = 2 }
            entity.attributes.append(attribute)
        }
        entities.append(entity)
    }

    private mutating func addRelationship(_ index: Int, _ numbers: inout SimulationNumbers, _ versions: Int) {
        var relationship = Relationship(
            source: numbers.pick(entities).name, name: "r\(index)", destination: numbers.pick(entities).name)
        relationship.isToMany = numbers.chance(3)
        relationship.isOrdered = relationship.isToMany && numbers.chance(2)
        // A to-many without an inverse has members that other owners take away, which no device notices.
        if relationship.isToMany || !numbers.chance(6) {
            var inverse = Inverse(name: "i\(index)", isToMany: numbers.chance(2) || relationship.isToMany)
            inverse.isOrdered = inverse.isToMany && numbers.chance(3)
            if !relationship.isToMany { inverse.rule = numbers.pick([.nullify, .nullify, .cascade, .deny]) }
            relationship.inverse = inverse
            // An object that is required by itself could never be made.
            let canBeRequired = !relationship.isToMany && inverse.isToMany && inverse.rule != .nullify
            relationship.isRequired =
                canBeRequired && numbers.chance(2)
                && !reaches(relationship.destination, relationship.source)
        }
        if versions > 1, !relationship.isRequired, numbers.chance(5) { relationship.since = 2 }
        relationships.append(relationship)
    }

    /// Whether required relationships lead from one entity to another one.
    private func reaches(_ from: String, _ to: String) -> Bool {
        var seen: Set<String> = []
        var rest = [from]
        while let next = rest.popLast() {
            if overlap(next, to) { return true }
            guard seen.insert(next).inserted else { continue }
            for entity in entities where overlap(entity.name, next) {
                rest += relationships.filter { $0.isRequired && $0.source == entity.name }.map(\.destination)
            }
        }
        return false
    }
}
