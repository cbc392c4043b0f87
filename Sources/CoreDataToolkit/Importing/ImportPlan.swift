import CoreData
import Foundation

/// Maps the fields of an entity's records to properties.
package struct ImportPlan {
    /// The entity of the records' objects.
    package let entity: NSEntityDescription
    let uniques: UniqueAttributes
    /// The key paths by field name; `nil` for an ignored field.
    private let maps: [String: PropertyPath?]
    /// The property of each field so far.
    private var targets: [String: PropertyPath?] = [:]
    /// The fields without a property, with the number of records that have them.
    package private(set) var ignoredFields: [String: Int] = [:]
    /// Destination entities whose objects may be shared but cannot be identified, so that existing objects are not
    /// found.
    package private(set) var unidentified: Set<String> = []

    /// - Throws: ``ToolkitError`` for a key path that does not exist.
    init(entity: NSEntityDescription, uniques: UniqueAttributes, maps: [String: String] = [:]) throws {
        self.entity = entity
        self.uniques = uniques
        self.maps = try Self.maps(maps, of: entity)
    }

    /// Returns the property of the field; `nil` if there is none.
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

    /// Records the relationship's destination if the imported objects may share its objects and these cannot be
    /// identified.
    mutating func noteDestination(of relationship: NSRelationshipDescription) {
        guard let destination = relationship.destinationEntity, let name = destination.name,
            relationship.inverseRelationship?.isToMany ?? true, uniques.of(destination).isEmpty
        else { return }
        unidentified.insert(name)
    }

    /// Returns whether a field that was read has a property, or is ignored by a map.
    func isKnown(_ field: String) -> Bool { maps[field] != nil || targets[field].flatMap { $0 } != nil }

    /// Maps whose field occurred in no record.
    package var unusedMaps: [String] { maps.keys.filter { targets[$0] == nil }.sorted() }

    /// Returns the property with the field's name, ignoring case; with dots, a property of a related object.
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
