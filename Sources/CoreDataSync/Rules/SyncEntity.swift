import CoreDataSyncEngine
import Foundation

/// One entity as devices exchange it, with everything that it inherits.
///
/// A class, since every object of a capture or an application refers to its entity.
package final class SyncEntity: Hashable, Sendable {
    package let name: String
    /// The name of the topmost ancestor: primary keys and identities are unique among its descendants.
    package let root: String
    package let isAbstract: Bool
    /// The names of this entity and its ancestors, this one first.
    package let lineage: [String]
    /// Whether devices do not exchange objects of this entity.
    package let isIgnored: Bool
    /// The attributes whose values make the identity; empty where no key is known.
    package let keyAttributes: [String]
    /// The name of the entity that declares the key: equal keys of two entities that inherit from one, but declare a
    /// key each, are two objects. Empty where no key is known.
    package let keyEntity: String
    /// Whether `sync.key` names the key; else a uniqueness constraint does.
    package let hasDeclaredKey: Bool
    /// The UUID attribute that is the identity.
    package let idAttribute: String?
    package let deletionRule: DeletionRule
    /// The uniqueness constraints of attributes, of the entity and its ancestors.
    package let constraints: [[String]]
    /// All properties in the model's order, those that are not exchanged too.
    package let properties: [SyncProperty]
    /// The exchanged properties that are attributes, to-one relationships or positions, sorted by name.
    package let values: [SyncProperty]
    /// The to-many relationships whose pairs this entity has, sorted by name.
    package let pairs: [SyncProperty]

    /// Tells the values of one version of the model from those of another; see ``ValueDigests``.
    let signature: UInt32
    private let places: [String: Int]
    /// The names of the exchanged properties that are no pairs.
    let valueNames: Set<String>
    /// Whether all values are attributes of which the last writer wins, and to-one relationships.
    let hasPlainValues: Bool
    /// The values that a segment leaves out where they are nil in a new object.
    let nilNames: [String]
    /// Whether objects need other objects to exist.
    let requiresReferences: Bool

    init(
        name: String, root: String, isAbstract: Bool, lineage: [String], isIgnored: Bool, keyAttributes: [String],
        keyEntity: String, hasDeclaredKey: Bool, idAttribute: String?, deletionRule: DeletionRule,
        constraints: [[String]], properties: [SyncProperty]
    ) {
        (self.name, self.root, self.isAbstract, self.lineage) = (name, root, isAbstract, lineage)
        (self.isIgnored, self.keyAttributes, self.hasDeclaredKey) = (isIgnored, keyAttributes, hasDeclaredKey)
        self.keyEntity = keyEntity
        (self.idAttribute, self.deletionRule, self.constraints) = (idAttribute, deletionRule, constraints)
        self.properties = properties
        let exchanged = properties.filter(\.isExchanged).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        values = exchanged.filter { if case .pairs = $0.kind { false } else { true } }
        valueNames = Set(values.map(\.name))
        nilNames = values.lazy.filter { property in
            switch property.kind {
            case .attribute(_, .last), .toOne: true
            default: false
            }
        }.map(\.name)
        hasPlainValues = nilNames.count == values.count
        requiresReferences = values.contains { if case .toOne(_, true, _) = $0.kind { true } else { false } }
        signature = Self.signature(of: values)
        pairs = exchanged.filter { if case .pairs = $0.kind { true } else { false } }
        places = Dictionary(
            properties.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package static func == (a: SyncEntity, b: SyncEntity) -> Bool {
        a === b
            || a.name == b.name && a.root == b.root && a.isAbstract == b.isAbstract && a.lineage == b.lineage
                && a.isIgnored == b.isIgnored && a.keyAttributes == b.keyAttributes && a.keyEntity == b.keyEntity
                && a.hasDeclaredKey == b.hasDeclaredKey && a.idAttribute == b.idAttribute
                && a.deletionRule == b.deletionRule && a.constraints == b.constraints && a.properties == b.properties
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The property under that name in states.
    package subscript(property: String) -> SyncProperty? { places[property].map { properties[$0] } }

    /// How values of the property merge; `last` for everything that is no attribute with another rule.
    package func mergeRule(of property: String) -> MergeRule {
        if case .attribute(_, let rule)? = self[property]?.kind { rule } else { .last }
    }
}
