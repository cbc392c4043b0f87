import CoreData
import Foundation
import TestSupport
import Testing

/// Ordered relationships beside those with a to-one at the other end: ordered on both sides, and without an inverse.
@Suite struct OrderedSidesTests {
    /// Node: right ↔ left, both ordered; parts, ordered and without an inverse.
    private static func model() -> NSManagedObjectModel {
        let node = Library.entity("Node", nil)
        let (left, right) = Library.pair("left", of: node, "right", of: node, toMany: true)
        (left.isOrdered, right.isOrdered) = (true, true)
        let part = Library.entity("Part", nil)
        let parts = NSRelationshipDescription()
        (parts.name, parts.maxCount, parts.isOptional, parts.isOrdered) = ("parts", 0, true, true)
        parts.destinationEntity = part
        node.properties = [Library.attribute("name", .stringAttributeType), left, right, parts]
        part.properties = [Library.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [node, part]
        return model
    }

    private func insert(_ entity: String, _ name: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue("\(name)", forKey: "name")
        return object
    }

    private func names(_ object: NSManagedObject, _ key: String) -> [Int] {
        Nodes.targets(object.value(forKey: key)).compactMap { Int(Nodes.name($0)) }
    }

    /// What two sides of five nodes are, as arrays.
    private struct Sides {
        var members: [String: [[Int]]] = [
            "left": Array(repeating: [], count: 5), "right": Array(repeating: [], count: 5),
        ]

        /// The side of the node has that list; those that it gains have the node behind their others.
        mutating func set(_ list: [Int], _ key: String, of node: Int) {
            let other = key == "left" ? "right" : "left"
            let old = members[key]?[node] ?? []
            members[key]?[node] = list
            for gone in old where !list.contains(gone) { members[other]?[gone].removeAll { $0 == node } }
            for new in list where !old.contains(new) { members[other]?[new].append(node) }
        }
    }

    @Test("Both sides keep their order", arguments: Trials.seeds(8), [NSPersistentStore.StoreType.sqlite, .inMemory])
    func bothSides(seed: UInt64, type: NSPersistentStore.StoreType) throws {
        let stack = try LibraryStack(model: Self.model())
        if type != .sqlite {
            try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
            try stack.coordinator.addPersistentStore(type: type, at: stack.folder.appendingPathComponent("store"))
        }
        var random = SeededNumbers(seed: seed)
        var sides = Sides()
        try stack.story { context in
            let nodes = (0..<5).map { insert("Node", $0, context) }
            for round in 0..<20 {
                for _ in 0...random.below(3) {
                    let (node, key) = (random.below(5), random.pick(["left", "right"]))
                    var list = sides.members[key]?[node] ?? []
                    switch random.below(4) {
                    case 0 where !list.isEmpty: list.remove(at: random.below(list.count))
                    case 1: list.shuffle(using: &random)
                    default:
                        if let new = (0..<5).filter({ $0 != node && !list.contains($0) }).randomElement(using: &random)
                        {
                            list.insert(new, at: random.below(list.count + 1))
                        }
                    }
                    sides.set(list, key, of: node)
                    nodes[node].setValue(NSOrderedSet(array: list.map { nodes[$0] }), forKey: key)
                }
                try context.save()
                let fresh = stack.newContext()
                let ids = nodes.map(\.objectID)
                let stored = fresh.performAndWait {
                    ["left", "right"].map { key in ids.map { names(fresh.object(with: $0), key) } }
                }
                #expect(stored == [sides.members["left"], sides.members["right"]], "round \(round)")
            }
        }
    }

    @Test func anOrderedOneWayToManyWritesTheRowsThatChange() throws {
        let stack = try LibraryStack(model: Self.model())
        let id = try stack.story { context in
            let node = insert("Node", 0, context)
            func set(_ parts: [NSManagedObject]) { node.setValue(NSOrderedSet(array: parts), forKey: "parts") }
            func writes() throws -> Int {
                try stack.statements { try context.save() }.count { $0.hasPrefix("UPDATE ZPART") }
            }
            var parts = (0..<12).map { insert("Part", $0, context) }
            set(parts)
            try context.save()
            // One that goes loses its owner, and the others stay.
            parts.remove(at: 3)
            set(parts)
            #expect(try writes() == 1)
            // A new one is inserted with its place.
            parts.insert(insert("Part", 12, context), at: 5)
            set(parts)
            #expect(try writes() == 0)
            parts.insert(parts.removeLast(), at: 0)
            set(parts)
            #expect(try writes() == 1)
            return node.objectID
        }
        let fresh = stack.newContext()
        fresh.performAndWait {
            #expect(names(fresh.object(with: id), "parts") == [11, 0, 1, 2, 4, 5, 12, 6, 7, 8, 9, 10])
        }
    }

    @Test("A part that one node loses and another gets in the same save is the other's", arguments: [false, true])
    func partsThatMove(gainsFirst: Bool) throws {
        let stack = try LibraryStack(model: Self.model())
        let ids = try stack.story { context in
            let nodes = (0..<2).map { insert("Node", $0, context) }
            let parts = (0..<3).map { insert("Part", $0, context) }
            nodes[0].setValue(NSOrderedSet(array: parts), forKey: "parts")
            try context.save()
            let edits: [() -> Void] = [
                { nodes[0].setValue(NSOrderedSet(array: [parts[0], parts[2]]), forKey: "parts") },
                { nodes[1].setValue(NSOrderedSet(object: parts[1]), forKey: "parts") },
            ]
            for edit in gainsFirst ? edits.reversed() : edits { edit() }
            try context.save()
            return nodes.map(\.objectID)
        }
        let fresh = stack.newContext()
        fresh.performAndWait {
            #expect(ids.map { names(fresh.object(with: $0), "parts") } == [[0, 2], [1]])
        }
    }
}
