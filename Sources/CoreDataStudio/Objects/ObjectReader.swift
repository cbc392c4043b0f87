import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// An object with its values, its relationships and the objects that refer to it, as values.
struct ShownObject: Sendable {
    struct Value: Sendable {
        var name: String
        var type: String
        var value: ShownValue
        /// The bytes of a text or JSON value.
        var content: String?
        /// The condition that selects the objects with this value; `nil` if there is none.
        var condition: String?
    }

    /// Objects on the other side of a relationship.
    struct Links: Sendable {
        /// `items`, or `Item.unit` for a relationship of another entity.
        var name: String
        var type: String
        var links: [ObjectLink]
        /// The number of all, if that is known and greater than the number of links.
        var count: Int?
        var address: Address?
    }

    var link: ObjectLink
    var values: [Value] = []
    var relationships: [Links] = []
    /// References of relationships without an inverse.
    var referrers: [Links] = []

    /// The most members of a relationship that a page lists.
    static let memberLimit = 50
}

extension StoreBrowser {
    /// Returns the object of an address.
    ///
    /// - Parameter key: `p12`.
    /// - Throws: ``PageFailure`` if there is none.
    func object(_ entityName: String, _ key: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let entity = try entity(entityName)
        guard let reference = ObjectReference("\(entityName)/\(key)"), let id = try? reference.objectID(in: opened)
        else {
            throw PageFailure.missing("“\(key)” is no key of an object of \(entityName).")
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "self == %@", argumentArray: [id])
        request.returnsObjectsAsFaults = false
        guard let object = try context.fetch(request).first else {
            throw PageFailure.missing("There is no \(entityName)/\(key) in the store. It may have been deleted.")
        }
        return object
    }

    /// Reads everything that an object's page shows.
    func shownObject(_ object: NSManagedObject, in context: NSManagedObjectContext) throws -> ShownObject {
        guard let link = ObjectLink(object) else {
            throw PageFailure.missing("The object has no ID that an address can name.")
        }
        var shown = ShownObject(link: link)
        let columns = GridColumns(object.entity)
        shown.values = columns.attributes.map { Self.value(of: object, $0) }
        let counts = MemberCounts([object.objectID], of: object.entity, columns.toManys, in: context)
        shown.relationships =
            columns.toOnes.map { relationship in
                let destination = object.value(forKey: relationship.name) as? NSManagedObject
                return ShownObject.Links(
                    name: relationship.name, type: TypeName.text(relationship),
                    links: destination.flatMap { ObjectLink($0) }.map { [$0] } ?? [])
            }
            + columns.toManys.map { relationship in
                members(
                    of: object, link, relationship, count: counts.count(of: object.objectID, relationship.name),
                    in: context)
            }
        shown.referrers = try referrers(to: object, in: context)
        return shown
    }

    private static func value(of object: NSManagedObject, _ attribute: NSAttributeDescription) -> ShownObject.Value {
        let value = object.value(forKey: attribute.name)
        let shown = ShownValue(value, of: attribute)
        var content: String?
        if case .bytes(_, let kind) = shown, kind == .json || kind == .text, let data = value as? Data {
            content = String(decoding: data, as: UTF8.self)
        }
        var condition: String?
        if Facets.hasFacets(attribute) {
            let key = NSExpression(forKeyPath: attribute.name).description
            condition = "\(key) == \(PredicateLiteral.text(value, of: attribute))"
        }
        return ShownObject.Value(
            name: attribute.name, type: TypeName.text(attribute), value: shown, content: content, condition: condition)
    }

    /// Reads the first members of a to-many relationship. If the number of members is large and the relationship has an
    /// inverse, the members are fetched by it, so that not all of them are read.
    private func members(
        of object: NSManagedObject, _ link: ObjectLink, _ relationship: NSRelationshipDescription, count: Int?,
        in context: NSManagedObjectContext
    ) -> ShownObject.Links {
        let limit = ShownObject.memberLimit
        var links = ShownObject.Links(
            name: relationship.name, type: TypeName.text(relationship), links: [], count: count)
        if let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
            let count, count > limit, !relationship.isOrdered
        {
            let request = NSFetchRequest<NSManagedObject>(entityName: destination.name ?? "")
            request.predicate = NSPredicate(
                format: "\(inverse.isToMany ? "ANY " : "")%K == %@", argumentArray: [inverse.name, object])
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            request.fetchLimit = limit
            if let members = try? context.fetch(request) { links.links = members.compactMap { ObjectLink($0) } }
        } else {
            let members = PropertyPath.members(of: object, relationship)
            links.count = members.count
            links.links = members.prefix(limit).compactMap { ObjectLink($0) }
        }
        if relationship.inverseRelationship != nil { links.address = MemberAddress.of(link, relationship) }
        return links
    }

    /// Finds the objects that refer to an object by a relationship without an inverse.
    private func referrers(
        to object: NSManagedObject, in context: NSManagedObjectContext
    ) throws -> [ShownObject.Links] {
        var found: [ShownObject.Links] = []
        for entity in opened.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
            where relationship.inverseRelationship == nil && !relationship.isTransient
                && relationship.entity === entity && refers(relationship, to: object.entity)
            {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.predicate = NSPredicate(
                    format: "\(relationship.isToMany ? "ANY " : "")%K == %@",
                    argumentArray: [relationship.name, object])
                request.fetchLimit = ShownObject.memberLimit
                let objects = try context.fetch(request)
                guard !objects.isEmpty else { continue }
                let key = NSExpression(forKeyPath: relationship.name).description
                let reference = ObjectLink(object, readsLabel: false)?.reference ?? ""
                let query = RowQuery(
                    entity: entity.name ?? "",
                    predicate: "\(relationship.isToMany ? "ANY " : "")\(key) == '\(reference)'")
                found.append(
                    ShownObject.Links(
                        name: "\(entity.name ?? "").\(relationship.name)", type: "",
                        links: objects.compactMap { ObjectLink($0) }, address: query.address()))
            }
        }
        return found
    }

    private func refers(_ relationship: NSRelationshipDescription, to entity: NSEntityDescription) -> Bool {
        var current: NSEntityDescription? = entity
        while let one = current {
            if relationship.destinationEntity?.name == one.name { return true }
            current = one.superentity
        }
        return false
    }
}
