import CoreDataModel
import CoreDataPrimitives

extension LintFixSource {
    // MARK: Attributes

    func fixes(of attribute: AttributeElement, _ property: PropertyElement, _ path: ModelPath) -> [Fix] {
        func set(_ title: String, _ setting: ModelSetting, _ value: String?) -> Fix {
            (title, [.set(path, setting, value)])
        }
        let zero: String? =
            switch attribute.type.kind {
            case .boolean: "NO"
            case .integer: "0"
            case .real, .single, .decimal: "0.0"
            default: nil
            }
        switch rule {
        case .badDefault, .defaultFailsValidation: return [set("Remove the default", .defaultValue, nil)]
        case .needlessExternalStorage:
            return [set("Remove the external storage", .allowsExternalStorage, nil)]
        case .scalarWithoutDefault: return zero.map { [set("Set the default \($0)", .defaultValue, $0)] } ?? []
        case .requiredWithoutDefault:
            let optional = set("Make \(path.text) optional", .isOptional, "YES")
            return (zero.map { [set("Set the default \($0)", .defaultValue, $0)] } ?? []) + [optional]
        case .transformableWithoutTransformer, .insecureTransformer:
            return [set("Use NSSecureUnarchiveFromData", .valueTransformer, "NSSecureUnarchiveFromData")]
        case .badDerivation: return [set("Remove the derivation", .derivation, nil)]
        case .badPredicate: return [set("Remove the regular expression", .pattern, nil)]
        case .minimumAboveMaximum:
            let limits = ValidationBounds.limits(of: attribute.validations, type: attribute.type)
            guard let minimum = limits.minimum, let maximum = limits.maximum else { return [] }
            return [
                (
                    "Swap minimum and maximum",
                    [.set(path, .minimum, maximum), .set(path, .maximum, minimum)]
                )
            ]
        default: return []
        }
    }

    // MARK: Relationships

    func fixes(
        of relationship: RelationshipElement, _ property: PropertyElement, _ path: ModelPath, _ entity: EntityElement
    ) -> [Fix] {
        func set(_ title: String, _ path: ModelPath, _ setting: ModelSetting, _ value: String?) -> Fix {
            (title, [.set(path, setting, value)])
        }
        switch rule {
        case .missingInverse, .badInverse:
            return inverseFixes(of: relationship, property, path, entity)
        case .badDestination: return [("Delete \(path.text)", [.delete(path)])]
        case .noActionWithInverse: return [set("Use the delete rule Nullify", path, .deleteRule, "Nullify")]
        case .denyDeadlock, .cascadeToOwner:
            var fixes = [set("Let \(path.text) nullify", path, .deleteRule, "Nullify")]
            if let inverse = inverse(of: relationship) {
                fixes.append(set("Let \(inverse.text) nullify", inverse, .deleteRule, "Nullify"))
            }
            return fixes
        case .nullifyRequired:
            let other = inverse(of: relationship)
            return (other.map { [set("Make \($0.text) optional", $0, .isOptional, "YES")] } ?? []) + [
                set("Delete them too (Cascade)", path, .deleteRule, "Cascade"),
                set("Refuse at once (Deny)", path, .deleteRule, "Deny"),
            ]
        case .cascadeCycle: return [set("Make \(path.text) optional", path, .isOptional, "YES")]
        case .orderedToOne: return [set("Remove the order", path, .isOrdered, "NO")]
        case .toManyOfOne: return [set("Make it to-many without a maximum", path, .isToMany, "YES")]
        case .minimumAboveMaximum:
            let (minimum, maximum) = (relationship.minCount, relationship.maxCount)
            if maximum == 1 { return [set("Lower the minimum to 1", path, .minimumCount, "1")] }
            return [
                (
                    "Swap minimum and maximum",
                    [.set(path, .minimumCount, "\(maximum)"), .set(path, .maximumCount, "\(minimum)")]
                )
            ]
        case .configurationLeft: return configurationFixes(of: relationship, entity)
        default: return []
        }
    }

    /// The path of a relationship's inverse, at its declaration.
    private func inverse(of relationship: RelationshipElement) -> ModelPath? {
        guard let name = relationship.inverseName else { return nil }
        var owner = relationship.destinationName
        var visited: Set<String> = []
        while let current = owner, visited.insert(current).inserted,
            let entity = document.entities.first(where: { $0.name == current })
        {
            if entity.properties.contains(where: { $0.name == name && $0.isRelationship }) {
                return .property(entity: current, name: name)
            }
            owner = entity.parentName
        }
        return nil
    }

    private func inverseFixes(
        of relationship: RelationshipElement, _ property: PropertyElement, _ path: ModelPath, _ entity: EntityElement
    ) -> [Fix] {
        guard let name = relationship.destinationName,
            let destination = document.entities.first(where: { $0.name == name })
        else { return [] }
        // Relationships that refer back and have no inverse, or name this one.
        let candidates = destination.properties.filter { other in
            guard case .relationship(let back) = other.kind, back.destinationName == entity.name else { return false }
            if name == entity.name, other.name == property.name { return false }
            return back.inverseName == nil || back.inverseName == property.name
        }
        var fixes: [Fix] = candidates.map { other in
            ("Make '\(name).\(other.name)' the inverse", [.setInverse(path, other.name)])
        }
        if candidates.isEmpty {
            // A new inverse of a to-one is to-many: its name is a plural.
            let isToMany = relationship.maxCount == 1
            let base = entity.name.lowercasedFirst
            let wanted = isToMany ? base + (base.hasSuffix("s") ? "es" : "s") : base
            let taken = Set(destination.properties.map(\.name))
            let free = ([wanted] + (2...99).map { "\(wanted)\($0)" }).first { !taken.contains($0) } ?? wanted
            let inverse = ModelPath.property(entity: name, name: free)
            var edits: [ModelEdit] = [
                .addProperty(.relationship, name: free, entity: name), .set(inverse, .destination, entity.name),
            ]
            if isToMany { edits.append(.set(inverse, .isToMany, "YES")) }
            edits.append(.setInverse(path, free))
            fixes.append(("Add the inverse '\(free)' to '\(name)'", edits))
        }
        if rule == .badInverse { fixes.append(("Remove the inverse", [.setInverse(path, nil)])) }
        return fixes
    }

    /// Adds the destination to the configurations that have the entity without it.
    private func configurationFixes(of relationship: RelationshipElement, _ entity: EntityElement) -> [Fix] {
        guard let destination = relationship.destinationName else { return [] }
        return document.configurations.filter {
            $0.entityNames.contains(entity.name) && !$0.entityNames.contains(destination)
        }.map { configuration in
            (
                "Add '\(destination)' to configuration '\(configuration.name)'",
                [.setMembers(configuration: configuration.name, configuration.entityNames + [destination])]
            )
        }
    }
}
