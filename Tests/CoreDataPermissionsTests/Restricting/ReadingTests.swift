import CoreData
import CoreDataPermissions
import Foundation
import Testing

/// Every way to read is tried by a stranger, who must find only what the rules allow.
@Suite struct ReadingTests {
    /// A way to read. It returns texts, and must not return one of a hidden object or value.
    struct Way: Sendable, CustomTestStringConvertible {
        var name: String
        var found: [String]
        var read: @Sendable (NSManagedObjectContext, Shop) throws -> [String]

        var testDescription: String { name }

        init(
            _ name: String, _ found: [String],
            _ read: @escaping @Sendable (NSManagedObjectContext, Shop) throws -> [String]
        ) {
            self.name = name
            self.found = found
            self.read = read
        }
    }

    private static func dictionaries(
        _ context: NSManagedObjectContext, _ entity: String, _ change: (NSFetchRequest<NSDictionary>) -> Void
    ) throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: entity)
        request.resultType = .dictionaryResultType
        change(request)
        return try context.fetch(request).map { row in
            row.allKeys.compactMap { $0 as? String }.sorted().map { "\(row[$0] ?? "nil")" }.joined(separator: " ")
        }.sorted()
    }

    private static func expression(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription
    {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(format: format)
        description.expressionResultType = type
        return description
    }

    private static func id(_ shop: Shop, _ entity: String, _ name: String) throws -> NSManagedObjectID {
        try shop.unrestricted { try #require(try $0.one(entity, name)).objectID }
    }

    /// Ben reads lists of the office and public ones, and as its owner the prices there. He owns both lists.
    static let ways: [Way] = [
        Way("fetch", ["Office", "Party"]) { context, _ in try context.names("List") },
        Way("fetch with a predicate", []) { context, _ in try context.names("List", "name == 'Home'") },
        Way("count", ["2"]) { context, _ in ["\(try context.count(for: context.request("List")))"] },
        Way("count result", ["2"]) { context, _ in
            let request = NSFetchRequest<NSNumber>(entityName: "List")
            request.resultType = .countResultType
            return try context.fetch(request).map { "\($0)" }
        },
        Way("IDs", ["2"]) { context, _ in
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "List")
            request.resultType = .managedObjectIDResultType
            return ["\(try context.fetch(request).count)"]
        },
        Way("batched", ["Office", "Party"]) { context, _ in
            let request = context.request("List")
            request.fetchBatchSize = 1
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }.sorted()
        },
        Way("limit and offset", ["Party"]) { context, _ in
            let request = context.request("List")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            (request.fetchLimit, request.fetchOffset) = (1, 1)
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        },
        Way("prefetch", ["Office milk", "Party milk"]) { context, _ in
            let request = context.request("List")
            request.relationshipKeyPathsForPrefetching = ["items.unit.items"]
            return try context.fetch(request).flatMap {
                ($0.value(forKey: "items") as? NSOrderedSet)?.compactMap {
                    ($0 as? NSManagedObject)?.value(forKey: "name") as? String
                }
                    ?? []
            }.sorted()
        },
        Way("dictionaries", ["Office", "Party"]) { context, _ in
            try dictionaries(context, "List") { $0.propertiesToFetch = ["name"] }
        },
        Way("sum", ["11"]) { context, _ in
            try dictionaries(context, "Item") {
                $0.propertiesToFetch = [expression("sum", "sum:(price)", .integer32AttributeType)]
            }
        },
        Way("groups", ["2 kg"]) { context, _ in
            try dictionaries(context, "Item") {
                $0.propertiesToFetch = [expression("count", "count:(name)", .integer32AttributeType), "unit.name"]
                $0.propertiesToGroupBy = ["unit.name"]
            }
        },
        Way("having", ["2 kg"]) { context, _ in
            try dictionaries(context, "Item") {
                $0.propertiesToFetch = [expression("count", "count:(name)", .integer32AttributeType), "unit.name"]
                $0.propertiesToGroupBy = ["unit.name"]
                $0.havingPredicate = NSPredicate(format: "count:(name) > 1")
            }
        },
        Way("to-many count in a predicate", ["kg"]) { context, _ in try context.names("Unit", "items.@count == 2") },
        Way("aggregate in a predicate", ["kg"]) { context, _ in try context.names("Unit", "items.@sum.rank == 2") },
        Way("ANY", []) { context, _ in try context.names("Unit", "ANY items.name BEGINSWITH 'Home'") },
        Way("ANY over two to-manys", []) { context, _ in
            try context.names("Tag", "ANY items.list.household == %@", Groceries.home)
        },
        Way("NONE", ["kg"]) { context, _ in try context.names("Unit", "NONE items.name BEGINSWITH 'Home'") },
        Way("SUBQUERY", []) { context, _ in
            try context.names("Unit", "SUBQUERY(items, $x, $x.list.name == 'Home').@count > 0")
        },
        Way("many-to-many", ["fresh"]) { context, _ in try context.names("Tag", "items.@count == 2") },
        Way("object in a predicate", []) { context, shop in
            let id = try id(shop, "List", "Home")
            return try context.names("Item", "list == %@", id) + (try context.names("Unit", "ANY items.list == %@", id))
        },
        Way("IN with a hidden object", []) { context, shop in
            let id = try id(shop, "List", "Home")
            return try context.names("List", "SELF IN %@", [id])
        },
        Way("existing object", ["133000"]) { context, shop in
            let id = try id(shop, "List", "Home")
            do { return ["\(try context.existingObject(with: id))"] } catch { return ["\((error as NSError).code)"] }
        },
        Way("fault", ["nil"]) { context, shop in
            context.shouldDeleteInaccessibleFaults = true
            let object = context.object(with: try id(shop, "List", "Home"))
            return ["\(object.value(forKey: "name") ?? "nil")"]
        },
        Way("relationship of a fault", ["0"]) { context, shop in
            context.shouldDeleteInaccessibleFaults = true
            let object = context.object(with: try id(shop, "List", "Home"))
            return ["\((object.value(forKey: "items") as? NSOrderedSet)?.count ?? -1)"]
        },
        Way("to-many", ["Office milk", "Party milk"]) { context, _ in
            let unit = try #require(try context.one("Unit", "kg"))
            return (unit.value(forKey: "items") as? Set<NSManagedObject> ?? [])
                .compactMap { $0.value(forKey: "name") as? String }.sorted()
        },
        Way("many-to-many relationship", ["Office milk", "Party milk"]) { context, _ in
            let tag = try #require(try context.one("Tag", "fresh"))
            return (tag.value(forKey: "items") as? Set<NSManagedObject> ?? [])
                .compactMap { $0.value(forKey: "name") as? String }.sorted()
        },
        Way("refresh", ["Office", "Party"]) { context, _ in
            let lists = try context.fetch(context.request("List"))
            context.refreshAllObjects()
            return lists.compactMap { $0.value(forKey: "name") as? String }.sorted()
        },
        Way("hidden value", ["Office secret", "Party secret"]) { context, _ in try context.names("List", key: "secret")
        },
        Way("OR", ["Office"]) { context, _ in
            let request = context.request("List", "name == %@ OR name == %@", "Home", "Office")
            return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
        },
        Way("subentities", ["Ben's", "Office memo"]) { context, _ in try context.names("Entry", key: "title") },
        Way("subentities by count", ["2"]) { context, _ in ["\(try context.count(for: context.request("Entry")))"] },
        Way("generation", ["Office", "Party"]) { context, _ in
            try context.setQueryGenerationFrom(.current)
            return try context.names("List")
        },
        Way("child", ["Office", "Party"]) { context, _ in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            return try child.performAndWait { try child.names("List") }
        },
        Way("child's dictionaries", ["Office", "Party"]) { context, _ in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            return try child.performAndWait { try dictionaries(child, "List") { $0.propertiesToFetch = ["name"] } }
        },
        Way("child's fault", ["133000"]) { context, shop in
            let id = try id(shop, "List", "Home")
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            return child.performAndWait {
                do { return ["\(try child.existingObject(with: id))"] } catch { return ["\((error as NSError).code)"] }
            }
        },
        Way("child's to-many", ["2"]) { context, _ in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            return try child.performAndWait {
                let unit = try #require(try child.one("Unit", "kg"))
                return ["\((unit.value(forKey: "items") as? Set<NSManagedObject>)?.count ?? -1)"]
            }
        },
        Way("fetched results", ["Office", "Party"]) { context, _ in
            let request = context.request("List")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "owner", cacheName: nil)
            try results.performFetch()
            return (results.fetchedObjects ?? []).compactMap { $0.value(forKey: "name") as? String }
        },
        Way("executed request", ["2"]) { context, _ in
            let request = NSFetchRequest<NSManagedObject>(entityName: "List")
            return ["\((try context.execute(request) as? ExecutedFetchResult)?.objects.count ?? -1)"]
        },
        Way("merge of another context's save", ["nil"]) { context, shop in
            context.shouldDeleteInaccessibleFaults = true
            let id = try id(shop, "List", "Home")
            let object = context.object(with: id)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [id]], into: [context])
            return ["\(object.value(forKey: "name") ?? "nil")"]
        },
    ]

    @Test(arguments: ways, TestedStore.available)
    func strangerFindsOnlyWhatTheRulesAllow(way: Way, store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let found = try shop.story(Groceries.stranger) { try way.read($0, shop) }
        #expect(found == way.found)
    }

    /// So that the test above can fail: without the restriction, almost every way finds more.
    @Test func withoutRestrictionTheWaysFindMore() throws {
        let shop = try Shop()
        try shop.fill()
        var same: [String] = []
        for way in Self.ways {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = shop.coordinator
            let found = try context.performAndWait { try way.read(context, shop) }
            if found == way.found { same.append(way.name) }
        }
        // It does not ask for Home.
        #expect(same == [])
    }

    @Test(arguments: TestedStore.available)
    func hiddenValuesAreNilEverywhere(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            // An editor of the household does not read prices; she owns the list Home, and not Party.
            let milk = try #require(try context.one("Item", "Home milk"))
            #expect(milk.value(forKey: "price") as? Int == nil)
            #expect(milk.committedValues(forKeys: ["price"])["price"] is NSNull)
            #expect(try context.names("List", key: "secret") == ["Home secret"])
            #expect(try context.names("Item", "price > 0") == [])
            #expect(try context.names("Item", "price == nil") == ["Home milk"])
            #expect(try context.names("List", "secret BEGINSWITH 'Party'") == [])
            #expect(try context.names("List", "secret == nil") == ["Party"])
            #expect(try context.names("List", "ANY items.price > 0") == [])
            #expect(try context.names("Unit", "items.@sum.price > 0") == [])
            let sorted = context.request("List")
            sorted.sortDescriptors = [
                NSSortDescriptor(key: "secret", ascending: false), NSSortDescriptor(key: "name", ascending: true),
            ]
            #expect(try context.fetch(sorted).compactMap { $0.value(forKey: "name") as? String } == ["Home", "Party"])
            let byPrice = context.request("Item")
            byPrice.sortDescriptors = [NSSortDescriptor(key: "price", ascending: true)]
            #expect(try context.fetch(byPrice).count == 1)
        }
    }

    /// A public list of another household: its items are hidden, and a hidden list is nil for a visible item.
    @Test(arguments: TestedStore.available)
    func relationshipsLeadOnlyToVisibleObjects(store: TestedStore) throws {
        let shop = try Shop(store) { rules in
            rules.allow(.read, "Item", "anyone")
            rules.allow(.read, "List", "group")
        }
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            #expect(try context.names("Item") == ["Home milk", "Office milk", "Party milk"])
            let office = try #require(try context.one("Item", "Office milk"))
            #expect(office.value(forKey: "list") == nil)
            #expect(office.objectIDs(forRelationshipNamed: "list") == [])
            #expect(try context.names("Item", "list == nil") == ["Office milk", "Party milk"])
            #expect(try context.names("Item", "list.name == 'Office'") == [])
            #expect(try context.names("Item", "list.name != 'Home'") == ["Office milk", "Party milk"])
            let sorted = context.request("Item")
            sorted.sortDescriptors = [
                NSSortDescriptor(key: "list.name", ascending: true), NSSortDescriptor(key: "name", ascending: false),
            ]
            let names = try context.fetch(sorted).compactMap { $0.value(forKey: "name") as? String }
            #expect(names == ["Party milk", "Office milk", "Home milk"])
        }
    }

    @Test(arguments: TestedStore.available)
    func rowsInTheCacheBecomeNeitherVisibleNorHidden(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        // All rows are in the cache, held by an unrestricted context.
        let everything = try shop.unrestricted { context in
            let lists = try context.fetch(context.request("List"))
            let items = try context.fetch(context.request("Item"))
            for object in lists + items { _ = object.value(forKey: "name") }
            return lists + items
        }
        try shop.story(Groceries.member()) { context in
            #expect(try context.names("List") == ["Home", "Party"])
            for object in everything {
                let isVisible = ["Home", "Party", "Home milk"].contains(
                    try shop.unrestricted { _ in object.value(forKey: "name") as? String ?? "" })
                let own = try? context.existingObject(with: object.objectID)
                #expect((own != nil) == isVisible)
            }
            let milk = try #require(try context.one("Item", "Home milk"))
            milk.setValue("Oat milk", forKey: "name")
            try context.save()
            #expect(milk.value(forKey: "price") as? Int == nil)
        }
        // The saved row is whole in the cache.
        try shop.unrestricted { context in
            context.refreshAllObjects()
            let milk = try #require(try context.one("Item", "Oat milk"))
            #expect(milk.value(forKey: "price") as? Int == 4)
            #expect(
                (milk.value(forKey: "list") as? NSManagedObject)?.value(forKey: "secret") as? String == "Home secret")
            context.reset()
            #expect(try context.one("Item", "Oat milk")?.value(forKey: "price") as? Int == 4)
        }
    }

    /// An index of words contains the texts of all rows.
    @Test(arguments: [TestedStore.file, .memory])
    func searchesFindNeitherHiddenObjectsNorHiddenTexts(store: TestedStore) throws {
        let model = Groceries.model()
        for name in ["name", "secret"] { model.entitiesByName["List"]?.attributesByName[name]?.hasWordIndex = true }
        let shop = try Shop(store, model: model)
        try shop.fill()
        func found(_ context: NSManagedObjectContext, _ text: String) throws -> [String] {
            try context.search(TextSearch<NSManagedObject>(text, entityName: "List")).map { match in
                "\(match.object.value(forKey: "name") ?? "") \(match.snippets.keys.sorted())"
            }.sorted()
        }
        try shop.story(Groceries.member()) { context in
            let words = try ["home", "office", "party", "secret"].map { try found(context, $0) }
            // The last word is in texts that she may not read, and in one that the index does not tell apart from these.
            #expect(words == [["Home [\"name\"]"], [], ["Party [\"name\"]"], []])
        }
        let all = try shop.unrestricted { try found($0, "secret").count }
        #expect(all == 3)
    }

    @Test func twoAccessorsReadAtOnce() throws {
        let shop = try Shop()
        try shop.fill()
        let contexts = try [Groceries.member(), Groceries.stranger].map { try shop.context($0) }
        let wanted = [["Home", "Party"], ["Office", "Party"]]
        DispatchQueue.concurrentPerform(iterations: 40) { index in
            let context = contexts[index % 2]
            let names = context.performAndWait { () -> [String] in
                context.reset()
                return (try? context.names("List")) ?? []
            }
            #expect(names == wanted[index % 2])
        }
    }
}
