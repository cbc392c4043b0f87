import CoreData
import Foundation
import Testing

@testable import CoreDataPermissions

/// What an accessor may write.
@Suite struct SavingTests {
    typealias M = ModelMaking

    /// Runs a change in a context of the accessor, and returns the refusal, or `nil`. A refused save leaves store and
    /// context as they were.
    private func refusal(
        _ shop: Shop, _ accessor: Accessor, _ change: (NSManagedObjectContext) throws -> Void
    ) throws -> AccessDenied? {
        let before = try contents(of: shop)
        return try shop.story(accessor) { context in
            try change(context)
            context.processPendingChanges()
            let changes = [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
            do {
                try context.save()
                return nil
            } catch let denied as AccessDenied {
                #expect(
                    [context.insertedObjects.count, context.updatedObjects.count, context.deletedObjects.count]
                        == changes)
                #expect(try contents(of: shop) == before)
                return denied
            }
        }
    }

    private func contents(of shop: Shop) throws -> [String] {
        try shop.unrestricted { context in
            context.reset()
            return try ["List", "Item", "Unit", "Tag", "Entry"].flatMap { entity in
                try context.fetch(context.request(entity)).map { object in
                    let values = object.entity.attributesByName.keys.sorted().map {
                        "\(object.value(forKey: $0) ?? "nil")"
                    }
                    let ends = object.entity.relationshipsByName.keys.sorted().map { name in
                        object.objectIDs(forRelationshipNamed: name).map { "\($0.uriRepresentation())" }.sorted()
                            .joined()
                    }
                    return "\(object.objectID.uriRepresentation()) \(values) \(ends)"
                }
            }.sorted()
        }
    }

    private func list(_ context: NSManagedObjectContext, _ name: String = "Home") throws -> NSManagedObject {
        try #require(try context.one("List", name))
    }

    private func item(_ context: NSManagedObjectContext, _ name: String = "Home milk") throws -> NSManagedObject {
        try #require(try context.one("Item", name))
    }

    @Test(arguments: TestedStore.available)
    func editorChangesItems(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let denied = try refusal(shop, Groceries.member()) { context in
            try item(context).setValue("Oat milk", forKey: "name")
            context.make("Item", ["name": "Bread", "list": try list(context)])
        }
        #expect(denied == nil)
        #expect(try shop.unrestricted { try $0.names("Item", "list.name == 'Home'") } == ["Bread", "Oat milk"])
        // The value that she does not read is still there.
        #expect(try shop.unrestricted { try $0.one("Item", "Oat milk")?.value(forKey: "price") as? Int } == 4)
    }

    @Test(arguments: TestedStore.available)
    func viewerChangesNothing(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let viewer = Accessor(account: UUID(), groups: [Groceries.home: "viewer"])
        let rule = "role:owner, role:editor"
        let updated = try refusal(shop, viewer) { try item($0).setValue("x", forKey: "name") }
        #expect(updated == AccessDenied(.update, "Item", rule: rule))
        let created = try refusal(shop, viewer) { $0.make("Item", ["name": "x", "list": try list($0)]) }
        #expect(created?.verb == .create && created?.entity == "Item" && created?.rule == rule)
        let deleted = try refusal(shop, viewer) { $0.delete(try item($0)) }
        #expect(deleted == AccessDenied(.delete, "Item", rule: rule))
    }

    /// Roles count in the object's own group.
    @Test(arguments: TestedStore.available)
    func nobodyMovesAnObjectIntoAnotherGroup(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let both = Accessor(account: Groceries.ann, groups: [Groceries.home: "editor", Groceries.office: "viewer"])
        let into = try refusal(shop, both) { try item($0).setValue(try list($0, "Office"), forKey: "list") }
        #expect(into?.verb == .update && into?.isNew == true && into?.entity == "Item")
        let outOf = try refusal(shop, both) { try item($0, "Office milk").setValue(try list($0), forKey: "list") }
        #expect(outOf?.verb == .update && outOf?.isNew == false)
        // From the other side of the relationship.
        let other = try refusal(shop, both) { context in
            try list(context, "Office").mutableOrderedSetValue(forKey: "items").add(try item(context))
        }
        #expect(other?.verb == .update && other?.entity == "Item")
        let household = try refusal(shop, both) { try list($0).setValue(Groceries.office, forKey: "household") }
        #expect(household?.isNew == true && household?.entity == "List")
        let created = try refusal(shop, both) { $0.make("Item", ["name": "x", "list": try list($0, "Office")]) }
        #expect(created?.verb == .create)
    }

