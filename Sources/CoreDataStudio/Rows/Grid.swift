import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// The columns of an entity's objects in the order in which pages show them: attributes, to-one and to-many
/// relationships, each by name.
struct GridColumns {
    let attributes: [NSAttributeDescription]
    let toOnes: [NSRelationshipDescription]
    let toManys: [NSRelationshipDescription]

    init(_ entity: NSEntityDescription) {
        attributes = entity.attributesByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
        let relationships = entity.relationshipsByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
        toOnes = relationships.filter { !$0.isToMany }
        toManys = relationships.filter(\.isToMany)
    }
}

/// The rows of a page, as values.
struct Grid: Sendable {
    struct Column: Sendable {
        var name: String
        /// The type, as the model editor names it.
        var type: String
        var isNumber = false
        var isSortable = false
        /// Whether the page of the column's values can be shown.
        var hasFacets = false
    }

    enum Cell: Sendable {
        case value(ShownValue, attribute: String)
        case object(ObjectLink?)
        /// The members of a to-many: their number, and the list of them.
        case members(Int?, Address)
    }

    struct Row: Sendable {
        var link: ObjectLink
        var cells: [Cell]
    }

    var columns: [Column]
    var rows: [Row]

    /// Fetches the objects with these IDs in their order, and the destinations of their to-ones.
    static func objects(
        _ ids: [NSManagedObjectID], of entity: NSEntityDescription, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = GridColumns(entity).toOnes.map(\.name)
        let objects = Dictionary(
            try context.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        // Another process may have deleted some meanwhile.
        return ids.compactMap { objects[$0] }
    }

    /// Reads the values of the objects; one fetch finds the numbers of members of their to-manys.
    init(_ objects: [NSManagedObject], of entity: NSEntityDescription, in context: NSManagedObjectContext) {
        let shown = GridColumns(entity)
        columns = shown.attributes.map { attribute in
            Column(
                name: attribute.name, type: TypeName.text(attribute), isNumber: attribute.kind.isQuantity,
                isSortable: SortedValue.isSortable(attribute), hasFacets: Facets.hasFacets(attribute))
        }
        columns += shown.toOnes.map { Column(name: $0.name, type: TypeName.text($0), hasFacets: true) }
        columns += shown.toManys.map { Column(name: $0.name, type: TypeName.text($0)) }
        let counts = MemberCounts(objects.map(\.objectID), of: entity, shown.toManys, in: context)
        rows = objects.compactMap { object in
            guard let link = ObjectLink(object) else { return nil }
            var cells: [Cell] = shown.attributes.map { attribute in
                .value(ShownValue(object.value(forKey: attribute.name), of: attribute), attribute: attribute.name)
            }
            cells += shown.toOnes.map { relationship in
                .object((object.value(forKey: relationship.name) as? NSManagedObject).flatMap { ObjectLink($0) })
            }
            cells += shown.toManys.map { relationship in
                .members(counts.count(of: object.objectID, relationship.name), MemberAddress.of(link, relationship))
            }
            return Row(link: link, cells: cells)
        }
    }
}

/// The names of types as Xcode's model editor shows them.
enum TypeName {
    static func text(_ attribute: NSAttributeDescription) -> String {
        if let composite = attribute as? NSCompositeAttributeDescription {
            return "Composite (\(composite.elements.map(\.name).sorted().joined(separator: ", ")))"
        }
        let name = attribute.attributeType.compiled.traits.fileName ?? "Object ID"
        return attribute is NSDerivedAttributeDescription ? "Derived \(name)" : name
    }

    static func text(_ relationship: NSRelationshipDescription) -> String {
        "\(relationship.isToMany ? "to many " : "")\(relationship.destinationEntity?.name ?? "")"
    }
}

/// The page that lists the members of an object's to-many relationship.
enum MemberAddress {
    static func of(_ owner: ObjectLink, _ relationship: NSRelationshipDescription) -> Address {
        guard let destination = relationship.destinationEntity?.name, let inverse = relationship.inverseRelationship
        else { return owner.address.at(relationship.name) }
        let key = NSExpression(forKeyPath: inverse.name).description
        let condition = "\(inverse.isToMany ? "ANY " : "")\(key) == '\(owner.reference)'"
        return RowQuery(entity: destination, predicate: condition).address()
    }
}

/// The numbers of members of to-many relationships of several objects, without reading the members.
struct MemberCounts {
    private var counts: [NSManagedObjectID: [String: Int]] = [:]

    init(
        _ ids: [NSManagedObjectID], of entity: NSEntityDescription, _ relationships: [NSRelationshipDescription],
        in context: NSManagedObjectContext
    ) {
        guard !ids.isEmpty, !relationships.isEmpty else { return }
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
        let columns = relationships.map { relationship in
            let column = NSExpressionDescription()
            column.name = "count of \(relationship.name)"
            column.expression = NSExpression(forKeyPath: "\(relationship.name).@count")
            column.expressionResultType = .integer64AttributeType
            return column
        }
        request.propertiesToFetch = ["objectID"] + columns
        // A store that cannot count shows links without numbers.
        for row in (try? context.fetch(request)) ?? [] {
            guard let id = row["objectID"] as? NSManagedObjectID else { continue }
            for (relationship, column) in zip(relationships, columns) {
                counts[id, default: [:]][relationship.name] = (row[column.name] as? NSNumber)?.intValue
            }
        }
    }

    func count(of id: NSManagedObjectID, _ relationship: String) -> Int? { counts[id]?[relationship] }
}
