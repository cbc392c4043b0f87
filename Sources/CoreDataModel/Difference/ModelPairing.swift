import CoreDataPrimitives

/// Which entity and property of an older model is which of a newer one.
///
/// They are matched by *canonical name*: the renaming identifier, or the name where there is none; what that leaves by name.
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
            Self.given(elements[entity.name]?.renamingIdentifier) ?? entity.name
        }

        /// Of an element of a composite the path of identifiers that leads to it.
        package func identifier(_ property: CompiledProperty) -> String {
            let own = Self.given(element(property)?.renamingIdentifier) ?? property.elementName
            guard let composite = property.composite else { return own }
            return identifier(model.entities[property.declaringEntity].properties[composite]) + "." + own
        }

        /// An empty one is none, as editors leave it.
        private static func given(_ identifier: String?) -> String? { identifier == "" ? nil : identifier }

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

    /// By newer entity and slot, the slot of the older entity that a property comes from.
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

    /// What tells an entity or a property from its neighbours in one version.
    private struct Candidate {
        var name: String
        /// The renaming identifier, or the name where there is none.
        var identifier: String

        init(_ name: String, _ identifier: String) {
            self.name = name
            self.identifier = identifier
        }
    }

    /// By the place of each newer one, the place of the older one that it comes from; each older one goes to one only.
    ///
    /// ```
    ///  1  the older one of its identifier, of several the namesake, then one that says so      x(a) → x(a), b(a) → c(a)
    ///  2  the older one that has its identifier as its name                                    b(a) → c(b)
    ///  3  the older one of its name                                                            b → b(a)
    /// ```
    /// The first is Apple's rule. The others lose nothing where an identifier was written late, or names the version before though
    /// that has one of an earlier one itself; they take only what the first leaves.
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

    /// By slot of the newer entity, the slot of the older one that the values of its properties can come from.
    func slots(
        of entity: CompiledEntity, from before: CompiledEntity,
        where canBecome: (CompiledProperty, CompiledProperty) -> Bool
    ) -> [Int?] {
        Self.slots(of: entity, new, from: before, old, where: canBecome)
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

    /// The property of the older entity that one of a newer entity comes from; `nil` as well where the entity is new.
    func old(of property: CompiledProperty, in entity: CompiledEntity) -> CompiledProperty? {
        guard let before = old(of: entity), let slot = oldSlots[entity.ordinal]?[property.slot] else { return nil }
        return before.properties[slot]
    }
}
