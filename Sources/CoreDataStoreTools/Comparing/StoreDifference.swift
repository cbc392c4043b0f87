import CoreData
import CoreDataToolkit

/// Compares two stores with the same model, object by object.
///
/// Objects of both stores are matched by their identifying attributes, or else by their keys. Memory contains a hash
/// for each property of an object, not its values, so that stores larger than memory can be compared.
package struct StoreDifference {
    package enum Kind: String, Encodable, Sendable {
        case onlyInFirst, onlyInSecond, changed
    }

    /// An object that differs between the stores.
    package struct Object: Encodable, Sendable {
        package var entity: String
        /// The object by its identifying name: `Item/p12`, `Item "Milk"`.
        package var object: String
        package var difference: Kind
        /// The properties that differ, for an object in both stores.
        package var properties: [String]
    }

    /// The numbers of an entity's objects, without those of subentities.
    package struct Counts: Encodable, Sendable {
        package var entity: String
        package var first = 0
        package var second = 0
        package var onlyInFirst = 0
        package var onlyInSecond = 0
        package var changed = 0

        package var isEqual: Bool { onlyInFirst + onlyInSecond + changed == 0 }
    }

    package private(set) var entities: [Counts] = []
    package private(set) var objects: [Object] = []
    /// The number of different objects that are not listed.
    package private(set) var unlistedCount = 0
    private let limit: Int

    package var isEmpty: Bool { entities.allSatisfy(\.isEqual) }

    /// - Parameter limit: the maximum number of objects to list; all are counted.
    package init(_ first: OpenStore, _ second: OpenStore, uniques: UniqueAttributes, limit: Int) throws {
        self.limit = limit
        let contexts = (first.makeContext(), second.makeContext())
        for entity in first.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) where !entity.isAbstract {
            let compared = ComparedEntity(entity, uniques: uniques)
            try compare(
                compared, compared.objects(in: contexts.0),
                ComparedEntity(try second.entity(named: entity.name ?? ""), uniques: uniques).objects(in: contexts.1))
        }
    }

    private mutating func compare(
        _ entity: ComparedEntity, _ first: [ComparedObject], _ second: [ComparedObject]
    ) {
        var counts = Counts(entity: entity.name, first: first.count, second: second.count)
        var rest = Dictionary(second.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for object in first {
            guard let other = rest.removeValue(forKey: object.name) else {
                counts.onlyInFirst += 1
                list(entity.name, object.name, .onlyInFirst)
                continue
            }
            guard object.fingerprints != other.fingerprints else { continue }
            counts.changed += 1
            let changed = zip(entity.columns, zip(object.fingerprints, other.fingerprints)).filter { $0.1.0 != $0.1.1 }
            list(entity.name, object.name, .changed, changed.map(\.0.name))
        }
        for object in second where rest[object.name] != nil {
            counts.onlyInSecond += 1
            list(entity.name, object.name, .onlyInSecond)
        }
        entities.append(counts)
    }

    private mutating func list(_ entity: String, _ object: String, _ difference: Kind, _ properties: [String] = []) {
        guard objects.count < limit else { return unlistedCount += 1 }
        objects.append(Object(entity: entity, object: object, difference: difference, properties: properties))
    }
}

/// An object for the comparison.
private struct ComparedObject {
    /// Its identifying name in the other store, unique within its entity.
    let name: String
    /// A hash for each property; equal values have equal hashes.
    let fingerprints: [Int]
}

/// The compared properties of an entity: stored attributes, and the destinations of relationships.
private struct ComparedEntity {
    struct Column {
        let name: String
        let prefetched: String?
        let read: (NSManagedObject) -> CellValue
    }

    let name: String
    package private(set) var columns: [Column] = []
    private let entity: NSEntityDescription
    private let names: ObjectNames

    init(_ entity: NSEntityDescription, uniques: UniqueAttributes) {
        self.entity = entity
        name = entity.name ?? ""
        let names = ObjectNames(uniques)
        self.names = names
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name })
        where !attribute.isTransient && !(attribute is NSDerivedAttributeDescription) {
            let text = AttributeText(attribute: attribute, isExact: true)
            columns.append(
                Column(name: attribute.name, prefetched: nil) { text.cell($0.value(forKey: attribute.name)) })
        }
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
        where !relationship.isTransient {
            // A to-one on the other side contains the same information, except for an order.
            let isToldByOtherSide =
                relationship.inverseRelationship.map { !$0.isToMany && !relationship.isOrdered } ?? false
            if relationship.isToMany, isToldByOtherSide { continue }
            let key = relationship.name
            let isRead = relationship.destinationEntity.map { !uniques.of($0).isEmpty } ?? false
            columns.append(
                Column(name: key, prefetched: relationship.isToMany || isRead ? key : nil) { object in
                    guard relationship.isToMany else {
                        return (object.value(forKey: key) as? NSManagedObject).map { .text(names.name(of: $0)) }
                            ?? .null
                    }
                    let members = PropertyPath.members(of: object, relationship).map(names.name(of:))
                    return .list((relationship.isOrdered ? members : members.sorted()).map { .text($0) })
                })
        }
    }

    /// Returns all objects of the entity, without those of its subentities.
    func objects(in context: NSManagedObjectContext) throws -> [ComparedObject] {
        var stream = ObjectStream(context, entity: entity)
        stream.includesSubentities = false
        stream.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        stream.prefetched = columns.compactMap(\.prefetched)
        var objects: [ComparedObject] = []
        var counts: [String: Int] = [:]
        try stream.forEach { object, _, _ in
            var name = names.name(of: object)
            let count = counts[name, default: 0] + 1
            counts[name] = count
            // Without a constraint, several objects may have the same unique values.
            if count > 1 { name += " (\(count))" }
            objects.append(
                ComparedObject(name: name, fingerprints: columns.map { Self.fingerprint($0.read(object)) }))
        }
        return objects
    }

    /// Returns a hash. Texts that differ in a byte have different hashes, even if Swift treats them as equal.
    private static func fingerprint(_ value: CellValue) -> Int {
        var hasher = Hasher()
        var text = value.json
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}

/// Names objects by values that identify them in another store.
private final class ObjectNames {
    private let uniques: UniqueAttributes
    /// The identifying attributes by entity name.
    private var attributes: [String: [AttributeText]] = [:]

    init(_ uniques: UniqueAttributes) { self.uniques = uniques }

    /// Returns `Item "Milk"` if the identifying attributes all have values, else `Item/p12`.
    func name(of object: NSManagedObject) -> String {
        let unique = attributes(of: object.entity)
        let values = unique.map { $0.cell(object.value(forKey: $0.attribute.name)) }
        guard !values.isEmpty, !values.contains(.null) else { return PropertyPath.reference(to: object).tableText }
        return "\(object.entity.name ?? "") \(values.map(\.json).joined(separator: ", "))"
    }

    private func attributes(of entity: NSEntityDescription) -> [AttributeText] {
        let name = entity.name ?? ""
        if let known = attributes[name] { return known }
        let found = uniques.of(entity).compactMap { entity.attributesByName[$0] }.map { AttributeText(attribute: $0) }
        attributes[name] = found
        return found
    }
}
