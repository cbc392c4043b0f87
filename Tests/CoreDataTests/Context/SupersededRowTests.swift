import CoreData
import Foundation
import TestSupport
import Testing

/// Semantics B1, B5: a fault that came with a row shows what the coordinator's store has when it is read, not when it came.
@Suite struct SupersededRowTests {
    /// How the fault got its row.
    enum Way: CaseIterable { case fetched, refreshed, prefetched, member }

    private func faults(_ way: Way, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        switch way {
        case .fetched: return try context.fetch(request)
        case .refreshed:
            let nodes = try context.fetch(request)
            for node in nodes {
                _ = Nodes.name(node)
                context.refresh(node, mergeChanges: false)
            }
            return nodes
        case .prefetched:
            request.predicate = NSPredicate(format: "owner != nil")
            request.relationshipKeyPathsForPrefetching = ["owner"]
            let nodes = try context.fetch(request)
            let owner = nodes.first?.value(forKey: "owner") as? NSManagedObject
            return nodes.dropFirst() + (owner.map { [$0] } ?? [])
        case .member:
            request.predicate = NSPredicate(format: "ANY children.name != nil")
            return try context.fetch(request).flatMap { Nodes.targets($0.value(forKey: "children")) }
        }
    }

    private func stack() throws -> LibraryStack {
        let stack = try LibraryStack(model: Nodes.model())
        try stack.story { context in
            let owner = Nodes.insert("owner", into: context)
            for name in ["a", "b", "c"] { Nodes.insert(name, into: context).setValue(owner, forKey: "owner") }
            try context.save()
        }
        return stack
    }

    @Test("It has what a save of the same coordinator has written since", arguments: Way.allCases)
    func replaced(_ way: Way) throws {
        let stack = try stack()
        let reading = stack.newContext()
        let found = try reading.performAndWait { try faults(way, in: reading) }
        #expect(reading.performAndWait { !found.isEmpty && found.allSatisfy(\.isFault) })
        try stack.story { context in
            for node in try Nodes.all(in: context) { node.setValue(5, forKey: "note") }
            try context.save()
        }
        try reading.performAndWait { () throws in
            for node in found {
                #expect(node.value(forKey: "note") as? Int == 5, "\(way)")
                node.setValue(6, forKey: "note")
            }
            try reading.save()
        }
    }

    @Test("It is gone where the row was deleted since", arguments: Way.allCases)
    func deleted(_ way: Way) throws {
        let stack = try stack()
        let reading = stack.newContext()
        let found = try reading.performAndWait { try faults(way, in: reading) }
        try stack.story { context in
            for node in try Nodes.all(in: context) { context.delete(node) }
            try context.save()
        }
        try reading.performAndWait { () throws in
            for (number, node) in found.enumerated() {
                if number.isMultiple(of: 2) {
                    #expect(throws: CocoaError.self) { try reading.existingObject(with: node.objectID) }
                }
                #expect(node.value(forKey: "name") == nil, "\(way)")
            }
            try reading.save()
        }
    }

    @Test("What another context saves between fetching and reading is read, both sides of it")
    func randomEdits() throws {
        for seed in Trials.seeds(25) {
            let stack = try stack()
            let (reading, writing) = (stack.newContext(), stack.context)
            var numbers = SeededNumbers(seed: seed)
            for round in 0..<10 {
                // Some of it is read before the save, members too.
                let found = try reading.performAndWait { () throws in
                    reading.refreshAllObjects()
                    let found = try Nodes.all(in: reading).map { node in
                        reading.refresh(node, mergeChanges: false)
                        return node
                    }
                    for node in found where numbers.chance(3) { _ = Nodes.targets(node.value(forKey: "children")) }
                    for node in found where numbers.chance(2) { reading.refresh(node, mergeChanges: false) }
                    return found
                }
                let saves = NotificationSaves(writing)
                try writing.performAndWait { () throws in
                    for _ in 0..<3 { try Nodes.edit(writing, &numbers, name: "n\(round)", mayDelete: true) }
                    try writing.save()
                }
                try reading.performAndWait { () throws in
                    for node in found where numbers.chance(2) { _ = node.value(forKey: "note") }
                    if let saved = saves.last { reading.mergeChanges(fromContextDidSave: saved) }
                    #expect(try Nodes.differences(in: reading).isEmpty, "seed \(seed), round \(round)")
                    let mine = try Nodes.picture(of: reading)
                    #expect(try mine == writing.performAndWait { try Nodes.picture(of: writing) }, "seed \(seed)")
                    for node in try Nodes.all(in: reading) { node.setValue(round, forKey: "note") }
                    try reading.save()
                }
                writing.performAndWait { writing.refreshAllObjects() }
            }
        }
    }

    @Test(
        "It has what was saved since in stores of one file, too", arguments: [NSPersistentStore.StoreType.xml, .binary])
    func replacedInFiles(_ type: NSPersistentStore.StoreType) throws {
        let stack = try LibraryStack(model: Nodes.model())
        try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
        _ = try stack.coordinator.addPersistentStore(type: type, at: stack.folder.appendingPathComponent("store"))
        let (context, other) = (stack.context, stack.newContext())
        try context.performAndWait { () throws in
            let (kept, gone) = (Nodes.insert("kept", into: context), Nodes.insert("gone", into: context))
            try context.save()
            for node in [kept, gone] { context.refresh(node, mergeChanges: false) }
            try other.performAndWait {
                other.object(with: kept.objectID).setValue(1, forKey: "note")
                other.delete(other.object(with: gone.objectID))
                try other.save()
            }
            #expect(kept.value(forKey: "note") as? Int == 1)
            #expect(throws: CocoaError.self) { try context.existingObject(with: gone.objectID) }
            kept.setValue(2, forKey: "note")
            try context.save()
        }
    }

    /// What the parent does between the child's fetch and its reading.
    enum Change: CaseIterable { case save, edit, editTwice, rollback, delete, deleteUnprocessed, refresh }

    @Test(
        "In a child it has what the parent has when it is read, saved or not, whatever the parent keeps in memory",
        arguments: Change.allCases, [false, true])
    func ofAParent(_ change: Change, _ parentForgets: Bool) throws {
        let stack = try LibraryStack(model: Nodes.model())
        let parent = stack.context
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        var kept: [NSManagedObject] = []
        let id = try parent.performAndWait {
            let node = Nodes.insert("n", into: parent)
            node.setValue(1, forKey: "note")
            try parent.save()
            if change == .editTwice || change == .rollback { node.setValue(2, forKey: "note") }
            if !parentForgets { kept.append(node) }
            return node.objectID
        }
        let fault = try child.performAndWait {
            try #require(try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Node")).first)
        }
        try parent.performAndWait {
            let node = parent.object(with: id)
            switch change {
            case .save:
                node.setValue(10, forKey: "note")
                try parent.save()
            case .edit, .editTwice: node.setValue(10, forKey: "note")
            case .rollback: parent.rollback()
            case .delete:
                parent.delete(node)
                parent.processPendingChanges()
            case .deleteUnprocessed: parent.delete(node)
            case .refresh:
                node.setValue(10, forKey: "note")
                parent.refresh(node, mergeChanges: false)
            }
        }
        let isGone = [.delete, .deleteUnprocessed].contains(change)
        let expected: Int? = isGone ? nil : [.rollback, .refresh].contains(change) ? 1 : 10
        child.performAndWait { #expect(fault.value(forKey: "note") as? Int == expected, "\(change)") }
        withExtendedLifetime(kept) {}
    }
}
