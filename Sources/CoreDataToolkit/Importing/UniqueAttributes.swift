import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// What tells the objects of entities apart.
package struct UniqueAttributes {
    /// By entity name.
    private let named: [String: [String]]
    /// What messages call the way in which they are given.
    package var label = "the unique attribute"

    /// - Parameter named: names of attributes by the names of their entities.
    /// - Throws: ``ToolkitError`` for an entity or attribute that does not exist.
    package init(_ named: [String: [String]], in model: NSManagedObjectModel) throws {
        for (name, attributes) in named.sorted(by: { $0.key < $1.key }) {
            let entities = model.entitiesByName
            guard let entity = entities[name] else {
                let hint = Suggestion.text(for: name, among: Array(entities.keys))
                throw ToolkitError("unique \(name): the model has no entity '\(name)'\(hint)")
            }
            for attribute in attributes { try Self.check(attribute, of: entity) }
        }
        self.named = named
    }

    private static func check(_ name: String, of entity: NSEntityDescription) throws {
        let owner = entity.name ?? ""
        guard let attribute = entity.attributesByName[name] else {
            let hint = Suggestion.text(for: name, among: Array(entity.attributesByName.keys))
            throw ToolkitError("unique \(owner).\(name): \(owner) has no attribute '\(name)'\(hint)")
        }
        guard attribute.canTellApart else {
            throw ToolkitError("unique \(owner).\(name): objects cannot be found by an attribute of its type.")
        }
    }

    /// The attributes that were named for the entity or the nearest one that it inherits from; none without.
    package func named(_ entity: NSEntityDescription) -> [String] {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if let names = named[candidate.name ?? ""] { return names }
            current = candidate.superentity
        }
        return []
    }

    /// The attributes that tell the entity's objects apart, those that were named or the model's own constraints; none where
    /// objects cannot be found again.
    package func of(_ entity: NSEntityDescription) -> [String] {
        let names = named(entity)
        if !names.isEmpty { return names }
        let attributes = entity.attributesByName
        let constraint = entity.uniquenessConstraints.lazy.map { $0.compactMap { $0 as? String } }
            .first { names in !names.isEmpty && names.allSatisfy { attributes[$0] != nil } }
        return constraint ?? []
    }

    /// An attribute of the entity that could tell its objects apart, for hints.
    package static func example(of entity: NSEntityDescription) -> String? {
        entity.attributesByName.values.filter(\.canTellApart).map(\.name).min().map { "\(entity.name ?? "").\($0)" }
    }
}

extension NSAttributeDescription {
    /// Whether a fetch can find objects by the attribute's value.
    package var canTellApart: Bool {
        switch kind {
        case .object, .reference, .composite, .bytes: false
        default: !isTransient
        }
    }
}
