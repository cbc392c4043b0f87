import CoreDataPrimitives
import Foundation

/// Finds the changes of one entity between two models; an ancestor's comparison reports inherited properties.
struct EntityComparison {
    let old: CompiledEntity
    let new: CompiledEntity
    let pairing: ModelPairing

    private var oldModel: CompiledModel { pairing.old.model }
    private var newModel: CompiledModel { pairing.new.model }

    func changes() -> [ModelDifference.Change] {
        var result = entityChanges()
        let pairs = properties
        for (a, b) in pairs {
            switch (a, b) {
            case (nil, let property?):
                result.append(
                    change(
                        "\(kind(property)) '\(property.name)' was added (\(summary(property, in: newModel)))", property)
                )
            case (let property?, nil):
                result.append(change("\(kind(property)) '\(property.name)' was removed", property))
            case (let a?, let b?): result += propertyChanges(a, b)
            case (nil, nil): break
            }
        }
        let isRenamed = old.name != new.name || pairs.contains { $0?.name != $1?.name && $0 != nil && $1 != nil }
        if old.versionHash != new.versionHash, !isRenamed, !result.contains(where: \.needsMigration) {
            // The entity has no change of its own that explains the different hash.
            let text = ancestorsChanged ? "inherits changes" : "version hash modifier was changed"
            result.append(.init(subject: new.name, text: text, needsMigration: true))
        }
        return result
    }

    /// The entity's own properties that were renamed.
    var renamedProperties: [ModelDifference.Renaming] {
        properties.compactMap { a, b in
            guard let a, let b, a.name != b.name else { return nil }
            return .init(old: "\(old.name).\(a.name)", new: "\(new.name).\(b.name)")
        }
    }

    /// The own properties of both entities by name; corresponding properties are paired.
    private var properties: [(CompiledProperty?, CompiledProperty?)] {
        let before = own(old)
        var left = Set(before.map(\.name))
        var pairs: [(CompiledProperty?, CompiledProperty?)] = []
        for property in own(new) {
            let match = pairing.old(of: property, in: new).flatMap { left.remove($0.name) == nil ? nil : $0 }
            pairs.append((match, property))
        }
        pairs += before.filter { left.contains($0.name) }.map { ($0, nil) }
        return pairs.sorted { a, b in
            NameOrder.byCodeUnits(a.1?.name ?? a.0?.name ?? "", b.1?.name ?? b.0?.name ?? "")
        }
    }

    // MARK: Entities

    private func entityChanges() -> [ModelDifference.Change] {
        var result: [ModelDifference.Change] = []
        func add(_ what: String, _ a: String, _ b: String, needsMigration: Bool = true) {
            guard a != b else { return }
            result.append(
                .init(subject: new.name, text: "\(what)\(a) → \(b)", needsMigration: needsMigration))
        }
        add("", old.isAbstract ? "abstract" : "concrete", new.isAbstract ? "abstract" : "concrete")
        add("parent ", parentName(old, oldModel), parentName(new, newModel), needsMigration: !isSameParent)
        if !isSameClass { add("class ", old.className ?? "none", new.className ?? "none", needsMigration: false) }
        add("unique by ", constraints(old), constraints(new))
        add("indexes ", indexes(old), indexes(new), needsMigration: false)
        return result
            + ElementComparison.changes(
                new.name, from: pairing.old.elements[old.name], to: pairing.new.elements[new.name],
                inSources: pairing.isOfSources)
    }

    /// Whether both have the same class: a compiler adds the module that the source omits.
    private var isSameClass: Bool {
        guard pairing.isOfSourceAndCompiled, old.className != new.className else {
            return old.className == new.className
        }
        let (source, compiled) =
            pairing.old.isWritten == true
            ? (pairing.old.elements[old.name], new.className) : (pairing.new.elements[new.name], old.className)
        guard let source, let compiled else { return false }
        let module = compiled.split(separator: ".").dropLast().joined(separator: ".")
        return source.compiledClassName(inModule: module.isEmpty ? nil : module) == compiled
    }

