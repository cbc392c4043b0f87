import CoreData
import Foundation

/// What the fields of an entity's records mean: which property each is for.
package struct ImportPlan {
    /// The entity that records become.
    package let entity: NSEntityDescription
    let uniques: UniqueAttributes
    /// Key paths by field name; `nil` for a field to leave out.
    private let maps: [String: PropertyPath?]
    /// What each field turned out to be for.
    private var targets: [String: PropertyPath?] = [:]
    /// Fields that no property is for, with the number of records that have them.
    package private(set) var ignoredFields: [String: Int] = [:]
    /// Names of entities of related objects that several objects may share, and that nothing tells apart: an object that exists is
    /// not found.
    package private(set) var unidentified: Set<String> = []

    /// - Throws: ``ToolkitError`` for a key path that does not exist.
    init(entity: NSEntityDescription, uniques: UniqueAttributes, maps: [String: String] = [:]) throws {
        self.entity = entity
        self.uniques = uniques
        self.maps = try Self.maps(maps, of: entity)
    }

    /// What the field is for; `nil` where nothing is.
    mutating func target(of field: String) throws -> PropertyPath? {
        if let known = targets[field] {
            if known == nil { ignoredFields[field]? += 1 }
            return known
        }
        let target = try maps[field] ?? Self.automatic(field, of: entity)
        targets[field] = .some(target)
        for step in target?.steps ?? [] { noteDestination(of: step) }
        if target == nil, maps[field] == nil { ignoredFields[field] = 1 }
        return target
    }

    /// Notes the entity that the relationship leads to, if the records' objects may share its objects and nothing tells these apart.
    mutating func noteDestination(of relationship: NSRelationshipDescription) {
        guard let destination = relationship.destinationEntity, let name = destination.name,
            relationship.inverseRelationship?.isToMany ?? true, uniques.of(destination).isEmpty
        else { return }
        unidentified.insert(name)
    }

    /// Whether a field that has been looked at is for a property, or is left out by a map.
    func isKnown(_ field: String) -> Bool { maps[field] != nil || targets[field].flatMap { $0 } != nil }

    /// Maps whose field was in no record.
    package var unusedMaps: [String] { maps.keys.filter { targets[$0] == nil }.sorted() }

    /// A field is for the property of its name, in any case; with dots for a property of a related object.
    private static func automatic(_ field: String, of entity: NSEntityDescription) throws -> PropertyPath? {
        guard let path = try? PropertyPath(field, of: entity), path.property != nil else { return nil }
        return path
    }

    private static func maps(
        _ given: [String: String], of entity: NSEntityDescription
    ) throws -> [String: PropertyPath?] {
        var maps: [String: PropertyPath?] = [:]
        for (field, path) in given.sorted(by: { $0.key < $1.key }) {
            do {
                maps[field] = path.isEmpty ? .some(nil) : try PropertyPath(path, of: entity)
            } catch let failure as ToolkitError {
                throw ToolkitError("map \(field)=\(path): \(failure.message)")
            }
        }
        return maps
    }
}
