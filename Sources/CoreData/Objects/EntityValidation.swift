import CoreDataModel
import Foundation

/// The checks of an entity's objects before they are saved, computed once per entity.
struct EntityValidation {
    struct Rule {
        let slot: Int
        /// The predicates of the attribute's or relationship's description.
        let predicates: [(predicate: NSPredicate, warning: String)]
    }

    /// The slots that must not be nil.
    let mandatory: [Int]
    let rules: [Rule]
    /// The to-many relationships with counts, or that must not be empty.
    let counted: [Int]
    let denying: [Int]
    /// Whether there is nothing to check.
    let isEmpty: Bool

    init(entity: NSEntityDescription, slots: [EntityRuntime.Slot]) {
        var mandatory: [Int] = []
        var rules: [Rule] = []
        var counted: [Int] = []
        var denying: [Int] = []
        // Few entities have predicates: the others are spared a table of names.
        let hasPredicates = entity.propertyDescriptions.contains {
            $0 is NSCompositeAttributeDescription || !$0.validationPredicates.isEmpty
        }
        let properties = hasPredicates ? entity.propertiesByName : [:]
        for (index, slot) in slots.enumerated() {
            // A derived attribute's value is the store's.
            let isDerived = slot.attribute?.isDerived ?? false
            if let relationship = slot.relationship {
                if relationship.deleteRule == .deny { denying.append(index) }
                if slot.isToMany {
                    if relationship.minCount > 0 || relationship.maxCount > 1 {
                        counted.append(index)
                    }
                } else if !slot.property.isOptional {
                    mandatory.append(index)
                }
            } else if slot.attribute != nil, !slot.property.isOptional, !isDerived {
                mandatory.append(index)
            }
            guard hasPredicates, let description = Self.description(slot, properties),
                !description.validationPredicates.isEmpty
            else {
                continue
            }
            let warnings = description.validationWarnings.map { String(describing: $0) }
            rules.append(
                Rule(
                    slot: index,
                    predicates: description.validationPredicates.enumerated().map { position, predicate in
                        (predicate, position < warnings.count ? warnings[position] : "")
                    }))
        }
        self.mandatory = mandatory
        self.rules = rules
        self.counted = counted
        self.denying = denying
        isEmpty = mandatory.isEmpty && rules.isEmpty && counted.isEmpty && denying.isEmpty
    }

    /// Returns the description of an element in its composite.
    private static func description(
        _ slot: EntityRuntime.Slot, _ properties: [String: NSPropertyDescription]
    ) -> NSPropertyDescription? {
        guard slot.property.composite != nil else { return properties[slot.name] }
        let keys = slot.name.split(separator: ".").map(String.init)
        var current = properties[keys[0]]
        for key in keys.dropFirst() {
            current = (current as? NSCompositeAttributeDescription)?.elements.first { $0.name == key }
        }
        return current
    }
}
