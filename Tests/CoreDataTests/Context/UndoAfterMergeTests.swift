import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreData

// semantics J, L: what undo and merge policies put back, where rows came, went and changed meanwhile
@Suite struct UndoAfterMergeTests {
    /// Owner: name, pets ↔ Pet.owner (cascade), items ↔ Item.list (ordered, nullify), tags ↔ Tag.owners.
    private final class Household {
        let folder: URL
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        let other: NSManagedObjectContext
        let undo = UndoManager()
        let owner: NSManagedObject
        let pet: NSManagedObject
        let items: [NSManagedObject]
        let tag: NSManagedObject

        init() throws {
            let model = NSManagedObjectModel()
            let names = ["Owner", "Pet", "Item", "Tag"]
            model.entities = names.map { name in
                let entity = Library.entity(name, nil)
                entity.properties = [Library.attribute("name", .stringAttributeType)]
                return entity
            }
            func relate(
                _ slot: String, _ destination: String, _ back: String, _ rule: NSDeleteRule, ordered: Bool = false,
                many: Bool = false
            ) {
                let (forth, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
                (forth.name, forth.deleteRule, forth.isOrdered, forth.isOptional) = (slot, rule, ordered, true)
                (inverse.name, inverse.maxCount, inverse.isOptional) = (back, many ? 0 : 1, true)
                inverse.deleteRule = .nullifyDeleteRule
                forth.destinationEntity = model.entitiesByName[destination]
                inverse.destinationEntity = model.entitiesByName["Owner"]
                (forth.inverseRelationship, inverse.inverseRelationship) = (inverse, forth)
                model.entitiesByName["Owner"]?.properties.append(forth)
                model.entitiesByName[destination]?.properties.append(inverse)
            }
            relate("pets", "Pet", "owner", .cascadeDeleteRule)
            relate("items", "Item", "list", .nullifyDeleteRule, ordered: true)
            relate("tags", "Tag", "owners", .nullifyDeleteRule, many: true)
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("household-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(type: .sqlite, at: folder.appendingPathComponent("a.sqlite"))
            func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = coordinator
                return context
            }
            (self.context, other) = (context(coordinator), context(coordinator))
            let mine = self.context
            func make(_ entity: String, _ name: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: mine)
                object.setValue(name, forKey: "name")
                return object
            }
            owner = make("Owner", "p")
            pet = make("Pet", "x")
            items = ["i", "j", "k"].map { make("Item", $0) }
            tag = make("Tag", "t")
            pet.setValue(owner, forKey: "owner")
            owner.setValue(NSOrderedSet(array: items), forKey: "items")
            owner.setValue(NSSet(object: tag), forKey: "tags")
            try mine.save()
            undo.groupsByEvent = false
            mine.undoManager = undo
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func step(_ body: () -> Void) {
            undo.beginUndoGrouping()
            body()
            context.processPendingChanges()
            undo.endUndoGrouping()
        }

        /// The other context saves, and this one merges that.
        func merging(_ body: (NSManagedObjectContext, (NSManagedObject) -> NSManagedObject) throws -> Void) throws {
            nonisolated(unsafe) var saved: Notification?
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: other, queue: nil
            ) { saved = $0 }
            defer { NotificationCenter.default.removeObserver(token) }
            try body(other, { self.other.object(with: $0.objectID) })
            try other.save()
            context.mergeChanges(fromContextDidSave: try #require(saved))
        }

        func add(_ entity: String, _ name: String, to context: NSManagedObjectContext? = nil) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context ?? self.context)
            object.setValue(name, forKey: "name")
            return object
        }

        static func picture(_ owner: NSManagedObject) -> String {
            let sets = ["pets", "items", "tags"].map { key in
                let names: [String] =
                    key == "items"
                    ? (owner.value(forKey: key) as? NSOrderedSet)?.compactMap {
                        ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                    } ?? []
                    : ((owner.value(forKey: key) as? Set<NSManagedObject>)?.compactMap {
                        $0.value(forKey: "name") as? String
                    } ?? []).sorted()
                return "\(key) \(names.joined(separator: ","))"
            }
            return "\(owner.value(forKey: "name") ?? "nil"): " + sets.joined(separator: " ")
        }