    private func parentName(_ entity: CompiledEntity, _ model: CompiledModel) -> String {
        entity.parent.map { model.entities[$0].name } ?? "none"
    }

    /// Whether the parent is the same entity, possibly renamed.
    private var isSameParent: Bool { new.parent.flatMap { pairing.oldEntities[$0] } == old.parent }

    private func constraints(_ entity: CompiledEntity) -> String {
        let texts = entity.uniquenessConstraints.map { slots in
            "(\(slots.map { entity.properties[$0].name }.joined(separator: ", ")))"
        }
        return texts.isEmpty ? "nothing" : texts.sorted(by: NameOrder.byCodeUnits).joined(separator: " ")
    }

    private func indexes(_ entity: CompiledEntity) -> String {
        let texts = entity.fetchIndexes.map { index in
            let elements = index.elements.map { element in
                (element.slot.map { entity.properties[$0].name } ?? element.expression ?? "")
                    + (element.isAscending ? "" : " descending") + (element.isRTree ? " R-tree" : "")
            }
            return "\(index.name)(\(elements.joined(separator: ", ")))" + (index.predicate.map { " where \($0)" } ?? "")
        }
        return texts.isEmpty ? "none" : texts.sorted(by: NameOrder.byCodeUnits).joined(separator: " ")
    }

    private var ancestorsChanged: Bool {
        func hash(_ entity: CompiledEntity, _ model: CompiledModel) -> Data? {
            entity.parent.map { model.entities[$0].versionHash }
        }
        return hash(old, oldModel) != hash(new, newModel)
    }

    // MARK: Properties

    private func own(_ entity: CompiledEntity) -> [CompiledProperty] {
        entity.properties.filter { $0.declaringEntity == entity.ordinal && $0.composite == nil }
    }

    private func change(_ text: String, _ property: CompiledProperty) -> ModelDifference.Change {
        .init(subject: new.name, text: text, needsMigration: property.isStored)
    }

    private func kind(_ property: CompiledProperty) -> String {
        switch property.kind {
        case .attribute: "attribute"
        case .relationship: "relationship"
        case .fetched: "fetched property"
        }
    }

    /// Returns a short description of a new property: `String, optional`, `to-many Book`.
    private func summary(_ property: CompiledProperty, in model: CompiledModel) -> String {
        var words: [String] = []
        switch property.kind {
        case .attribute(let attribute): words.append(attribute.type.displayName)
        case .relationship(let relationship):
            words.append(
                (relationship.isToMany ? "to-many " : "to-one ") + model.entities[relationship.destination].name)
        case .fetched: break
        }
        words.append(property.isOptional ? "optional" : "required")
        if !property.isStored && property.relationship == nil && property.attribute != nil {
            words.append("transient")
        }
        return words.joined(separator: ", ")
    }

    private func propertyChanges(_ a: CompiledProperty, _ b: CompiledProperty) -> [ModelDifference.Change] {
        var facts = PropertyFacts(subject: "\(new.name).\(b.name)")
        facts.compare("", kind(a), kind(b))
        // The version hash of a composite includes only its elements.
        facts.compare(
            "", a.isOptional ? "optional" : "required", b.isOptional ? "optional" : "required",
            needsMigration: !(a.isComposite && b.isComposite))
        facts.compare("", a.isStored ? "stored" : "transient", b.isStored ? "stored" : "transient")
        switch (a.kind, b.kind) {
        case (.attribute(let a), .attribute(let b)): compare(a, b, &facts)
        case (.relationship(let a), .relationship(let b)): compare(a, b, &facts)
        default: break
        }
        // A property that neither store contains needs no migration.
        if !a.isStored && !b.isStored {
            for index in facts.changes.indices { facts.changes[index].needsMigration = false }
        }
        return facts.changes
            + ElementComparison.changes(
                facts.subject, from: pairing.old.element(a), to: pairing.new.element(b),
                inSources: pairing.isOfSources)
    }

