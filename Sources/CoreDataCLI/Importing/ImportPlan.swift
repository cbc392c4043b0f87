import CoreData
import Foundation

/// What the fields of records mean: which property each is for, and how objects are found again.
struct ImportPlan {
    /// The entity that records become.
    let entity: NSEntityDescription
    /// `--unique`, by entity name: the attributes that tell its objects apart, together.
    private let uniques: [String: [String]]
    /// `--map`: key paths by field name; `nil` for a field to leave out.
    private let maps: [String: PropertyPath?]
    /// What each field turned out to be for.
    private var targets: [String: PropertyPath?] = [:]
    /// Fields that no property is for, with the number of records that have them.
    private(set) var ignoredFields: [String: Int] = [:]

    /// - Throws: ``ToolFailure`` for an entity, attribute or key path that does not exist.
    init(
        entity: NSEntityDescription, uniques: [String], maps: [String], in model: NSManagedObjectModel
    ) throws {
        self.entity = entity
        self.uniques = try Self.uniques(uniques, in: model)
        self.maps = try Self.maps(maps, of: entity)
    }

    /// The attributes that tell the entity's objects apart, from `--unique` or the model's own constraints; none
    /// where objects cannot be found again.
    func uniqueAttributes(of entity: NSEntityDescription) -> [String] {
        var current: NSEntityDescription? = entity
        while let candidate = current {
            if let names = uniques[candidate.name ?? ""] { return names }
            current = candidate.superentity
        }
        let attributes = entity.attributesByName
        let constraint = entity.uniquenessConstraints.lazy.map { $0.compactMap { $0 as? String } }
            .first { names in !names.isEmpty && names.allSatisfy { attributes[$0] != nil } }
        return constraint ?? []
    }

    /// An attribute of the entity that could tell its objects apart, for hints.
    static func example(of entity: NSEntityDescription) -> String? {
        entity.attributesByName.values.filter(\.canTellApart).map(\.name).min().map { "\(entity.name ?? "").\($0)" }
    }

    /// What the field is for; `nil` where nothing is.
    mutating func target(of field: String) throws -> PropertyPath? {
        if let known = targets[field] {
            if known == nil { ignoredFields[field]? += 1 }
            return known
        }
        let target = try maps[field] ?? Self.automatic(field, of: entity)
        targets[field] = .some(target)
        if target == nil, maps[field] == nil { ignoredFields[field] = 1 }
        return target
    }

    /// Whether a field that has been looked at is for a property, or is left out by `--map`.
    func isKnown(_ field: String) -> Bool { maps[field] != nil || targets[field].flatMap { $0 } != nil }

    /// `--map` options whose field was in no record.
    var unusedMaps: [String] { maps.keys.filter { targets[$0] == nil }.sorted() }

    /// A field is for the property of its name, in any case; with dots for a property of a related object.
    private static func automatic(_ field: String, of entity: NSEntityDescription) throws -> PropertyPath? {
        guard let path = try? PropertyPath(field, of: entity), path.property != nil else {
            return nil
        }
        return path
    }

    private static func uniques(_ options: [String], in model: NSManagedObjectModel) throws -> [String: [String]] {
        var uniques: [String: [String]] = [:]
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
            uniques[parts[0], default: []].append(parts[1])
        }
        return uniques
    }

    private static func maps(_ options: [String], of entity: NSEntityDescription) throws -> [String: PropertyPath?] {
        var maps: [String: PropertyPath?] = [:]
        for option in options {
            guard let equals = option.firstIndex(of: "="), equals != option.startIndex else {
                throw ToolFailure("--map takes field=key.path, e.g. aisle=locationAtShop.aisle, not '\(option)'.")
            }
            let path = String(option[option.index(after: equals)...])
            do {
                maps[String(option[..<equals])] =
                    path.isEmpty ? .some(nil) : try PropertyPath(path, of: entity)
            } catch let failure as ToolFailure {
                throw ToolFailure("--map \(option): \(failure.message)")
            }
        }
        return maps
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
