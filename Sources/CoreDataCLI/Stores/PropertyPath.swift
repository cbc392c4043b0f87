import CoreData
import Foundation

/// A key path of an entity, checked: to-one or to-many steps, then a property.
///
///     name, unit.name, locationAtShop.items
struct PropertyPath {
    let text: String
    /// The relationships before the last part.
    let steps: [NSRelationshipDescription]
    /// `nil` for `objectID`.
    let property: NSPropertyDescription?

    /// - Throws: ``ToolFailure`` that names the part that does not exist, and what does.
    init(_ text: String, of entity: NSEntityDescription, ignoringCase: Bool = false) throws {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var steps: [NSRelationshipDescription] = []
        var current = entity
        for name in names.dropLast() {
            let property = try Self.property(name, of: current, in: text, ignoringCase: ignoringCase)
            guard let relationship = property as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else {
                throw ToolFailure(
                    "'\(text)': '\(property.name)' of \(current.name ?? "") is no relationship, so nothing can follow it."
                )
            }
            steps.append(relationship)
            current = destination
        }
        self.steps = steps
        let last = names.last ?? ""
        if last == "objectID", current.propertiesByName[last] == nil {
            property = nil
            self.text = text
        } else {
            let property = try Self.property(last, of: current, in: text, ignoringCase: ignoringCase)
            self.property = property
            self.text = (steps.map(\.name) + [property.name]).joined(separator: ".")
        }
    }

    var attribute: NSAttributeDescription? { property as? NSAttributeDescription }
    var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }

    private static func property(
        _ name: String, of entity: NSEntityDescription, in path: String, ignoringCase: Bool
    ) throws -> NSPropertyDescription {
        let properties = entity.propertiesByName
        if let property = properties[name] { return property }
        if ignoringCase {
            let matches = properties.values.filter { $0.name.lowercased() == name.lowercased() }
            if matches.count == 1 { return matches[0] }
        }
        let what = path == name ? "" : "'\(path)': "
        throw ToolFailure(
            "\(what)\(entity.name ?? "") has no property '\(name)'\(Suggestion.text(for: name, among: Array(properties.keys)))"
        )
    }

    // MARK: Values

    /// The value at the end of the path; a list where the path goes through a to-many.
    func cell(of object: NSManagedObject, showsMembers: Bool) -> CellValue {
        cell(of: object, steps[...], showsMembers)
    }

    private func cell(
        of object: NSManagedObject, _ rest: ArraySlice<NSRelationshipDescription>, _ showsMembers: Bool
    ) -> CellValue {
        guard let step = rest.first else { return lastCell(of: object, showsMembers) }
        if step.isToMany {
            return .list(Self.members(of: object, step).map { cell(of: $0, rest.dropFirst(), showsMembers) })
        }
        guard let next = object.value(forKey: step.name) as? NSManagedObject else { return .null }
        return cell(of: next, rest.dropFirst(), showsMembers)
    }

    private func lastCell(of object: NSManagedObject, _ showsMembers: Bool) -> CellValue {
        guard let property else { return Self.reference(to: object) }
        if let attribute { return AttributeText(attribute: attribute).cell(object.value(forKey: attribute.name)) }
        if let relationship {
            if !relationship.isToMany {
                return (object.value(forKey: relationship.name) as? NSManagedObject).map(Self.reference) ?? .null
            }
            let members = Self.members(of: object, relationship)
            return showsMembers ? .list(members.map(Self.reference)) : .count(members.count)
        }
        // A fetched property.
        return object.value(forKey: property.name).map(AttributeText.other) ?? .null
    }

    /// The members of a to-many: as they are ordered, else by key, so that the output does not change from run to run.
    static func members(of object: NSManagedObject, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
        let value = object.value(forKey: relationship.name)
        if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
        let members = (value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
        return members.map { (object: $0, key: $0.objectID.uriRepresentation().absoluteString) }
            .sorted { ($0.key.count, $0.key) < ($1.key.count, $1.key) }.map(\.object)
    }

    private static func reference(to object: NSManagedObject) -> CellValue {
        .text(object.objectID.uriRepresentation().absoluteString)
    }
}
