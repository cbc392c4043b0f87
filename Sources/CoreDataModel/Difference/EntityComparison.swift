import CoreDataPrimitives
import Foundation

/// Finds the changes of one entity between two models. Inherited properties are left to the ancestor.
struct EntityComparison {
    let old: CompiledEntity
    let new: CompiledEntity
    let oldModel: CompiledModel
    let newModel: CompiledModel

    func changes() -> [ModelDifference.Change] {
        var result = entityChanges()
        let oldProperties = own(old)
        let newProperties = own(new)
        for name in Set(oldProperties.keys).union(newProperties.keys).sorted(by: NameOrder.byCodeUnits) {
            switch (oldProperties[name], newProperties[name]) {
            case (nil, let property?):
                result.append(
                    change("\(kind(property)) '\(name)' was added (\(summary(property, in: newModel)))", property))
            case (let property?, nil):
                result.append(change("\(kind(property)) '\(name)' was removed", property))
            case (let a?, let b?): result += propertyChanges(a, b)
            case (nil, nil): break
            }
        }
        if old.versionHash != new.versionHash, !result.contains(where: \.needsMigration) {
            // Nothing of its own explains the other hash.
            let text = ancestorsChanged ? "inherits changes" : "version hash modifier was changed"
            result.append(.init(subject: new.name, text: text, needsMigration: true))
        }
        return result
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
        add("parent ", parentName(old, oldModel), parentName(new, newModel))
        add("class ", old.className ?? "none", new.className ?? "none", needsMigration: false)
        add("unique by ", constraints(old), constraints(new))
        add("indexes ", indexes(old), indexes(new), needsMigration: false)
        return result
    }

    private func parentName(_ entity: CompiledEntity, _ model: CompiledModel) -> String {
        entity.parent.map { model.entities[$0].name } ?? "none"
    }

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

    private func own(_ entity: CompiledEntity) -> [String: CompiledProperty] {
        let own = entity.properties.filter { $0.declaringEntity == entity.ordinal }
        return Dictionary(own.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private func change(_ text: String, _ property: CompiledProperty) -> ModelDifference.Change {
        .init(subject: new.name, text: text, needsMigration: !property.isTransient)
    }

    private func kind(_ property: CompiledProperty) -> String {
        switch property.kind {
        case .attribute: "attribute"
        case .relationship: "relationship"
        case .fetched: "fetched property"
        }
    }

    /// What a new property is, in a few words: `String, optional`, `to-many Book`.
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
        if property.isTransient && property.relationship == nil && property.attribute != nil {
            words.append("transient")
        }
        return words.joined(separator: ", ")
    }

    private func propertyChanges(_ a: CompiledProperty, _ b: CompiledProperty) -> [ModelDifference.Change] {
        var facts = PropertyFacts(subject: "\(new.name).\(b.name)")
        facts.compare("", kind(a), kind(b))
        facts.compare("", a.isOptional ? "optional" : "required", b.isOptional ? "optional" : "required")
        facts.compare("", a.isTransient ? "transient" : "stored", b.isTransient ? "transient" : "stored")
        switch (a.kind, b.kind) {
        case (.attribute(let a), .attribute(let b)): compare(a, b, &facts)
        case (.relationship(let a), .relationship(let b)): compare(a, b, &facts)
        default: break
        }
        // What was in no store and is in none needs no migration.
        if a.isTransient && b.isTransient {
            return facts.changes.map { .init(subject: $0.subject, text: $0.text, needsMigration: false) }
        }
        return facts.changes
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
        facts.compare("elements ", elements(a), elements(b))
        facts.compare(
            "value transformer ", a.valueTransformerName ?? "none", b.valueTransformerName ?? "none",
            needsMigration: false)
        facts.compare("value class ", a.valueClassName ?? "none", b.valueClassName ?? "none", needsMigration: false)
        if a.defaultValue != b.defaultValue {
            // The values themselves are the application's business.
            let text =
                a.defaultValue.isNull
                ? "default was added" : b.defaultValue.isNull ? "default was removed" : "default was changed"
            facts.changes.append(.init(subject: facts.subject, text: text, needsMigration: false))
        }
    }

    private func elements(_ attribute: CompiledAttribute) -> String {
        let texts = attribute.elements.map { element in
            "\(element.name) \(element.attribute?.type.displayName ?? "")" + (element.isOptional ? " optional" : "")
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

/// Collects the facts of a property that changed.
private struct PropertyFacts {
    let subject: String
    var changes: [ModelDifference.Change] = []

    mutating func compare(_ what: String, _ old: String, _ new: String, needsMigration: Bool = true) {
        guard old != new else { return }
        changes.append(.init(subject: subject, text: "\(what)\(old) → \(new)", needsMigration: needsMigration))
    }
}
