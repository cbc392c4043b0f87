import CoreData

/// Sorts entities so that most objects come after the objects that they refer to.
package enum EntityOrder {
    /// Returns the entities by name, but each after the destinations of its to-ones: first the required to-ones count,
    /// then the optional ones, as far as there is no cycle.
    package static func byDependency(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        let sorted = entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var result: [NSEntityDescription] = []
        var visited: Set<String> = []
        func visit(_ entity: NSEntityDescription) {
            guard visited.insert(entity.name ?? "").inserted else { return }
            let toOnes = entity.relationshipsByName.values.filter { !$0.isToMany && !$0.isTransient }
                .sorted { ($0.isOptional ? 1 : 0, $0.name) < ($1.isOptional ? 1 : 0, $1.name) }
            for destination in toOnes.compactMap(\.destinationEntity) {
                for candidate in sorted where candidate.isKindOf(entity: destination) { visit(candidate) }
            }
            result.append(entity)
        }
        for entity in sorted { visit(entity) }
        return result
    }
}
