import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Each policy, with and without a connection, for fetches that the cache knows and for others.
@Suite struct CachePolicyTests {
    /// What a fetch finds: the names, or an error.
    enum Found: Equatable {
        case names([String])
        case failure
    }

    /// The service has "Milk 2" and "Salt"; the cache has "Milk", which was fetched before the service changed it.
    static let table:
        [(policy: ServiceStore.CachePolicy, isOnline: Bool, known: Found, unknown: Found, count: Int?, saves: Bool)] = [
            (.networkOnly, true, .names(["Milk 2", "Salt"]), .names(["Salt"]), 2, true),
            (.networkOnly, false, .failure, .failure, nil, false),
            (.networkElseCache, true, .names(["Milk 2", "Salt"]), .names(["Salt"]), 2, true),
            (.networkElseCache, false, .names(["Milk"]), .names([]), 1, true),
            (.cacheOnly, true, .names(["Milk"]), .names([]), 1, true),
            (.cacheOnly, false, .names(["Milk"]), .names([]), 1, true),
            (.cacheElseNetwork, true, .names(["Milk"]), .names(["Salt"]), 1, true),
            (.cacheElseNetwork, false, .names(["Milk"]), .failure, 1, true),
        ]

    @Test(arguments: table.indices)
    func policyAnswers(row: Int) async throws {
        let expected = Self.table[row]
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await shop.device().add("Milk")
            #expect(try await device.names() == ["Milk"])
            try await shop.device().edit("Milk") { $0.setValue("Milk 2", forKey: "name") }
            try await shop.device().add("Salt")
            try device.quit()

            let again = try shop.device("cache", policy: expected.policy)
            shop.proxy.mode = expected.isOnline ? .open : .offline
            let before = shop.proxy.requests
            #expect(await Self.found(again, nil) == expected.known)
            if expected.policy == .cacheOnly { #expect(shop.proxy.requests == before) }
            let count = try? await again.run {
                try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
            }
            #expect(count == expected.count)
            #expect(await Self.found(again, "name BEGINSWITH 'S'") == expected.unknown)
            let saves = (try? await again.add("New")) != nil
            #expect(saves == expected.saves)
            let queued = try again.store.queuedChanges.count
            #expect(queued == (saves && (!expected.isOnline || expected.policy == .cacheOnly) ? 1 : 0))
        }
    }

    private static func found(_ device: Device, _ format: String?) async -> Found {
        do { return .names(try await device.names("Item", format)) } catch { return .failure }
    }

    @Test func aFetchMayHaveAPolicyOfItsOwn() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk")
            try await shop.device().add("Salt")
            @Sendable func request() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Item") }
            try await device.run { context throws in
                #expect(try context.fetch(request(), cachePolicy: .cacheOnly).count == 1)
                #expect(try context.count(for: request(), cachePolicy: .cacheOnly) == 1)
                #expect(try context.fetch(request(), cachePolicy: .networkOnly).count == 2)
                #expect(try context.fetch(request(), cachePolicy: .cacheOnly).count == 2)
            }
        }
    }

    @Test func theCacheAnswersValuesRelationshipsAndDictionaries() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await shop.device().run { context throws in
                let unit = context.make("Unit", ["name": "l"])
                context.item("Milk", ["unit": unit, "stock": 3, "photo": Data([1, 2])])
                context.item("Water", ["unit": unit, "stock": 5])
                try context.save()
            }
            try await device.run { context throws in
                let milk = try context.one("Milk")
                #expect(milk.value(forKey: "photo") as? Data == Data([1, 2]))
                #expect(milk.value(forKeyPath: "unit.name") as? String == "l")
                let items =
                    (milk.value(forKey: "unit") as? NSManagedObject)?.value(forKey: "items") as? Set<NSManagedObject>
                #expect(items?.count == 2)
            }
            shop.proxy.mode = .offline
            let offline = device.newContext()
            try await offline.perform { () throws in
                let milk = try offline.one("Milk")
                #expect(milk.value(forKey: "photo") as? Data == Data([1, 2]))
                #expect(milk.value(forKeyPath: "unit.name") as? String == "l")
                let unit = try #require(milk.value(forKey: "unit") as? NSManagedObject)
                #expect((unit.value(forKey: "items") as? Set<NSManagedObject>)?.count == 2)
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "unit == %@ AND stock > 3", unit)
                #expect(try offline.fetch(request).map { $0.value(forKey: "name") as? String } == ["Water"])
            }
            let sums = NSFetchRequest<NSDictionary>(entityName: "Item")
            sums.resultType = .dictionaryResultType
            let sum = NSExpressionDescription()
            sum.name = "total"
            sum.expression = NSExpression(format: "sum:(stock)")
            sum.expressionResultType = .integer64AttributeType
            sums.propertiesToFetch = [sum]
            let passed = Device.Passed(sums)
            try await offline.perform { () throws in
                #expect(try offline.fetch(passed.value, cachePolicy: .cacheOnly).first?["total"] as? Int == 8)
            }
        }
    }

    @Test func theCacheIsBounded() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache") { $0.cacheLimit = 20 }
            for batch in 0..<3 {
                try await device.run { context throws in
                    for index in 0..<15 { context.item("\(batch) \(index)") }
                    try context.save()
                }
            }
            #expect(try device.store.cachedObjectCount <= 20)
            #expect(try await device.names().count == 45)
        }
    }

    @Test func whatTheServiceDeletedLeavesTheCache() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk", "Salt")
            _ = try await device.names()
            try await shop.device().run { context throws in
                context.delete(try context.one("Milk"))
                try context.save()
            }
            #expect(try await device.names() == ["Salt"])
            device.store.cachePolicy = .cacheOnly
            #expect(try await device.names() == ["Salt"])
        }
    }
}
