import CoreData
import Foundation

/// `--unique`: what tells the objects of entities apart.
struct UniqueAttributes {
    /// By entity name.
    private let named: [String: [String]]

    /// - Throws: ``ToolFailure`` for an entity or attribute that does not exist.
    init(_ options: [String], in model: NSManagedObjectModel) throws {
        var named: [String: [String]] = [:]
        for option in options {
            let parts = option.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                throw ToolFailure("--unique takes Entity.attribute, e.g. Item.name, not '\(option)'.")
            }
            let entities = model.entitiesByName
            guard let entity = entities[parts[0]] else {
                let hint = Suggestion.text(for: parts[0], among: Array(entities.keys))
                throw ToolFailure("--unique \(option): the model has no entity '\(parts[0])'\(hint)")
            }
            guard let attribute = entity.attributesByName[parts[1]] else {
                let hint = Suggestion.text(for: parts[1], among: Array(entity.attributesByName.keys))
                throw ToolFailure("--unique \(option): \(parts[0]) has no attribute '\(parts[1])'\(hint)")
            }
            guard attribute.canTellApart else {
                throw ToolFailure("--unique \(option): objects cannot be found by an attribute of its type.")
            }
            named[parts[0], default: []].append(parts[1])
        }
        self.named = named
    }

    /// The attributes that `--unique` names for the entity or the nearest one that it inherits from; none without.
    func named(_ entity: NSEntityDescription) -> [String] {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if let names = named[candidate.name ?? ""] { return names }
            current = candidate.superentity
        }
        return []
    }

    /// The attributes that tell the entity's objects apart, from `--unique` or the model's own constraints; none where
    /// objects cannot be found again.
    func of(_ entity: NSEntityDescription) -> [String] {
        let names = named(entity)
        if !names.isEmpty { return names }
        let attributes = entity.attributesByName
        let constraint = entity.uniquenessConstraints.lazy.map { $0.compactMap { $0 as? String } }
            .first { names in !names.isEmpty && names.allSatisfy { attributes[$0] != nil } }
        return constraint ?? []
    }

    /// An attribute of the entity that could tell its objects apart, for hints.
    static func example(of entity: NSEntityDescription) -> String? {
        entity.attributesByName.values.filter(\.canTellApart).map(\.name).min().map { "\(entity.name ?? "").\($0)" }
    }
}

extension NSAttributeDescription {
    /// Whether a fetch can find objects by the attribute's value.
    var canTellApart: Bool {
        switch attributeType {
        case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType,
            .binaryDataAttributeType:
            false
        default: !isTransient
        }
    }
}