        /// The owner as this context has it and as the store does, which must be the same.
        func picture() throws -> String {
            let fresh = NSManagedObjectContext(.privateQueue)
            fresh.persistentStoreCoordinator = coordinator
            let stored = Self.picture(try fresh.existingObject(with: owner.objectID))
            #expect(Self.picture(owner) == stored)
            return stored
        }
    }

    @Test("J2: a new member and its owner's deletion are undone and redone", arguments: [false, true])
    func newMembersOfDeletedOwners(_ inOneEvent: Bool) throws {
        let house = try Household()
        if inOneEvent {
            house.step {
                _ = { $0.setValue(house.owner, forKey: "owner") }(house.add("Pet", "y"))
                house.context.delete(house.owner)
            }
        } else {
            house.step { house.add("Pet", "y").setValue(house.owner, forKey: "owner") }
            house.step { house.context.delete(house.owner) }
        }
        for _ in 0..<3 {
            while house.undo.canUndo { house.undo.undo() }
            #expect(Household.picture(house.owner) == "p: pets x items i,j,k tags t")
            #expect(!house.owner.isDeleted && house.context.insertedObjects.isEmpty)
            while house.undo.canRedo { house.undo.redo() }
            #expect(house.owner.isDeleted && house.pet.isDeleted)
            #expect(house.context.insertedObjects.isEmpty)
        }
        while house.undo.canUndo { house.undo.undo() }
        try house.context.save()
        #expect(try house.picture() == "p: pets x items i,j,k tags t")
        while house.undo.canRedo { house.undo.redo() }
        try house.context.save()
        let left = try ["Owner", "Pet"].map {
            try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
        }
        #expect(left == [0, 0])
    }

    @Test("J2, L: a deletion is undone with all that it did, also after the row was changed by another context")
    func deletionsAfterMerges() throws {
        let house = try Household()
        house.step { house.context.delete(house.owner) }
        try house.merging { other, same in
            let owner = same(house.owner)
            owner.setValue("there", forKey: "name")
            house.add("Pet", "new", to: other).setValue(owner, forKey: "owner")
            house.add("Tag", "u", to: other).setValue(NSSet(object: owner), forKey: "owners")
        }
        house.undo.undo()
        #expect(!house.undo.canUndo, "the merge is no step")
        try house.context.save()
        #expect(try house.picture() == "there: pets new,x items i,j,k tags t,u")
        house.undo.redo()
        try house.context.save()
        #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Pet")) == 0)
        #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 3)
    }

    @Test("J2, L: who was deleted by another context does not come back into relationships")
    func membersThatAreGone() throws {
        let house = try Household()
        house.step {
            house.pet.setValue(nil, forKey: "owner")
            house.owner.setValue(NSOrderedSet(array: [house.items[2]]), forKey: "items")
            house.owner.setValue(NSSet(), forKey: "tags")
        }
        try house.merging { other, same in
            for object in [house.pet, house.items[0], house.tag] { other.delete(same(object)) }
        }
        house.undo.undo()
        try house.context.save()
        #expect(try house.picture() == "p: pets  items j,k tags ")
        house.context.delete(house.owner)
        try house.context.save()
    }

    @Test("J2, L: a to-one does not lead back to what another context deleted", arguments: [false, true])
    func destinationsThatAreGone(_ forgets: Bool) throws {
        let house = try Household()
        let dog = house.add("Pet", "dog")
        try house.context.save()
        house.step { house.pet.setValue(nil, forKey: "owner") }
        house.step { dog.setValue(house.owner, forKey: "owner") }
        house.step { dog.setValue(nil, forKey: "owner") }
        house.step { house.items[1].setValue(nil, forKey: "list") }
        try house.context.save()
        if forgets { house.context.refreshAllObjects() }
        try house.merging { other, same in other.delete(same(house.owner)) }
        while house.undo.canUndo {
            house.undo.undo()
            try house.context.save()
        }
        while house.undo.canRedo {
            house.undo.redo()
            try house.context.save()
        }
        #expect(dog.value(forKey: "owner") == nil && house.items[1].value(forKey: "list") == nil)
        #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner")) == 0)
    }

    @Test("J2: what comes back to an order comes back to its place", arguments: [false, true], [false, true])
    func places(_ saves: Bool, _ forgets: Bool) throws {
        let house = try Household()
        house.step { house.items[1].setValue(nil, forKey: "list") }
        if saves { try house.context.save() }
        if forgets { house.context.refreshAllObjects() }
        house.undo.undo()
        try house.context.save()
        #expect(try house.picture() == "p: pets x items i,j,k tags t")
        house.undo.redo()
        try house.context.save()
        #expect(try house.picture() == "p: pets x items i,k tags t")
    }

    @Test("J2, L: what others added stays when a replacement is undone")
    func membersThatCame() throws {
        let house = try Household()
        house.step {
            house.owner.setValue(NSSet(), forKey: "pets")
            house.owner.setValue(NSSet(), forKey: "tags")
            house.owner.setValue(NSOrderedSet(array: [house.items[1]]), forKey: "items")
        }
        try house.merging { other, same in
            let owner = same(house.owner)
            house.add("Pet", "e", to: other).setValue(owner, forKey: "owner")
            house.add("Tag", "v", to: other).setValue(NSSet(object: owner), forKey: "owners")
            owner.mutableOrderedSetValue(forKey: "items").add(house.add("Item", "l", to: other))
        }
        house.undo.undo()
        try house.context.save()
        #expect(try house.picture() == "p: pets e,x items i,j,k,l tags t,v")
        house.context.delete(house.owner)
        try house.context.save()
        #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Pet")) == 0)
    }

    @Test("J2: an ordered relationship that undo has put back is unchanged")
    func movesThatAreUndone() throws {
        let house = try Household()
        let moves: [(NSMutableOrderedSet) -> Void] = [
            { $0.moveObjects(at: IndexSet(integer: 2), to: 0) }, { $0.exchangeObject(at: 0, withObjectAt: 1) },
            { $0.removeObject(at: 1) }, { $0.insert(house.add("Item", "n"), at: 1) }, { $0.removeAllObjects() },
        ]
        for (index, move) in moves.enumerated() {
            house.step { move(house.owner.mutableOrderedSetValue(forKey: "items")) }
            #expect(house.context.hasChanges)
            house.undo.undo()
            #expect(!house.context.hasChanges, "\(index): \(house.owner.changedValues())")
            #expect(Household.picture(house.owner) == "p: pets x items i,j,k tags t")
        }
        for move in moves { house.step { move(house.owner.mutableOrderedSetValue(forKey: "items")) } }
        while house.undo.canUndo { house.undo.undo() }
        #expect(!house.context.hasChanges, "\(house.owner.changedValues())")
        #expect(Household.picture(house.owner) == "p: pets x items i,j,k tags t")
    }

    @Test(
        "I8: what a deletion took out of relationships comes back with the object",
        arguments: [NSMergePolicy.mergeByPropertyStoreTrump, .rollback])
    func deletionsThatAreGivenUp(_ policy: NSMergePolicy) throws {
        let house = try Household()
        house.context.undoManager = nil
        house.context.mergePolicy = policy
        house.context.delete(house.owner)
        house.context.processPendingChanges()
        house.other.object(with: house.owner.objectID).setValue("there", forKey: "name")
        try house.other.save()
        try house.context.save()
        #expect(try house.picture() == "there: pets x items i,j,k tags t")
    }

    @Test("I8: to be taken out of relationships does not bring a row back", arguments: AbsorbingTests.mine)
    func rowsThatAreGoneStayGone(_ policy: NSMergePolicy) throws {
        let house = try Household()
        house.context.undoManager = nil
        house.context.mergePolicy = policy
        house.other.delete(house.other.object(with: house.owner.objectID))
        try house.other.save()
        house.owner.mutableSetValue(forKey: "tags").remove(house.tag)
        try house.context.save()
        #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner")) == 0)
    }

    @Test("I8, J3: what a policy let go of does not come back with undo, nor does what went with it", arguments: 0..<4)
    func whatPoliciesLetGoOf(_ way: Int) throws {
        let house = try Household()
        let (policy, cascades) = ([NSMergePolicy.mergeByPropertyStoreTrump, .rollback][way % 2], way > 1)
        house.context.mergePolicy = policy
        house.step { house.owner.setValue("mine", forKey: "name") }
        house.step { house.add("Pet", "new").setValue(house.owner, forKey: "owner") }
        let same = house.other.object(with: house.owner.objectID)
        if !cascades { same.setValue(NSSet(), forKey: "pets") }
        house.other.delete(same)
        try house.other.save()
        try house.context.save()
        func counts() throws -> [Int] {
            let fresh = NSManagedObjectContext(.privateQueue)
            fresh.persistentStoreCoordinator = house.coordinator
            return try ["Owner", "Pet", "Item"].map {
                try fresh.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
            }
        }
        #expect(try counts().first == 0)
        let saved = try counts()
        while house.undo.canUndo {
            house.undo.undo()
            #expect(house.context.insertedObjects.allSatisfy { $0.value(forKey: "name") as? String == "new" })
        }
        try house.context.save()
        #expect(try counts()[0] == 0 && counts()[2] == saved[2])
        #expect(try counts()[1] == (cascades ? 0 : 1))
        while house.undo.canRedo { house.undo.redo() }
        try house.context.save()
        #expect(try counts()[0] == 0)
    }

    @Test("E, L: an object that was looked at before its row came is found when it comes", arguments: [false, true])
    func rowsThatComeLate(_ deletes: Bool) throws {
        let ways: [(NSManagedObjectContext, NSManagedObject, Notification) throws -> Void] = [
            { context, object, _ in context.refresh(object, mergeChanges: false) },
            { context, _, _ in context.refreshAllObjects() },
            { context, object, _ in
                let found = try context.existingObject(with: object.objectID)
                #expect(found === object)
            },
            { context, _, saved in context.mergeChanges(fromContextDidSave: saved) },
            { context, object, _ in
                let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
                #expect(found.contains(object))
            },
        ]
        for (index, way) in ways.enumerated() {
            // A fetch asks for what is not to be deleted, before the rows are seen.
            if deletes, index == 4 { continue }
            let house = try Household()
            house.context.shouldDeleteInaccessibleFaults = deletes
            nonisolated(unsafe) var saved: Notification?
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: house.other, queue: nil
            ) { saved = $0 }
            defer { NotificationCenter.default.removeObserver(token) }
            let late = house.add("Owner", "late", to: house.other)
            try house.other.obtainPermanentIDs(for: [late])
            let early = house.context.object(with: late.objectID)
            #expect(early.value(forKey: "name") == nil)
            #expect(early.isDeleted == deletes)
            try house.other.save()
            try way(house.context, early, #require(saved))
            #expect(early.value(forKey: "name") as? String == "late", "\(index)")
            #expect(!early.isDeleted && !house.context.hasChanges, "\(index)")
            early.setValue("later", forKey: "name")
            try house.context.save()
            #expect(try house.context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner")) == 2)
        }
    }
}
