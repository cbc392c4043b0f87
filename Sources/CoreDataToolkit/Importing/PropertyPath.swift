import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A validated key path of an entity: to-one or to-many steps, then a property, an object's ID, or an aggregate of
/// members.
///
///     name, unit.name, locationAtShop.items, unit.objectID, tasks.@count, tasks.@sum.hours, address.city
package struct PropertyPath {
    package let text: String
    /// The relationships before the last part.
    package let steps: [NSRelationshipDescription]
    /// The property; `nil` for `objectID`, and for ``aggregate``.
    package let property: NSPropertyDescription?
    /// The property's key in its object; for an element of a composite attribute, its path.
    package let key: String
    package let aggregate: PathAggregate?

    /// Parses a key path. Names match in any case if no name matches exactly.
    ///
    /// - Throws: a ``ToolkitError`` that names the unknown part and the existing names.
    package init(_ text: String, of entity: NSEntityDescription) throws {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let end = names.firstIndex { $0.hasPrefix("@") } ?? names.count - 1
        var steps: [NSRelationshipDescription] = []
        var current = entity
        for (index, name) in names[..<end].enumerated() {
            let property = try Self.property(name, of: current, in: text)
            if let composite = property as? NSCompositeAttributeDescription {
                let keys = try Self.element(names[(index + 1)...], of: composite, in: text)
                self.steps = steps
                self.property = keys.element
                key = ([composite.name] + keys.names).joined(separator: ".")
                aggregate = nil
                self.text = (steps.map(\.name) + [key]).joined(separator: ".")
                return
            }
            guard let relationship = property as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else {
                throw ToolkitError(
                    "'\(text)': '\(property.name)' of \(current.name ?? "") is no relationship, so nothing can follow it."
                )
            }
            steps.append(relationship)
            current = destination
        }
        self.steps = steps
        let last = names[end]
        var aggregate: PathAggregate?
        var property: NSPropertyDescription?
        var spelling = last
        if last.hasPrefix("@") {
            guard steps.contains(where: \.isToMany) else {
                throw ToolkitError("'\(text)': \(last) needs a to-many relationship before it, as in items.\(last).")
            }
            let attribute = try names.dropFirst(end + 1).first.map { try Self.property($0, of: current, in: text) }
            guard names.count <= end + 2 else { throw ToolkitError("'\(text)': one attribute can follow \(last).") }
            aggregate = try PathAggregate(last, attribute, in: text)
            spelling += attribute.map { "." + $0.name } ?? ""
        } else if last != "objectID" || current.propertiesByName[last] != nil {
            property = try Self.property(last, of: current, in: text)
            spelling = property?.name ?? last
        }
        self.aggregate = aggregate
        self.property = property
        key = spelling
        self.text = (steps.map(\.name) + [spelling]).joined(separator: ".")
    }

    package var attribute: NSAttributeDescription? { property as? NSAttributeDescription }
    package var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }

    /// Whether a store can sort by it: it gives a single value.
    package var isSortable: Bool {
        aggregate == nil && !steps.contains(where: \.isToMany) && relationship.map { !$0.isToMany } ?? true
    }

    /// Returns the element of a composite attribute with these names, in the model's spelling.
    private static func element(
        _ names: ArraySlice<String>, of composite: NSCompositeAttributeDescription, in path: String
    ) throws -> (element: NSAttributeDescription, names: [String]) {
        var current: NSAttributeDescription = composite
        var found: [String] = []
        for name in names {
            let composite = current as? NSCompositeAttributeDescription
            guard let element = composite?.element(called: name) else {
                throw ToolkitError(
                    "'\(path)': \(current.name) has no element '\(name)'"
                        + Suggestion.text(for: name, among: composite?.elements.map(\.name) ?? []))
            }
            found.append(element.name)
            current = element
        }
        return (current, found)
    }

    private static func property(
        _ name: String, of entity: NSEntityDescription, in path: String
    ) throws -> NSPropertyDescription {
        let properties = entity.propertiesByName
        if let property = properties[name] { return property }
        let matches = properties.values.filter { $0.name.lowercased() == name.lowercased() }
        if matches.count == 1 { return matches[0] }
        let what = path == name ? "" : "'\(path)': "
        throw ToolkitError(
            "\(what)\(entity.name ?? "") has no property '\(name)'\(Suggestion.text(for: name, among: Array(properties.keys)))"
        )
    }

    /// Returns the members of a to-many: in their order if it is ordered, otherwise by key, so that the output is
    /// deterministic.
    ///
    /// - Parameter sorted: whether the order matters to the caller.
    package static func members(
        of object: NSManagedObject, _ relationship: NSRelationshipDescription, sorted: Bool = true
    ) -> [NSManagedObject] {
        let value = object.value(forKey: relationship.name)
        if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
        guard relationship.isToMany else { return (value as? NSManagedObject).map { [$0] } ?? [] }
        let members = (value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
        guard sorted else { return members }
        return members.map { (object: $0, key: $0.objectID.uriRepresentation().absoluteString) }
            .sorted { ($0.key.count, $0.key) < ($1.key.count, $1.key) }.map(\.object)
    }
}

extension NSCompositeAttributeDescription {
    /// Returns the element with the name, in any case if no name matches exactly.
    func element(called name: String) -> NSAttributeDescription? {
        if let element = elements.first(where: { $0.name == name }) { return element }
        let alike = elements.filter { $0.name.lowercased() == name.lowercased() }
        return alike.count == 1 ? alike[0] : nil
    }
}

/// An aggregate of a to-many's objects: `@count`, `@sum.price`.
package struct PathAggregate {
    package enum Kind: String, CaseIterable, Sendable {
        case count = "@count"
        case sum = "@sum"
        case avg = "@avg"
        case min = "@min"
        case max = "@max"
    }

    package let kind: Kind
    package let attribute: NSAttributeDescription?

    package init(_ name: String, _ property: NSPropertyDescription?, in path: String) throws {
        guard let kind = Kind(rawValue: name) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ToolkitError("'\(path)': there is no \(name); there are: \(names).")
        }
        self.kind = kind
        attribute = property as? NSAttributeDescription
        if kind == .count {
            guard property == nil else { throw ToolkitError("'\(path)': nothing can follow @count.") }
        } else {
            guard let attribute else {
                throw ToolkitError("'\(path)': \(name) needs an attribute behind it, as in \(path).price.")
            }
            guard kind == .min || kind == .max || Self.isNumber(attribute) else {
                throw ToolkitError("'\(path)': \(attribute.name) is no number.")
            }
        }
    }

    private static func isNumber(_ attribute: NSAttributeDescription) -> Bool {
        attribute.kind.isQuantity || attribute.kind == .boolean
    }
}
