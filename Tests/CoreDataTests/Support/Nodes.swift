import CoreData
import Foundation
import TestSupport

/// A graph of one entity with relationships of every kind, for random edits.
///
///     Node: name, note, teacher ↔ pupil, spouse ↔ spouse, owner ↔ children, shelf ↔ items (ordered),
///           friends ↔ fans (many-to-many), likes (ordered many-to-many) ↔ likers
enum Nodes {
    static func model() -> NSManagedObjectModel {
        let node = Library.entity("Node", nil)
        var relationships: [String: NSRelationshipDescription] = [:]
        func relate(_ name: String, _ inverse: String, many: Bool, inverseMany: Bool, isOrdered: Bool = false) {
            for (name, many) in [(name, many), (inverse, inverseMany)] where relationships[name] == nil {
                let made = NSRelationshipDescription()
                (made.name, made.maxCount, made.isOptional) = (name, many ? 0 : 1, true)
                (made.destinationEntity, made.deleteRule) = (node, .nullifyDeleteRule)
                relationships[name] = made
            }
            relationships[name]?.inverseRelationship = relationships[inverse]
            relationships[inverse]?.inverseRelationship = relationships[name]
            relationships[name]?.isOrdered = isOrdered
        }
        relate("pupil", "teacher", many: false, inverseMany: false)
        relate("spouse", "spouse", many: false, inverseMany: false)
        relate("children", "owner", many: true, inverseMany: false)
        relate("items", "shelf", many: true, inverseMany: false, isOrdered: true)
        relate("friends", "fans", many: true, inverseMany: true)
        relate("likes", "likers", many: true, inverseMany: true, isOrdered: true)
        node.properties =
            [Library.attribute("name", .stringAttributeType), Library.attribute("note", .integer64AttributeType)]
            + relationships.values.sorted { $0.name < $1.name }
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    static func insert(_ name: String, into context: NSManagedObjectContext) -> NSManagedObject {
        let node = NSEntityDescription.insertNewObject(forEntityName: "Node", into: context)
        node.setValue(name, forKey: "name")
        return node
    }

    /// All that a context finds, by name.
    static func all(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node"))
        return found.filter { !$0.isDeleted }.sorted { name($0) < name($1) }
    }

    static func name(_ node: NSManagedObject) -> String { node.value(forKey: "name") as? String ?? "nil" }

    static func targets(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let node as NSManagedObject: [node]
        case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
        case let members as Set<NSManagedObject>: Array(members)
        default: []
        }
    }

    /// Where one side of a relationship does not say what the other says, or leads to what is not there.
    static func differences(in context: NSManagedObjectContext) throws -> [String] {
        var found: [String] = []
        for node in try all(in: context) {
            for (key, relationship) in node.entity.relationshipsByName {
                guard let inverse = relationship.inverseRelationship?.name else { continue }
                for target in targets(node.value(forKey: key)) {
                    let leadsBack = targets(target.value(forKey: inverse)).contains(node)
                    if target.isDeleted || target.managedObjectContext !== context
                        || target.value(forKey: "name") == nil
                    {
                        found.append("\(key) of \(name(node)) leads to one that is gone")
                    } else if !leadsBack {
                        found.append("\(key) of \(name(node)) leads to \(name(target)), whose \(inverse) does not")
                    }
                }
            }
        }
        return found.sorted()
    }

    /// The graph as text: what is equal reads equal, in any context.
    static func picture(of context: NSManagedObjectContext) throws -> String {
        try all(in: context).map { node in
            let keys = node.entity.relationshipsByName.keys.sorted()
            let ends = keys.map { key in
                let value = node.value(forKey: key)
                let names = targets(value).map(name)
                return "\(key): \((value is NSOrderedSet ? names : names.sorted()).joined(separator: ","))"
            }
            return "\(name(node)) \(node.value(forKey: "note") ?? "nil") \(ends.joined(separator: " "))"
        }.joined(separator: "\n")
    }

    /// One edit of a random kind; `mayDelete` has nodes come and go, too.
    static func edit(
        _ context: NSManagedObjectContext, _ numbers: inout SeededNumbers, name: @autoclosure () -> String,
        mayDelete: Bool = false
    ) throws {
        let nodes = try all(in: context)
        guard nodes.count > 1 else { return _ = insert(name(), into: context) }
        let (node, other) = (numbers.pick(nodes), numbers.pick(nodes))
        switch numbers.below(mayDelete ? 11 : 9) {
        case 0: node.setValue(numbers.chance(4) ? nil : other, forKey: numbers.pick(["teacher", "pupil"]))
        case 1: node.setValue(numbers.chance(4) ? nil : other, forKey: "spouse")
        case 2: node.setValue(numbers.chance(4) ? nil : other, forKey: numbers.pick(["owner", "shelf"]))
        case 3:
            toggle(other, in: node.mutableSetValue(forKey: numbers.pick(["children", "friends", "fans", "likers"])))
        case 4:
            let some = nodes.filter { _ in numbers.chance(3) }
            node.setValue(NSSet(array: some), forKey: numbers.pick(["children", "friends", "fans", "likers"]))
        case 5, 6:
            let members = node.mutableOrderedSetValue(forKey: numbers.pick(["items", "likes"]))
            if members.contains(other), numbers.chance(2) {
                members.remove(other)
            } else if members.contains(other) {
                members.moveObjects(
                    at: IndexSet(integer: members.index(of: other)), to: numbers.below(members.count))
            } else {
                members.insert(other, at: numbers.below(members.count + 1))
            }
        case 7:
            let some = nodes.filter { _ in numbers.chance(3) }
            node.setValue(NSOrderedSet(array: some), forKey: numbers.pick(["items", "likes"]))
        case 8: node.setValue(numbers.below(1000), forKey: "note")
        case 9: context.delete(node)
        default: _ = insert(name(), into: context)
        }
    }

    private static func toggle(_ node: NSManagedObject, in members: NSMutableSet) {
        if members.contains(node) { members.remove(node) } else { members.add(node) }
    }
}
