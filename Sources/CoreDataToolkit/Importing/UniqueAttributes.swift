import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The attributes that identify the objects of entities.
package struct UniqueAttributes {
    /// The attributes by entity name.
    private let named: [String: [String]]
    /// The name of the option for these attributes in messages.
    package var label = "the unique attribute"

    /// - Parameter named: attribute names by entity name.
    /// - Throws: a ``ToolkitError`` for an unknown entity or attribute.
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

    /// Returns the attributes that were named for the entity or its nearest ancestor; empty if there are none.
    package func named(_ entity: NSEntityDescription) -> [String] {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if let names = named[candidate.name ?? ""] { return names }
            current = candidate.superentity
        }
        return []
    }

    /// Returns the attributes that identify the entity's objects: those that were named, or the model's constraints;
    /// empty if objects cannot be found again.
    package func of(_ entity: NSEntityDescription) -> [String] {
        let names = named(entity)
        if !names.isEmpty { return names }
        let attributes = entity.attributesByName
        let constraint = entity.uniquenessConstraints.lazy.map { $0.compactMap { $0 as? String } }
            .first { names in !names.isEmpty && names.allSatisfy { attributes[$0] != nil } }
        return constraint ?? []
    }

    /// Returns an attribute of the entity that could identify its objects, for hints.
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
