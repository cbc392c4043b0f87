import CoreDataModel
import CoreDataPrimitives

/// Checks delete rules, inverses and configurations.
extension ModelLinter {
    /// One side of a relationship that has a destination.
    struct End {
        var declared: Declared
        var relationship: RelationshipElement
        var destination: Int

        var element: PropertyElement { declared.element }
        var isToMany: Bool { relationship.maxCount != 1 }
    }

    var ends: [End] {
        declared.compactMap { declared in
            guard case .relationship(let relationship) = declared.element.kind,
                let end = compilation.ends[.init(entity: declared.entity, slot: declared.slot)]
            else { return nil }
            return End(declared: declared, relationship: relationship, destination: end.destination)
        }
    }

    func inverse(of end: End) -> End? {
        guard let ends = compilation.ends[.init(entity: end.declared.entity, slot: end.declared.slot)],
            let slot = ends.inverseSlot
        else { return nil }
        let property = compilation.slots[end.destination][slot]
        guard case .relationship(let relationship) = property.element.kind,
            let back = compilation.ends[.init(entity: property.declarer, slot: slot)]
        else { return nil }
        return End(
            declared: Declared(entity: property.declarer, slot: slot, element: property.element),
            relationship: relationship, destination: back.destination)
    }

    func path(_ end: End) -> String { compilation.path(end.element, in: end.declared.entity) }

    /// Returns whether this side reports problems of the pair.
    private func isFirst(_ end: End, of inverse: End) -> Bool {
        (end.declared.entity, end.declared.slot) <= (inverse.declared.entity, inverse.declared.slot)
    }

    mutating func checkRelationships() {
        for end in ends {
            guard let inverse = inverse(of: end), !end.element.isTransient else { continue }
            let (own, other) = (path(end), path(inverse))
            switch end.relationship.deleteRule {
            case .noAction:
                report(
                    .noActionWithInverse,
                    "relationship '\(own)' has the delete rule No Action, so '\(other)' keeps pointing to what was deleted",
                    end.element, in: end.declared.entity,
                    hint: "use Nullify, which also costs nothing where nothing points back")
            case .deny where inverse.relationship.deleteRule == .deny && isFirst(end, of: inverse):
                let isRequired = !end.element.isOptional || !inverse.element.isOptional
                report(
                    .denyDeadlock,
                    "relationships '\(own)' and '\(other)' both deny deletion, so neither object can be deleted "
                        + (isRequired
                            ? "alone, and one of them must not be without the other" : "while they are related"),
                    end.element, in: end.declared.entity, hint: "let one of the two nullify or cascade")
            case .nullify where !inverse.isToMany && !inverse.element.isOptional:
                report(
                    .nullifyRequired,
                    "deleting \(article(entities[end.declared.entity].name)) empties '\(other)', which is required, so the "
                        + "save fails while '\(own)' is not empty", end.element, in: end.declared.entity,
                    hint: "make '\(other)' optional, or use Cascade (delete them too) or Deny (refuse at once)")
            default: break
            }
        }
    }

    private func article(_ name: String) -> String { "an object of '\(name)'" }

    // MARK: Cascades

    mutating func checkCascades() {
        for end in ends where end.relationship.deleteRule == .cascade {
            guard let inverse = inverse(of: end), inverse.relationship.deleteRule == .cascade,
                isFirst(end, of: inverse), end.isToMany || inverse.isToMany
            else { continue }
            report(
                .cascadeToOwner,
                "relationships '\(path(end))' and '\(path(inverse))' both cascade, so deleting one object deletes "
                    + "everything that is connected to it", end.element, in: end.declared.entity,
                hint: "cascade from the owner only and let the other side nullify")
        }
        for cycle in requiredCascadeCycles() {
            let names = (cycle + [cycle[0]]).map { entities[$0.declared.entity].name }.joined(separator: " → ")
            report(
                .cascadeCycle,
                "required relationships cascade in a circle (\(names)): none of the objects can be saved without the "
                    + "others, and deleting one deletes all", cycle[0].element, in: cycle[0].declared.entity,
                hint: "make '\(path(cycle[cycle.count - 1]))' optional, or let it nullify")
        }
    }

    /// Returns cycles of three or more entities. Two entities that require each other are a one-to-one pair, which may
    /// be intended.
    private func requiredCascadeCycles() -> [[End]] {
        let edges = Dictionary(
            grouping: ends.filter { $0.relationship.deleteRule == .cascade && !$0.element.isOptional },
            by: \.declared.entity)
        var found: [[End]] = []
        var seen: Set<Set<Int>> = []
        // Finds the cycles through an entity that contain only entities with higher numbers, so that each is found
        // once.
        func walk(from start: Int, _ path: [End], _ visited: Set<Int>) {
            let current = path.last?.destination ?? start
            for edge in edges[current] ?? [] {
                if edge.destination == start, path.count >= 2 {
                    if seen.insert(visited).inserted { found.append(path + [edge]) }
                } else if edge.destination > start, !visited.contains(edge.destination), path.count < 8 {
                    walk(from: start, path + [edge], visited.union([edge.destination]))
                }
            }
        }
        for start in edges.keys.sorted() { walk(from: start, [], [start]) }
        return found
    }

    // MARK: Configurations

    mutating func checkConfigurations() {
        for configuration in document.configurations {
            let members = Set(configuration.entityNames.compactMap { compilation.indexByName[$0] })
            for end in ends where members.contains(end.declared.entity) && !end.element.isTransient {
                guard !members.contains(end.destination) else { continue }
                report(
                    .configurationLeft,
                    "relationship '\(path(end))' leads out of configuration '\(configuration.name)', which does not have "
                        + "'\(entities[end.destination].name)': no relationship can cross stores",
                    end.element, in: end.declared.entity,
                    hint: "add '\(entities[end.destination].name)' to the configuration, or use a fetched property")
            }
        }
    }
}
