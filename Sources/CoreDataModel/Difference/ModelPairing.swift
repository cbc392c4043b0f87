import CoreDataPrimitives

/// Which entity and property of an older model is which of a newer one.
///
/// They are matched by *canonical name*: the renaming identifier, or the name where there is none.
/// What is compared without documents has no renaming identifiers and is matched by name.
package struct ModelPairing: Sendable {
    /// A model and, if there is one, the document that it was compiled from.
    package struct Side: Sendable {
        package let model: CompiledModel
        let elements: [String: EntityElement]
        private let composites: [String: CompositeElement]
        let isSource: Bool
        /// Whether people wrote it; `nil` without document.
        let isWritten: Bool?

        package init(_ model: CompiledModel, document: ModelDocument? = nil) {
            self.model = model
            isWritten = document.map { $0.origin == .written }
            isSource = document.map { !$0.sources.isEmpty } ?? false
            elements = Dictionary(
                (document?.entities ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
            composites = Dictionary(
                (document?.composites ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        }

        package func identifier(_ entity: CompiledEntity) -> String {
            elements[entity.name]?.renamingIdentifier ?? entity.name
        }

        /// Of an element of a composite the path of identifiers that leads to it.
        package func identifier(_ property: CompiledProperty) -> String {
            let own = element(property)?.renamingIdentifier ?? property.elementName
            guard let composite = property.composite else { return own }
            return identifier(model.entities[property.declaringEntity].properties[composite]) + "." + own
        }

        /// What the document says of a property, at the entity that declares it.
        func element(_ property: CompiledProperty) -> PropertyElement? {
            let owner = model.entities[property.declaringEntity]
            guard let composite = property.composite else {
                return elements[owner.name]?.properties.first { $0.name == property.name }
            }
            guard case .attribute(let attribute)? = element(owner.properties[composite])?.kind else { return nil }
            let elements = attribute.compositeName.flatMap { composites[$0]?.properties } ?? attribute.elements
            return elements.first { $0.name == property.elementName }
        }
    }

    package let old: Side
    package let new: Side
    /// The older entity of each newer one that has one, by ordinal.
    package let oldEntities: [Int: Int]

    package init(old: Side, new: Side) {
        self.old = old
        self.new = new
        var byIdentifier: [String: Int] = [:]
        for entity in old.model.entities {
            let identifier = old.identifier(entity)
            // A name wins over an identifier that says the same.
            if byIdentifier[identifier] == nil || entity.name == identifier {
                byIdentifier[identifier] = entity.ordinal
            }
        }
        var pairs: [Int: Int] = [:]
        for entity in new.model.entities {
            if let match = byIdentifier[new.identifier(entity)] ?? old.model.ordinalByName[entity.name] {
                pairs[entity.ordinal] = match
            }
        }
        // Of two entities that come from one, the namesake has it.
        for (newOrdinal, oldOrdinal) in pairs {
            let isNamesake = { (ordinal: Int) in new.model.entities[ordinal].name == old.model.entities[oldOrdinal].name
            }
            if !isNamesake(newOrdinal), pairs.contains(where: { $0.value == oldOrdinal && isNamesake($0.key) }) {
                pairs[newOrdinal] = nil
            }
        }
        oldEntities = pairs
    }

    /// Whether one is what people wrote and the other what a compiler made, perhaps of just that.
    var isOfSourceAndCompiled: Bool {
        guard let old = old.isWritten, let new = new.isWritten else { return false }
        return old != new
    }

    /// Whether both documents were read from source.
    var isOfSources: Bool { old.isSource && new.isSource }

    package func old(of entity: CompiledEntity) -> CompiledEntity? {
        oldEntities[entity.ordinal].map { old.model.entities[$0] }
    }

    /// The property of the older entity that a newer one comes from.
    func old(of property: CompiledProperty, among candidates: [CompiledProperty]) -> CompiledProperty? {
        let identifier = new.identifier(property)
        return candidates.first { old.identifier($0) == identifier } ?? candidates.first { $0.name == property.name }
    }
}
