import CoreData
import CoreDataJSON
import Foundation

/// Turns objects into JSON, on the queue of their context.
package struct ObjectReader {
    package let model: ServedModel
    package let tags: RowTags
    /// The number of objects that one answer contains, with those of relationships.
    package var remaining: Int
    /// The number of objects of one relationship.
    package static let maximumMembers = 1000

    package init(model: ServedModel, tags: RowTags, maximumObjects: Int = 20_000) {
        self.model = model
        self.tags = tags
        remaining = maximumObjects
    }

    /// Returns the served entity of an object: its own, or the next above that is served.
    package func entity(of object: NSManagedObject) -> ServedEntity? {
        var next: NSEntityDescription? = object.entity
        while let entity = next {
            if let served = model.entities[entity.name ?? ""] { return served }
            next = entity.superentity
        }
        return nil
    }

    package func id(of object: NSManagedObject) -> UUID? {
        entity(of: object).flatMap { object.value(forKey: $0.identity) as? UUID }
    }

    package func address(of object: NSManagedObject) -> String? {
        guard let entity = entity(of: object), let id = id(of: object) else { return nil }
        return "/api/\(entity.name)/\(id.uuidString)"
    }

    package mutating func json(_ object: NSManagedObject, _ selection: Selection) throws(Problem) -> JSONValue {
        remaining -= 1
        guard remaining >= 0 else {
            throw .query("the answer would have too many objects: ask for fewer, or include less")
        }
        guard let entity = entity(of: object), let id = id(of: object) else { return .null }
        var members: [JSONValue.Member] = [
            .init("_entity", .string(entity.name)), .init("_id", .string(id.uuidString)),
        ]
        if let tag = tags.tag(of: object) { members.append(.init("_version", .string(tag))) }
        members.reserveCapacity(3 + entity.properties.count)
        for property in entity.properties where selection.contains(property) {
            switch property {
            case .attribute(let attribute):
                if case .largeBytes = attribute.form {
                    // The bytes are not read for this: an address that has none is answered by 404.
                    members.append(
                        .init(attribute.name, .string("/api/\(entity.name)/\(id.uuidString)/\(attribute.name)")))
                } else {
                    members.append(.init(attribute.name, attribute.form.json(object.value(forKey: attribute.name))))
                }
            case .relationship(let relationship):
                members.append(.init(relationship.name, try related(object, relationship, selection)))
            }
        }
        return .object(members)
    }

    private mutating func related(
        _ object: NSManagedObject, _ relationship: ServedRelationship, _ selection: Selection
    ) throws(Problem) -> JSONValue {
        let inner = selection.includes[relationship.name]
        guard relationship.isToMany else {
            guard let other = object.value(forKey: relationship.name) as? NSManagedObject else { return .null }
            return try one(other, inner)
        }
        let members = Self.members(object.value(forKey: relationship.name))
        guard members.count <= Self.maximumMembers else {
            throw .query(
                "\(relationship.name) has more than \(Self.maximumMembers) objects: ask for them by where on "
                    + "\(relationship.destination)")
        }
        var elements: [(key: String, value: JSONValue)] = []
        for member in members {
            elements.append((id(of: member)?.uuidString ?? "", try one(member, inner)))
        }
        if !relationship.isOrdered { elements.sort { $0.key < $1.key } }
        return .array(elements.map(\.value))
    }

    private mutating func one(_ object: NSManagedObject, _ selection: Selection?) throws(Problem) -> JSONValue {
        if let selection { return try json(object, selection) }
        return id(of: object).map { .string($0.uuidString) } ?? .null
    }

    /// The members of a to-many relationship's value.
    package static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: Array(set)
        case let list as [NSManagedObject]: list
        default: []
        }
    }
}
