import CoreData
import Foundation
import TestSupport
import Testing

/// To-manys that are changed and perhaps have not been read, whatever the rows stand on.
@Suite struct UnreadMembersSpecification {
    /// Objects of the library, and what their to-manys are to be: plain lists of names.
    private struct Graph {
        struct Side {
            let entity: String
            let key: String
            let destination: String
            let inverse: String?
        }

        static let sides = [
            Side(entity: "Person", key: "friends", destination: "Person", inverse: "friends"),
            Side(entity: "Book", key: "tags", destination: "Tag", inverse: "books"),
            Side(entity: "Tag", key: "books", destination: "Book", inverse: "tags"),
            Side(entity: "Person", key: "clubs", destination: "Club", inverse: "members"),
            Side(entity: "Club", key: "members", destination: "Person", inverse: "clubs"),
            Side(entity: "Shelf", key: "picks", destination: "Tag", inverse: nil),
            Side(entity: "Shelf", key: "row", destination: "Book", inverse: nil),
        ]

        let objects: [String: NSManagedObject]
        var lists: [String: [String]] = [:]

        init(in context: NSManagedObjectContext) {
            var objects: [String: NSManagedObject] = [:]
            for entity in ["Person", "Book", "Tag", "Club", "Shelf"] {
                let key = entity == "Book" ? "title" : entity == "Shelf" ? "label" : "name"
                for name in (0..<3).map({ "\(entity) \($0)" }) { objects[name] = context.insert(entity, [key: name]) }
            }
            self.objects = objects
        }

        mutating func edit(_ numbers: inout SeededNumbers) {
            let side = numbers.pick(Self.sides)
            let (owner, member) = ("\(side.entity) \(numbers.below(3))", "\(side.destination) \(numbers.below(3))")
            guard let object = objects[owner], let other = objects[member] else { return }
            // Who has one owner is added to one alone, and removed from all.
            if side.inverse != nil ? numbers.chance(2) : owner == "Shelf 0" && numbers.chance(2) {
                object.add(other, to: side.key)
                add(member, to: "\(owner).\(side.key)")
                if let inverse = side.inverse { add(owner, to: "\(member).\(inverse)") }
            } else {
                object.remove(other, from: side.key)
                lists["\(owner).\(side.key)"]?.removeAll { $0 == member }
                if let inverse = side.inverse { lists["\(member).\(inverse)"]?.removeAll { $0 == owner } }
            }
        }

        private mutating func add(_ member: String, to list: String) {
            if !(lists[list]?.contains(member) ?? false) { lists[list, default: []].append(member) }
        }

        func read(_ numbers: inout SeededNumbers) {
            let side = numbers.pick(Self.sides)
            _ = objects["\(side.entity) \(numbers.below(3))"]?.value(forKey: side.key)
        }

        /// What differs from the lists, in objects of any context.
        func differences(in context: NSManagedObjectContext) -> [String] {
            var found: [String] = []
            for (name, object) in objects {
                let same = context.object(with: object.objectID)
                for side in Self.sides where name.hasPrefix(side.entity) {
                    let isOrdered = same.value(forKey: side.key) is NSOrderedSet
                    let label = side.destination == "Book" ? "title" : "name"
                    let (names, list) = (same.names(of: side.key, by: label), lists["\(name).\(side.key)"] ?? [])
                    let expected = isOrdered ? list : list.sorted()
                    if names != expected { found.append("\(name).\(side.key): \(names), not \(expected)") }
                }
            }
            return found.sorted()
        }
    }

    @Test(arguments: SpecifiedStore.all, [false, true])
    func theLastCallHolds(_ store: SpecifiedStore, inChild: Bool) throws {
        for seed in store.seeds(4) {
            try store.checkContexts { stack in
                var numbers = SeededNumbers(seed: seed)
                let root = stack.newContext()
                let context = inChild ? NSManagedObjectContext(.privateQueue) : root
                if inChild { context.parent = root }
                try context.performAndWait {
                    var graph = Graph(in: context)
                    func save() throws {
                        try context.save()
                        if inChild { try root.performAndWait { try root.save() } }
                    }
                    try save()
                    for step in 0..<12 {
                        context.refreshAllObjects()
                        if inChild { root.performAndWait { root.refreshAllObjects() } }
                        for _ in 0...numbers.below(12) {
                            if numbers.chance(6) { graph.read(&numbers) }
                            graph.edit(&numbers)
                            if numbers.chance(5) { context.processPendingChanges() }
                        }
                        if numbers.chance(3) {
                            #expect(graph.differences(in: context) == [], "seed \(seed), step \(step)")
                        }
                        try save()
                        stack.story { other in
                            #expect(graph.differences(in: other) == [], "seed \(seed), step \(step), stored")
                        }
                    }
                }
            }
        }
    }
}

extension NSManagedObject {
    fileprivate func add(_ other: NSManagedObject, to key: String) {
        if isOrdered(key) {
            mutableOrderedSetValue(forKey: key).add(other)
        } else {
            mutableSetValue(forKey: key).add(other)
        }
    }

    fileprivate func remove(_ other: NSManagedObject, from key: String) {
        if isOrdered(key) {
            mutableOrderedSetValue(forKey: key).remove(other)
        } else {
            mutableSetValue(forKey: key).remove(other)
        }
    }

    private func isOrdered(_ key: String) -> Bool { entity.relationshipsByName[key]?.isOrdered ?? false }
}
