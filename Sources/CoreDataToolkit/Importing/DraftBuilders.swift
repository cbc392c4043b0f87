import CoreData
import Foundation

/// Converts records of any entity to drafts.
package struct DraftBuilders {
    private let model: NSManagedObjectModel
    private let uniques: UniqueAttributes
    /// The entity of all records; `nil` if each record names its own.
    private let entity: NSEntityDescription?
    private var builders: [String: DraftBuilder] = [:]

    package var plans: [ImportPlan] {
        builders.values.map(\.plan).sorted { ($0.entity.name ?? "") < ($1.entity.name ?? "") }
    }

    /// - Parameter maps: key paths by field name; an empty one ignores the field.
    package init(
        _ model: NSManagedObjectModel, uniques: UniqueAttributes, entity: NSEntityDescription?, maps: [String: String]
    ) throws {
        self.model = model
        self.uniques = uniques
        self.entity = entity
        if let entity {
            let plan = try ImportPlan(entity: entity, uniques: uniques, maps: maps)
            builders[entity.name ?? ""] = DraftBuilder(plan: plan)
        }
    }

    /// Returns the entity with the name in the model.
    package func entity(named name: String) -> NSEntityDescription? { model.entitiesByName[name] }

    mutating func draft(_ record: Record, of source: ImportSource) throws -> ObjectDraft {
        let entity = try entity(of: record, source)
        let name = entity.name ?? ""
        if builders[name] == nil {
            // The fields of a subentity's record use the maps of the requested entity.
            let plan = try ImportPlan(entity: entity, uniques: uniques)
            builders[name] = DraftBuilder(plan: plan)
        }
        let draft = try builders[name]?.draft(record, emptyIsNil: source.emptyIsNil) ?? ObjectDraft(entity: entity)
        draft.forEach { $0.reference = $0.reference.map(model.rooted) }
        return draft
    }

    private func entity(of record: Record, _ source: ImportSource) throws -> NSEntityDescription {
        let reference = try DraftBuilder.reference(of: record)
        let told = try reference.map { try model.entity(called: $0.entity) }
        guard let name = source.entity ?? record.entity, entity == nil else {
            if let entity {
                // The ID tells which subentity the object has.
                return told.flatMap { $0.isKindOf(entity: entity) ? $0 : nil } ?? entity
            }
            if let told { return told }
            throw ToolkitError(
                "nothing tells of which entity the record is; give an entity, or records with an objectID")
        }
        let named = try model.entity(called: name)
        return told.flatMap { $0.isKindOf(entity: named) ? $0 : nil } ?? named
    }
}

extension NSManagedObjectModel {
    /// Returns the entity with the name, ignoring case; otherwise throws an error that lists the entities.
    package final func entity(called name: String) throws -> NSEntityDescription {
        if let entity = entitiesByName[name] { return entity }
        let alike = entities.filter { $0.name?.lowercased() == name.lowercased() }
        if alike.count == 1 { return alike[0] }
        throw ToolkitError(
            "The model has no entity '\(name)'\(Suggestion.text(for: name, among: Array(entitiesByName.keys)))")
    }

    /// Returns the reference with the root entity, since objects of one entity tree share their keys.
    fileprivate func rooted(_ reference: ObjectReference) -> ObjectReference {
        var reference = reference
        var entity = entitiesByName[reference.entity]
        while let parent = entity?.superentity { entity = parent }
        reference.entity = entity?.name ?? reference.entity
        return reference
    }
}
