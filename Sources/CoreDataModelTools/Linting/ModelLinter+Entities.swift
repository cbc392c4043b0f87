import CoreDataModel
import CoreDataPrimitives

/// Checks entities: their content, classes and constraints.
extension ModelLinter {
    mutating func checkEntities() {
        let parents = Set(compilation.parents.compactMap { $0 })
        for (index, entity) in entities.enumerated() {
            if entity.isAbstract, !parents.contains(index) {
                report(
                    .abstractWithoutChildren,
                    "entity '\(entity.name)' is abstract and no entity inherits from it, so there can be no objects of it",
                    entity: index, hint: "make it concrete, give it subentities or remove it")
            } else if compilation.slots[index].isEmpty, !parents.contains(index) {
                report(
                    .entityWithoutProperties, "entity '\(entity.name)' has no properties", entity: index,
                    hint: "give it properties or remove it")
            }
            checkClass(entity, index)
            checkOptionalConstraints(entity, index)
        }
        checkSharedClasses()
    }

    // MARK: Classes

    /// Returns the class as the model names it; `nil` for plain managed objects.
    private func className(_ entity: EntityElement) -> String? {
        guard let name = entity.className, !name.isEmpty, name != Self.plainClass else { return nil }
        return name
    }

    /// Apple's class of objects whose entity has no class of its own.
    private static let plainClass = "NS" + "ManagedObject"

    private mutating func checkClass(_ entity: EntityElement, _ index: Int) {
        guard let name = className(entity) else {
            guard let kind = entity.codeGenerationType else { return }
            report(
                .nothingGenerated,
                "entity '\(entity.name)' asks for code (\(kind)) but names no class of its own, so none is generated",
                entity: index, hint: "set representedClassName, or remove codeGenerationType")
            return
        }
        // `.Book` is a class of the application's own module.
        let parts = (name.hasPrefix(".") ? String(name.dropFirst()) : name)
            .split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 2 || !parts.allSatisfy(Compilation.isIdentifier) else { return }
        report(
            .invalidClassName, "entity '\(entity.name)' names the class '\(name)', which no Swift class can have",
            entity: index, hint: "use Class, .Class or Module.Class")
    }

    private mutating func checkSharedClasses() {
        var first: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            guard let name = className(entity) else { continue }
            let key = name.hasPrefix(".") ? String(name.dropFirst()) : name
            guard let other = first[key] else {
                first[key] = index
                continue
            }
            report(
                .sharedClass,
                "entities '\(entities[other].name)' and '\(entity.name)' have the same class '\(name)', which then stands "
                    + "for no single entity: '\(name)(context:)' and '\(name).fetchRequest()' fail", entity: index,
                hint: "give each entity a class of its own")
        }
    }

    // MARK: Constraints

    private mutating func checkOptionalConstraints(_ entity: EntityElement, _ index: Int) {
        for constraint in entity.uniquenessConstraints {
            for name in constraint {
                guard let slot = compilation.slotByName[index][name] else { continue }
                let property = compilation.slots[index][slot].element
                guard property.isOptional, hasNoDefault(property) else { continue }
                report(
                    .optionalInConstraint,
                    "'\(entity.name)' is unique by (\(constraint.joined(separator: ", "))), but '\(name)' is optional: "
                        + "any number of objects without it may exist", property,
                    in: compilation.slots[index][slot].declarer, hint: "make it required if every object must have one")
            }
        }
    }

    private func hasNoDefault(_ property: PropertyElement) -> Bool {
        guard case .attribute(let attribute) = property.kind else { return true }
        guard case .success(let value) = DefaultValue.of(attribute) else { return false }
        return value.isNull
    }
}