    /// A list and its item, new in one save: the rule of the item follows the new list.
    @Test(arguments: TestedStore.available)
    func rulesFollowNewObjects(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let denied = try refusal(shop, Groceries.member()) { context in
            let list = context.make("List", ["name": "New", "household": Groceries.home])
            context.make("Item", ["name": "x", "list": list])
        }
        #expect(denied == nil)
        let foreign = try refusal(shop, Groceries.member()) { context in
            let list = context.make("List", ["name": "Foreign", "household": Groceries.office])
            context.make("Item", ["name": "x", "list": list])
        }
        #expect(foreign?.verb == .create)
    }

    @Test(arguments: TestedStore.available)
    func propertyHasARuleOfItsOwn(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let updated = try refusal(shop, Groceries.member()) { try item($0).setValue(7, forKey: "price") }
        #expect(updated == AccessDenied(.update, "Item", property: "price", rule: "role:owner"))
        let created = try refusal(shop, Groceries.member()) {
            $0.make("Item", ["name": "x", "list": try list($0), "price": 3])
        }
        #expect(created?.property == "price")
        #expect(try refusal(shop, Groceries.member("owner")) { try item($0).setValue(7, forKey: "price") } == nil)
    }

    /// A hidden object is refused as one that is missing.
    @Test(arguments: TestedStore.available)
    func hiddenObjectCannotBeReferredTo(store: TestedStore) throws {
        let shop = try Shop(store) { $0.allow(.create, "Item", "signedIn") }
        try shop.fill()
        let id = try shop.unrestricted { try list($0, "Office").objectID }
        try shop.story(Groceries.member()) { context in
            context.make("Item", ["name": "x", "list": context.object(with: id)])
            let error = try #require(throws: NSError.self) { try context.save() as Void } as NSError
            #expect(error.code == NSManagedObjectMergeError)
            context.rollback()
            // Past the context, by a batch request.
            let request = NSBatchInsertRequest(entityName: "Item", objects: [["name": "x", "list": id]])
            let denied = try #require(throws: AccessDenied.self) { try context.execute(request) }
            #expect(denied.property == "list")
            #expect(denied.description.contains("does not exist or may not be read"))
        }
        #expect(try shop.unrestricted { try $0.names("Item", "name == 'x'") } == [])
    }

