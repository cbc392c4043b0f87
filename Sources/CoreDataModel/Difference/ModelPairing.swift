import CoreDataPrimitives

/// Pairs the entities and properties of an older model with those of a newer one.
///
/// They are matched by *canonical name*: the renaming identifier or, without one, the name. The rest is matched by
/// name. Models without documents have no renaming identifiers and are matched by name.
package struct ModelPairing: Sendable {
    /// A model and, if available, the document that it was compiled from.
    package struct Side: Sendable {
        package let model: CompiledModel
        let elements: [String: EntityElement]
        private let composites: [String: CompositeElement]
        let isSource: Bool
        /// Whether the document is source; `nil` without a document.
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
            Self.given(elements[entity.name]?.renamingIdentifier) ?? entity.name
        }

        /// Returns the identifier; for an element, the path of identifiers to it.
        package func identifier(_ property: CompiledProperty) -> String {
            let own = ownIdentifier(property)
            guard let composite = property.composite else { return own }
            return identifier(model.entities[property.declaringEntity].properties[composite]) + "." + own
        }

        /// The property's own part of its identifier: without those of the composites that it is an element of.
        func ownIdentifier(_ property: CompiledProperty) -> String {
            Self.given(element(property)?.renamingIdentifier) ?? property.elementName
        }

        /// An empty one is none, as editors leave it.
        private static func given(_ identifier: String?) -> String? { identifier == "" ? nil : identifier }

        /// Returns the document's element for a property, at the entity that declares it.
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

    /// For each newer entity, the older slot of each slot.
    private let oldSlots: [Int: [Int?]]

    package init(old: Side, new: Side) {
        self.old = old
        self.new = new
        let found = Self.pairs(
            old.model.entities.map { Candidate($0.name, old.identifier($0)) },
            new.model.entities.map { Candidate($0.name, new.identifier($0)) })
        var pairs: [Int: Int] = [:]
        for (ordinal, match) in found.enumerated() { pairs[ordinal] = match }
        oldEntities = pairs
        oldSlots = pairs.reduce(into: [:]) { slots, pair in
            slots[pair.key] = Self.slots(
                of: new.model.entities[pair.key], new, from: old.model.entities[pair.value], old)
        }
    }

    // MARK: Names

    /// The names that identify an entity or a property within one version.
    private struct Candidate {
        var name: String
        /// The renaming identifier or, without one, the name.
        var identifier: String

        init(_ name: String, _ identifier: String) {
            self.name = name
            self.identifier = identifier
        }
    }

    /// Returns, for each newer item, the index of the older item that it comes from. Each older item is used at most
    /// once.
    ///
    /// ```
    ///  1  the older one of its identifier, of several the namesake, then one that says so      x(a) → x(a), b(a) → c(a)
    ///  2  the older one that has its identifier as its name                                    b(a) → c(b)
    ///  3  the older one of its name                                                            b → b(a)
    /// ```
    /// Step 1 is Apple's rule. The other steps only use items that step 1 left unmatched. They preserve values if an
    /// identifier was added late, or names the previous version although that version has an earlier identifier itself.
    private static func pairs(
        _ old: [Candidate], _ new: [Candidate], where canBecome: (Int, Int) -> Bool = { _, _ in true }
    ) -> [Int?] {
        var result = [Int?](repeating: nil, count: new.count)
        var taken: Set<Int> = []
        var byName: [String: [Int]] = [:]
        var byIdentifier: [String: [Int]] = [:]
        for (place, candidate) in old.enumerated() {
            byName[candidate.name, default: []].append(place)
            byIdentifier[candidate.identifier, default: []].append(place)
        }
        func take(_ candidates: (Candidate) -> [Int]) {
            for place in new.indices where result[place] == nil {
                guard
                    let match = candidates(new[place]).first(where: { !taken.contains($0) && canBecome($0, place) })
                else { continue }
                result[place] = match
                taken.insert(match)
            }
        }
        func ofIdentifier(_ candidate: Candidate) -> [Int] { byIdentifier[candidate.identifier] ?? [] }
        take { candidate in ofIdentifier(candidate).filter { old[$0].name == candidate.name } }
        take { candidate in ofIdentifier(candidate).filter { old[$0].name != old[$0].identifier } }
        take(ofIdentifier)
        take { byName[$0.identifier] ?? [] }
        take { byName[$0.name] ?? [] }
        return result
    }

    private static func slots(
        of entity: CompiledEntity, _ new: Side, from before: CompiledEntity, _ old: Side,
        where canBecome: (CompiledProperty, CompiledProperty) -> Bool = { _, _ in true }
    ) -> [Int?] {
        pairs(
            before.properties.map { Candidate($0.name, old.identifier($0)) },
            entity.properties.map { Candidate($0.name, new.identifier($0)) },
            where: { canBecome(before.properties[$0], entity.properties[$1]) })
    }

    /// Returns, for each slot of the newer entity, the slot of the older one that its values can come from.
    func slots(
        of entity: CompiledEntity, from before: CompiledEntity,
        where canBecome: (CompiledProperty, CompiledProperty) -> Bool
    ) -> [Int?] {
        Self.slots(of: entity, new, from: before, old, where: canBecome)
    }

    /// Whether one document is source and the other compiled, possibly from that source.
    var isOfSourceAndCompiled: Bool {
        guard let old = old.isWritten, let new = new.isWritten else { return false }
        return old != new
    }

    /// Whether both documents were read from source.
    var isOfSources: Bool { old.isSource && new.isSource }

    package func old(of entity: CompiledEntity) -> CompiledEntity? {
        oldEntities[entity.ordinal].map { old.model.entities[$0] }
    }

    /// Returns the older property of a newer entity's property; `nil` also if the entity is new.
    func old(of property: CompiledProperty, in entity: CompiledEntity) -> CompiledProperty? {
        guard let before = old(of: entity), let slot = oldSlots[entity.ordinal]?[property.slot] else { return nil }
        return before.properties[slot]
    }
}
