import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics A1, K2, K4: contexts on contexts have one object for each row.
@Suite struct SeveralLevelTests {
    private func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        return child
    }

    @Test("A1, K4: permanent IDs that a grandchild obtains are those that the rows get", arguments: [false, true])
    func permanentIDs(_ holds: Bool) throws {
        let stack = try LibraryStack(model: Nodes.model())
        let root = stack.context
        let middle = child(of: root)
        let leaf = child(of: middle)
        middle.performAndWait { middle.retainsRegisteredObjects = holds }
        let node = try leaf.performAndWait {
            let node = Nodes.insert("a", into: leaf)
            try leaf.save()
            return node
        }
        try middle.performAndWait { try middle.save() }
        let id = try leaf.performAndWait {
            try leaf.obtainPermanentIDs(for: [node])
            return node.objectID
        }
        #expect(!id.isTemporaryID)
        try root.performAndWait { try root.save() }
        try leaf.performAndWait { () throws in
            #expect(try Nodes.all(in: leaf) == [node])
            #expect(node.objectID == id && leaf.registeredObjects == [node])
        }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in #expect(try Nodes.all(in: fresh).map(\.objectID) == [id]) }
        middle.performAndWait { middle.retainsRegisteredObjects = false }
    }

    @Test("A1: no context of three levels has two objects for one row, whatever is saved, merged and obtained")
    func oneObjectForEachRow() throws {
        for seed in Trials.seeds(40) {
            var family = try Family(seed)
            for _ in 0..<40 where !family.hasFailed { try family.step() }
            if !family.hasFailed { try family.finish() }
        }
    }

    @Test("A1, K2: one object for each row, while three levels insert, relate and save at once")
    func savesAtOnce() async throws {
        let stack = try LibraryStack(model: Nodes.model())
        let root = stack.context
        let middle = child(of: root)
        let leaf = child(of: middle)
        let contexts = [root, middle, leaf]
        for context in contexts {
            await context.perform {
                context.retainsRegisteredObjects = true
                context.automaticallyMergesChangesFromParent = context.parent != nil
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (level, context) in contexts.enumerated() {
                group.addTask {
                    for index in 0..<40 {
                        try await context.perform {
                            let node = Nodes.insert("\(level) \(index)", into: context)
                            let others = try Nodes.all(in: context)
                            node.setValue(others[index % others.count], forKey: "owner")
                            node.mutableSetValue(forKey: "friends").add(others[(index * 7) % others.count])
                            if index % 5 == 0 { try context.obtainPermanentIDs(for: [node]) }
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for context in [leaf, middle, root] { try await context.perform { try context.save() } }
        let fresh = stack.newContext()
        let stored = try await fresh.perform { try Nodes.picture(of: fresh) }
        for context in contexts {
            for _ in 0..<3 { await context.perform(schedule: .enqueued) {} }
            let names = await context.perform { context.registeredObjects.map { Nodes.name($0) } }
            #expect(names.count == 120 && Set(names).count == 120)
            let mine = try await context.perform {
                context.refreshAllObjects()
                return try Nodes.picture(of: context)
            }
            #expect(mine == stored)
            await context.perform { context.retainsRegisteredObjects = false }
        }
    }

    @Test(
        "A1, K2: members that the middle has read before anything is saved are the same objects in the leaf afterwards")
    func membersReadBeforeSaves() throws {
        let stack = try LibraryStack(model: Nodes.model())
        let root = stack.context
        let middle = child(of: root)
        let leaf = child(of: middle)
        let ownerID = try root.performAndWait {
            let owner = Nodes.insert("owner", into: root)
            try root.save()
            return owner.objectID
        }
        let held = middle.performAndWait {
            let owner = middle.object(with: ownerID)
            #expect(Nodes.targets(owner.value(forKey: "children")).isEmpty)
            return owner
        }
        let node = try leaf.performAndWait {
            let node = Nodes.insert("a", into: leaf)
            node.setValue(leaf.object(with: ownerID), forKey: "owner")
            node.setValue(leaf.object(with: ownerID), forKey: "shelf")
            try leaf.save()
            return node
        }
        for context in [middle, root] { try context.performAndWait { try context.save() } }
        let other = child(of: middle)
        for context in [leaf, other] {
            try context.performAndWait { () throws in
                context.refreshAllObjects()
                let owner = context.object(with: ownerID)
                let children = Nodes.targets(owner.value(forKey: "children"))
                let items = Nodes.targets(owner.value(forKey: "items"))
                let found = try Nodes.all(in: context).filter { Nodes.name($0) == "a" }
                #expect(children.count == 1 && children == found && items == found)
                #expect(context !== leaf || found == [node])
                #expect(children.allSatisfy { !$0.objectID.isTemporaryID })
            }
        }
        // What the leaf takes out is out in the store.
        try leaf.performAndWait { () throws in
            let owner = leaf.object(with: ownerID)
            owner.mutableSetValue(forKey: "children").removeAllObjects()
            owner.mutableOrderedSetValue(forKey: "items").removeAllObjects()
            try leaf.save()
        }
        for context in [middle, root] { try context.performAndWait { try context.save() } }
        let fresh = stack.newContext()
        try fresh.performAndWait { () throws in
            #expect(Nodes.targets(fresh.object(with: ownerID).value(forKey: "children")).isEmpty)
            #expect(Nodes.targets(fresh.object(with: ownerID).value(forKey: "items")).isEmpty)
            #expect(try Nodes.all(in: fresh).count == 2)
        }
        middle.performAndWait { withExtendedLifetime(held) {} }
    }

    private struct Family {
        let stack: LibraryStack
        /// The root, its two children, and a child of each of these.
        let contexts: [NSManagedObjectContext]
        let saves: [NotificationSaves]
        let seed: UInt64
        var numbers: SeededNumbers
        /// Who is held, of each context.
        var held: [[NSManagedObject]]
        var count = 0
        var hasFailed = false

        init(_ seed: UInt64) throws {
            self.seed = seed
            numbers = SeededNumbers(seed: seed)
            stack = try LibraryStack(model: Nodes.model())
            func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
                let child = NSManagedObjectContext(.privateQueue)
                child.parent = parent
                return child
            }
            let root = stack.context
            let (one, other) = (child(of: root), child(of: root))
            contexts = [root, one, other, child(of: one), child(of: other)]
            saves = contexts.map { NotificationSaves($0) }
            held = contexts.map { _ in [] }
            try stack.story { context in
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                for name in ["a", "b"] { _ = Nodes.insert(name, into: context) }
                try context.save()
            }
        }

        mutating func step() throws {
            let number = numbers.below(contexts.count)
            let context = contexts[number]
            count += 1
            try context.performAndWait {
                switch numbers.below(9) {
                case 0, 1: held[number].append(Nodes.insert("n\(count)", into: context))
                case 2, 3: try Nodes.edit(context, &numbers, name: "n\(count)")
                case 4: held[number] += try Nodes.all(in: context)
                case 5:
                    let mine = Array(context.registeredObjects).filter { $0.objectID.isTemporaryID }
                        .sorted { Nodes.name($0) < Nodes.name($1) }
                    if !mine.isEmpty { try context.obtainPermanentIDs(for: [numbers.pick(mine)]) }
                case 6: if numbers.chance(2) { held[number] = [] } else { context.refreshAllObjects() }
                case 7:
                    if let note = numbers.pick(saves).last { context.mergeChanges(fromContextDidSave: note) }
                default: try context.save()
                }
            }
            try check()
        }

        mutating func check() throws {
            for (number, context) in contexts.enumerated() {
                let names = context.performAndWait {
                    context.registeredObjects.filter { !$0.isDeleted && $0.managedObjectContext === context }
                        .map { Nodes.name($0) }.sorted()
                }
                if names.contains("nil") {
                    fail("context \(number) has one without a row: \(names)")
                }
                if Set(names).count != names.count { fail("context \(number) has two of one row: \(names)") }
                let found = try context.performAndWait { try Nodes.all(in: context).map { Nodes.name($0) } }
                if Set(found).count != found.count { fail("context \(number) finds two of one row: \(found)") }
            }
        }

        mutating func fail(_ text: String) {
            hasFailed = true
            Issue.record("seed \(seed), step \(count): \(text)")
        }

        /// All is saved: everybody has what the store has.
        mutating func finish() throws {
            for number in [3, 4, 1, 2, 0] {
                let context = contexts[number]
                try context.performAndWait { try context.save() }
            }
            for context in contexts { context.performAndWait { context.refreshAllObjects() } }
            try check()
            let fresh = stack.newContext()
            let stored = try fresh.performAndWait { try Nodes.picture(of: fresh) }
            for (number, context) in contexts.enumerated() {
                let mine = try context.performAndWait { try Nodes.picture(of: context) }
                if mine != stored { fail("context \(number) has\n\(mine)\nthe store\n\(stored)") }
                let temporary = context.performAndWait {
                    context.registeredObjects.filter { $0.objectID.isTemporaryID }.count
                }
                if temporary > 0 { fail("context \(number) has \(temporary) temporary IDs of what is saved") }
            }
        }
    }
}