    @Test(arguments: TestedStore.available)
    func deletionsCascadeOnlyToWhatMayBeDeleted(store: TestedStore) throws {
        let shop = try Shop(store) { $0.allow(.delete, "Item", "nobody") }
        try shop.fill()
        let denied = try refusal(shop, Groceries.member("owner")) { $0.delete(try list($0)) }
        #expect(denied == AccessDenied(.delete, "Item", rule: "nobody"))
        // Items of another household refer to the unit, and this context does not see them.
        let unit = try refusal(shop, Groceries.member("owner")) { $0.delete(try #require(try $0.one("Unit", "kg"))) }
        #expect(unit?.verb == .delete && unit?.entity == "Unit")
        #expect(unit?.description.contains("may not read") == true)
    }

    @Test func hiddenCascadeIsRefused() throws {
        let shop = try Shop(.file) { rules in
            rules.allow(.read, "Item", "role:owner")
            rules.allow(.delete, "List", "group")
        }
        try shop.fill()
        let denied = try refusal(shop, Groceries.member()) { $0.delete(try list($0)) }
        #expect(denied?.entity == "List" && denied?.verb == .delete)
    }

    @Test(arguments: TestedStore.available)
    func membersAreCheckedOnBothSides(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        // Tags may not be updated, but `allow.update` of their items says who adds and removes members.
        let added = try refusal(shop, Groceries.member()) { context in
            let fresh = try #require(try context.one("Tag", "fresh"))
            let bread = context.make("Item", ["name": "Bread", "list": try list(context)])
            fresh.mutableSetValue(forKey: "items").add(bread)
            fresh.mutableSetValue(forKey: "items").remove(try item(context))
        }
        #expect(added == nil)
        #expect(
            try shop.unrestricted { try $0.names("Item", "tags.@count > 0") } == ["Bread", "Office milk", "Party milk"])
        let closed = try Shop(store) { $0.allow(.update, "items", of: "Tag", "nobody") }
        try closed.fill()
        let denied = try refusal(closed, Groceries.member()) { context in
            try item(context).mutableSetValue(forKey: "tags").removeAllObjects()
        }
        #expect(denied == AccessDenied(.update, "Tag", property: "items", rule: "nobody"))
    }

    @Test func childSavesThroughItsParent() throws {
        let shop = try Shop()
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                try item(child).setValue(3, forKey: "price")
                try child.save()
            }
            #expect(throws: AccessDenied.self) { try context.save() }
            #expect(child.performAndWait { child.accessor } == Groceries.member())
            context.rollback()
            try child.performAndWait {
                child.reset()
                try item(child).setValue("x", forKey: "name")
                try child.save()
            }
            try context.save()
        }
        #expect(try shop.unrestricted { try $0.names("Item", "list.name == 'Home'") } == ["x"])
    }

    /// A row that became hidden is as one that was deleted.
    @Test(arguments: TestedStore.available)
    func objectThatBecameHiddenIsMissing(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .overwrite] {
            try shop.story(Groceries.member()) { context in
                context.mergePolicy = policy
                let milk = try item(context)
                _ = milk.value(forKey: "name")
                try shop.unrestricted {
                    try item($0).setValue(try list($0, "Office"), forKey: "list")
                    try $0.save()
                }
                milk.setValue("stolen", forKey: "name")
                // The other policies drop the object, as one that was deleted.
                if policy === NSMergePolicy.error {
                    let error = try #require(throws: NSError.self) { try context.save() as Void } as NSError
                    #expect(error.code == NSManagedObjectMergeError)
                } else {
                    try? context.save()
                }
            }
            try shop.unrestricted {
                #expect(try $0.names("Item", "name == 'stolen'") == [])
                try item($0).setValue(try list($0), forKey: "list")
                try $0.save()
            }
        }
    }

    /// A conflict must not reveal the values that another context saved.
    @Test(arguments: TestedStore.available)
    func conflictsShowNoHiddenValues(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            let milk = try item(context)
            _ = milk.value(forKey: "name")
            try shop.unrestricted {
                try item($0).setValue(99, forKey: "price")
                try $0.save()
            }
            milk.setValue("mine", forKey: "name")
            let error = try #require(throws: NSError.self) { try context.save() as Void } as NSError
            #expect(error.code == NSManagedObjectMergeError)
            let conflict = try #require(
                (error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict])?.first)
            for snapshot in [conflict.persistedSnapshot, conflict.cachedSnapshot, conflict.objectSnapshot] {
                #expect(snapshot?["price"] as? Int != 99)
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(try shop.unrestricted { try $0.one("Item", "mine")?.value(forKey: "price") as? Int } == 99)
    }

    @Test func takenValueDoesNotNameItsObject() throws {
        let model = Groceries.model()
        model.entitiesByName["List"]?.uniquenessConstraints = [["name", "household"]]
        model.entitiesByName["List"]?.userInfo?["allow.create"] = "signedIn"
        let shop = try Shop(model: model)
        try shop.fill()
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite] {
            try shop.story(Groceries.member()) { context in
                context.mergePolicy = policy
                context.make("List", ["name": "Office", "household": Groceries.office])
                let error = try #require(throws: NSError.self) { try context.save() as Void } as NSError
                #expect(error.code == NSManagedObjectConstraintMergeError)
                #expect(error.userInfo[NSPersistentStoreSaveConflictsErrorKey] == nil)
            }
        }
        #expect(try shop.unrestricted { try $0.names("List") } == ["Home", "Office", "Party"])
        // Its own household: the policy works as always.
        try shop.story(Groceries.member()) { context in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            context.make("List", ["name": "Home", "household": Groceries.home, "isPublic": true])
            try context.save()
        }
        #expect(try shop.unrestricted { try $0.names("List", "isPublic == YES") } == ["Home", "Party"])
    }

    @Test(arguments: TestedStore.available)
    func questionsAboutObjects(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            let milk = try item(context)
            let party = try list(context, "Party")
            #expect(try context.may(.read, milk) && context.may(.update, milk) && context.may(.delete, milk))
            #expect(try !context.may(.update, party) && context.may(.read, party))
            #expect(try !context.may(.read, "price", of: milk) && context.may(.update, "name", of: milk))
            #expect(try context.may(.read, "secret", of: try list(context)))
            #expect(try !context.may(.read, "secret", of: party))
            #expect(try context.may(.create, context.make("Item")))
            #expect(try !context.may(.create, context.make("Tag")))
        }
        try shop.unrestricted { context in
            let isAllowed = try context.may(.delete, item(context))
            #expect(isAllowed && context.accessor == nil)
        }
    }
}