    private func compare(_ a: CompiledAttribute, _ b: CompiledAttribute, _ facts: inout PropertyFacts) {
        facts.compare("type ", a.type.displayName, b.type.displayName)
        facts.compare("derived from ", a.derivationExpression ?? "nothing", b.derivationExpression ?? "nothing")
        facts.compare("filter ", a.derivationFilter ?? "none", b.derivationFilter ?? "none")
        facts.compare(
            "", a.allowsExternalBinaryDataStorage ? "external storage" : "internal storage",
            b.allowsExternalBinaryDataStorage ? "external storage" : "internal storage")
        facts.compare(
            "", a.preservesValueInHistoryOnDeletion ? "kept in history" : "not kept in history",
            b.preservesValueInHistoryOnDeletion ? "kept in history" : "not kept in history")
        facts.compare("elements ", elements(a, of: old), elements(b, of: new))
        facts.compare(
            "value transformer ", a.valueTransformerName ?? "none", b.valueTransformerName ?? "none",
            needsMigration: false)
        // Apple's compilers omit the class of a transformable.
        let isLeftOut = pairing.isOfSourceAndCompiled && (a.valueClassName == nil || b.valueClassName == nil)
        if !isLeftOut {
            facts.compare("value class ", a.valueClassName ?? "none", b.valueClassName ?? "none", needsMigration: false)
        }
        if a.defaultValue != b.defaultValue {
            // Only the application can convert the values.
            let text =
                a.defaultValue.isNull
                ? "default was added" : b.defaultValue.isNull ? "default was removed" : "default was changed"
            facts.changes.append(.init(subject: facts.subject, text: text, needsMigration: false))
        }
    }

    private func elements(_ attribute: CompiledAttribute, of entity: CompiledEntity) -> String {
        let texts = attribute.elements.map { entity.properties[$0] }.map { element in
            "\(element.elementName) \(element.attribute?.type.displayName ?? "")"
                + (element.isOptional ? " optional" : "")
        }
        return texts.isEmpty ? "none" : texts.sorted(by: NameOrder.byCodeUnits).joined(separator: ", ")
    }

    private func compare(_ a: CompiledRelationship, _ b: CompiledRelationship, _ facts: inout PropertyFacts) {
        let oldDestination = oldModel.entities[a.destination]
        let newDestination = newModel.entities[b.destination]
        facts.compare("destination ", oldDestination.name, newDestination.name)
        facts.compare(
            "inverse ", a.inverseSlot.map { oldDestination.properties[$0].name } ?? "none",
            b.inverseSlot.map { newDestination.properties[$0].name } ?? "none")
        facts.compare("", a.isToMany ? "to-many" : "to-one", b.isToMany ? "to-many" : "to-one")
        facts.compare("minimum count ", String(a.minCount), String(b.minCount))
        if a.isToMany && b.isToMany {
            facts.compare(
                "maximum count ", a.maxCount == 0 ? "unlimited" : String(a.maxCount),
                b.maxCount == 0 ? "unlimited" : String(b.maxCount))
        }
        facts.compare("", a.isOrdered ? "ordered" : "unordered", b.isOrdered ? "ordered" : "unordered")
        facts.compare("delete rule ", a.deleteRule.fileName, b.deleteRule.fileName, needsMigration: false)
    }
}

/// Collects the changes of one property.
private struct PropertyFacts {
    let subject: String
    var changes: [ModelDifference.Change] = []

    mutating func compare(_ what: String, _ old: String, _ new: String, needsMigration: Bool = true) {
        guard old != new else { return }
        changes.append(.init(subject: subject, text: "\(what)\(old) → \(new)", needsMigration: needsMigration))
    }
}
