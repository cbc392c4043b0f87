import Foundation
import TestSupport
import Testing

@testable import CoreData

// semantics D: to-many relationships that are changed and have not been read
@Suite struct UnreadMembersTests {
    /// A database, and the other types: in the short form another one of those every day.
    static let types = [NSPersistentStore.StoreType.sqlite] + Trials.some(of: [.inMemory, .xml, .binary])

    /// A coordinator with one store, in a folder that goes with it.
    private final class Stack {
        let folder: URL
        let coordinator: NSPersistentStoreCoordinator

        init(_ type: NSPersistentStore.StoreType, model: NSManagedObjectModel = Nodes.model()) throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("unread-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(type: type, at: folder.appendingPathComponent("store"))
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func context() -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return context
        }

        static func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = parent
            return child
        }
    }

    /// What the many-to-manys are to be: plain lists of numbers.
    private struct Reference: Equatable {
        var friends: [Set<Int>]
        var likes: [[Int]]

        init(_ count: Int) {
            friends = Array(repeating: [], count: count)
            likes = Array(repeating: [], count: count)
        }

        mutating func add(_ member: Int, to owner: Int, isOrdered: Bool) {
            guard isOrdered else { return _ = friends[owner].insert(member) }
            if !likes[owner].contains(member) { likes[owner].append(member) }
        }

        mutating func remove(_ member: Int, from owner: Int, isOrdered: Bool) {
            friends[owner].subtract(isOrdered ? [] : [member])
            if isOrdered { likes[owner].removeAll { $0 == member } }
        }

        /// As ``Nodes/picture(of:)`` tells it, of these relationships.
        static func reading(_ nodes: [NSManagedObject]) throws -> (forth: Reference, back: Reference) {
            var (forth, back) = (Reference(nodes.count), Reference(nodes.count))
            func numbers(_ node: NSManagedObject, _ key: String) throws -> [Int] {
                try Nodes.targets(node.value(forKey: key)).map { try #require(Int(Nodes.name($0))) }
            }
            for (index, node) in nodes.enumerated() {
                forth.friends[index] = Set(try numbers(node, "friends"))
                forth.likes[index] = try numbers(node, "likes")
                for fan in try numbers(node, "fans") { back.friends[fan].insert(index) }
                for liker in try numbers(node, "likers") { back.likes[liker].append(index) }
            }
            return (forth, back)
        }

        var withoutOrder: Reference {
            var sorted = self
            sorted.likes = likes.map { $0.sorted() }
            return sorted
        }
    }

    /// One addition or removal, from either side.
    private static func edit(
        _ nodes: [NSManagedObject], _ reference: inout Reference, _ numbers: inout SeededNumbers
    ) {
        let (owner, member) = (numbers.below(nodes.count), numbers.below(nodes.count))
        let (isOrdered, isAddition, isBack) = (numbers.chance(2), numbers.chance(2), numbers.chance(2))
        if isAddition {
            reference.add(member, to: owner, isOrdered: isOrdered)
        } else {
            reference.remove(member, from: owner, isOrdered: isOrdered)
        }
        if isOrdered, !isBack {
            let likes = nodes[owner].mutableOrderedSetValue(forKey: "likes")
            if isAddition { likes.add(nodes[member]) } else { likes.remove(nodes[member]) }
        } else {
            let key = isOrdered ? "likers" : isBack ? "fans" : "friends"
            let (one, other) = isBack ? (nodes[member], nodes[owner]) : (nodes[owner], nodes[member])
            let set = one.mutableSetValue(forKey: key)
            if isAddition { set.add(other) } else { set.remove(other) }
        }
    }

    private func check(_ nodes: [NSManagedObject], _ reference: Reference, _ place: Comment) throws {
        let (forth, back) = try Reference.reading(nodes)
        #expect(forth == reference, place)
        #expect(back.withoutOrder == reference.withoutOrder, place)
    }

    @Test("The last call holds, and who comes stands at the end, read or not", arguments: types, [false, true])
    func lastCallHolds(_ type: NSPersistentStore.StoreType, inChild: Bool) throws {
        for seed in Trials.seeds(12) {
            var numbers = SeededNumbers(seed: seed)
            let stack = try Stack(type)
            let root = stack.context()
            let context = inChild ? Stack.child(of: root) : root
            try context.performAndWait {
                let nodes = (0..<4).map { Nodes.insert("\($0)", into: context) }
                var reference = Reference(nodes.count)
                func save() throws {
                    try context.save()
                    if inChild { try root.performAndWait { try root.save() } }
                }
                try save()
                for step in 0..<25 {
                    context.refreshAllObjects()
                    if inChild { root.performAndWait { root.refreshAllObjects() } }
                    for _ in 0...numbers.below(8) {
                        if numbers.chance(6) {
                            let key = numbers.pick(["friends", "fans", "likes", "likers"])
                            _ = Nodes.targets(numbers.pick(nodes).value(forKey: key))
                        }
                        Self.edit(nodes, &reference, &numbers)
                        if numbers.chance(5) { context.processPendingChanges() }
                    }
                    if numbers.chance(3) { try check(nodes, reference, "seed \(seed), step \(step), unsaved") }
                    try save()
                    let reading = stack.context()
                    try reading.performAndWait {
                        let found = nodes.map { reading.object(with: $0.objectID) }
                        try check(found, reference, "seed \(seed), step \(step), stored")
                    }
                }
            }
        }
    }

    @Test("J2: what was done to unread members is undone and redone", arguments: types, [false, true])
    func undoing(_ type: NSPersistentStore.StoreType, saves: Bool) throws {
        for seed in Trials.seeds(12) {
            var numbers = SeededNumbers(seed: seed)
            let stack = try Stack(type)
            let context = stack.context()
            let undo = UndoManager()
            undo.groupsByEvent = false
            try context.performAndWait {
                let nodes = (0..<4).map { Nodes.insert("\($0)", into: context) }
                try context.save()
                context.undoManager = undo
                var states = [Reference(nodes.count)]
                var place = 0
                for step in 0..<30 {
                    if numbers.chance(2) { context.refreshAllObjects() }
                    let before = place
                    switch numbers.below(4) {
                    case 0 where undo.canUndo && place > 0:
                        undo.undo()
                        place -= 1
                    case 1 where undo.canRedo && place < states.count - 1:
                        undo.redo()
                        place += 1
                    default:
                        var reference = states[place]
                        undo.beginUndoGrouping()
                        for _ in 0...numbers.below(4) {
                            Self.edit(nodes, &reference, &numbers)
                            if numbers.chance(3) { context.processPendingChanges() }
                        }
                        nodes[0].setValue(step, forKey: "note")
                        context.processPendingChanges()
                        undo.endUndoGrouping()
                        states = Array(states[...place]) + [reference]
                        place += 1
                    }
                    if saves, numbers.chance(2) { try context.save() }
                    if numbers.chance(2) {
                        try check(nodes, states[place], "seed \(seed), step \(step), from \(before) to \(place)")
                    }
                }
                try context.save()
                context.refreshAllObjects()
                try check(nodes, states[place], "seed \(seed), saved")
            }
        }
    }

    @Test("What comes and goes while its own side is read is no change of the other", arguments: [false, true])
    func oppositesThatAreKnown(_ isMember: Bool) throws {
        let stack = try Stack(.sqlite)
        let context = stack.context()
        try context.performAndWait {
            let (a, b) = (Nodes.insert("a", into: context), Nodes.insert("b", into: context))
            if isMember { a.mutableSetValue(forKey: "friends").add(b) }
            try context.save()
            context.refreshAllObjects()
            let friends = a.mutableSetValue(forKey: "friends")
            #expect(friends.count == (isMember ? 1 : 0))
            if isMember { friends.remove(b) } else { friends.add(b) }
            if isMember { friends.add(b) } else { friends.remove(b) }
            #expect(b.hasFault(forRelationshipNamed: "fans"))
            #expect(!a.hasPersistentChangedValues && !b.hasPersistentChangedValues)
        }
    }

    @Test("A new object that comes to unread members and is deleted again leaves nothing behind")
    func newMembersThatGo() throws {
        let stack = try Stack(.sqlite)
        let context = stack.context()
        try context.performAndWait {
            let a = Nodes.insert("a", into: context)
            try context.save()
            context.refreshAllObjects()
            let b = Nodes.insert("b", into: context)
            a.mutableSetValue(forKey: "friends").add(b)
            a.mutableOrderedSetValue(forKey: "likes").add(b)
            context.delete(b)
            context.processPendingChanges()
            #expect(!a.hasPersistentChangedValues)
            try context.save()
            #expect(Nodes.targets(a.value(forKey: "friends")).isEmpty)
        }
    }

    @Test("Changes of unread members that are given up are no change of the other side", arguments: [false, true])
    func givingUp(_ isMember: Bool) throws {
        let stack = try Stack(.sqlite)
        let context = stack.context()
        try context.performAndWait {
            let (a, b) = (Nodes.insert("a", into: context), Nodes.insert("b", into: context))
            if isMember { a.mutableSetValue(forKey: "friends").add(b) }
            try context.save()
            for adds in [true, false] {
                for (one, other, key) in [(a, b, "friends"), (b, a, "fans")] {
                    context.refreshAllObjects()
                    let set = one.mutableSetValue(forKey: key)
                    if adds { set.add(other) } else { set.remove(other) }
                    context.refresh(one, mergeChanges: false)
                    #expect(Nodes.targets(a.value(forKey: "friends")) == (isMember ? [b] : []), "\(adds) \(key)")
                    #expect(Nodes.targets(b.value(forKey: "fans")) == (isMember ? [a] : []), "\(adds) \(key)")
                    context.rollback()
                }
            }
        }
    }

    @Test("A one-way to-many takes nothing from another owner by removing what it has not", arguments: types)
    func oneWay(_ type: NSPersistentStore.StoreType) throws {
        let (box, thing) = (Library.entity("Box", nil), Library.entity("Thing", nil))
        let things = NSRelationshipDescription()
        (things.name, things.maxCount, things.isOptional, things.destinationEntity) = ("things", 0, true, thing)
        box.properties = [Library.attribute("name", .stringAttributeType), things]
        thing.properties = [Library.attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [box, thing]
        let stack = try Stack(type, model: model)
        let context = stack.context()
        try context.performAndWait {
            let boxes = (0..<2).map { _ in NSEntityDescription.insertNewObject(forEntityName: "Box", into: context) }
            let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            func count(_ index: Int) -> Int { Nodes.targets(boxes[index].value(forKey: "things")).count }
            boxes[0].mutableSetValue(forKey: "things").add(thing)
            try context.save()
            context.refreshAllObjects()
            boxes[1].mutableSetValue(forKey: "things").remove(thing)
            try context.save()
            context.refreshAllObjects()
            #expect((count(0), count(1)) == (1, 0))
            context.refreshAllObjects()
            boxes[1].mutableSetValue(forKey: "things").add(thing)
            boxes[1].mutableSetValue(forKey: "things").remove(thing)
            try context.save()
            context.refreshAllObjects()
            #expect((count(0), count(1)) == (1, 0))
            context.refreshAllObjects()
            boxes[0].mutableSetValue(forKey: "things").add(thing)
            boxes[0].mutableSetValue(forKey: "things").remove(thing)
            try context.save()
            context.refreshAllObjects()
            #expect((count(0), count(1)) == (0, 0))
        }
    }
}
