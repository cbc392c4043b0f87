import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Orders, windows, counts, dictionaries and asynchronous fetches.
@Suite struct FetchTests {
    /// A shop with twelve items, of which one is a drink, and pages of five.
    private static func run(_ test: @escaping @Sendable (Shop, Device) async throws -> Void) async throws {
        try await Shop.run { shop in
            let device = try shop.device { $0.pageSize = 5 }
            try await shop.device().run { context throws in
                let units = ["kg", "l"].map { context.make("Unit", ["name": $0]) }
                for index in 0..<11 {
                    context.item(
                        "Item \(index)", ["stock": index % 4, "unit": units[index % 2], "quantity": Double(index)])
                }
                context.make("Drink", ["name": "Drink", "stock": 9])
                try context.save()
            }
            try await test(shop, device)
        }
    }

    private static func request(_ entity: String = "Item") -> NSFetchRequest<NSManagedObject> {
        NSFetchRequest<NSManagedObject>(entityName: entity)
    }

    @Test func windowsArePagesOfTheService() async throws {
        try await Self.run { _, device in
            try await device.run { context throws in
                let request = Self.request()
                request.sortDescriptors = [
                    NSSortDescriptor(key: "stock", ascending: false), NSSortDescriptor(key: "name", ascending: true),
                ]
                let all = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
                #expect(all.count == 12 && all.first == "Drink" && all[1] == "Item 3")
                for (limit, offset) in [(3, 0), (5, 4), (0, 7), (7, 6), (2, 12), (20, 11)] {
                    (request.fetchLimit, request.fetchOffset) = (limit, offset)
                    let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
                    let rest = all.dropFirst(offset)
                    #expect(found == Array(limit > 0 ? rest.prefix(limit) : rest), "\(limit) from \(offset)")
                    #expect(try context.count(for: request) == found.count)
                }
                let alone = Self.request()
                alone.includesSubentities = false
                #expect(try context.fetch(alone).count == 11)
                #expect(try context.count(for: alone) == 11)
                alone.fetchLimit = 6
                #expect(try context.fetch(alone).count == 6)
                #expect(try context.fetch(Self.request("Drink")).count == 1)
            }
        }
    }

    @Test func ordersThatTheServiceDoesNotKnowAreMadeInMemory() async throws {
        try await Self.run { _, device in
            try await device.run { context throws in
                let request = Self.request()
                request.sortDescriptors = [
                    NSSortDescriptor(
                        key: "name", ascending: true,
                        selector: NSSelectorFromString("localizedStandardCompare:"))
                ]
                request.fetchLimit = 4
                request.fetchOffset = 9
                let names = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
                #expect(names == ["Item 8", "Item 9", "Item 10"])
            }
            let bounded = try await device.run { context throws in
                let request = Self.request()
                request.predicate = NSPredicate(format: "name MATCHES '.*'")
                return try context.fetch(request).count
            }
            #expect(bounded == 12)
        }
        try await Self.run { shop, _ in
            let device = try shop.device { $0.localEvaluationLimit = 10 }
            try await device.run { context throws in
                let request = Self.request()
                request.predicate = NSPredicate(format: "name MATCHES 'I.*'")
                let error = try #require(throws: CocoaError.self) { try context.fetch(request) }
                #expect(error.localizedDescription.contains("the service does not know MATCHES"))
            }
        }
    }

    @Test func dictionariesAndGroups() async throws {
        try await Self.run { _, device in
            try await device.run { context throws in
                let rows = NSFetchRequest<NSDictionary>(entityName: "Item")
                rows.resultType = .dictionaryResultType
                rows.propertiesToFetch = ["name", "unit.name"]
                rows.sortDescriptors = [NSSortDescriptor(key: "quantity", ascending: false)]
                rows.fetchLimit = 1
                let row = try #require(try context.fetch(rows).first)
                #expect(row["name"] as? String == "Item 10")
                #expect(row["unit.name"] as? String == "kg")

                let distinct = NSFetchRequest<NSDictionary>(entityName: "Item")
                distinct.resultType = .dictionaryResultType
                distinct.propertiesToFetch = ["stock"]
                distinct.returnsDistinctResults = true
                #expect(try context.fetch(distinct).count == 5)

                let groups = NSFetchRequest<NSDictionary>(entityName: "Item")
                groups.resultType = .dictionaryResultType
                let count = NSExpressionDescription()
                count.name = "count"
                count.expression = NSExpression(format: "count:(name)")
                count.expressionResultType = .integer64AttributeType
                let sum = NSExpressionDescription()
                sum.name = "total"
                sum.expression = NSExpression(format: "sum:(quantity)")
                sum.expressionResultType = .doubleAttributeType
                groups.propertiesToFetch = ["unit.name", count, sum]
                groups.propertiesToGroupBy = ["unit.name"]
                groups.predicate = NSPredicate(format: "quantity > 0")
                groups.sortDescriptors = [NSSortDescriptor(key: "unit.name", ascending: false)]
                let found = try context.fetch(groups)
                #expect(found.map { $0["unit.name"] as? String } == ["l", "kg"])
                #expect(found.map { $0["count"] as? Int } == [5, 5])
                #expect(found.map { $0["total"] as? Double } == [25, 30])

                rows.propertiesToFetch = ["unit"]
                let object = try #require(throws: CocoaError.self) { try context.fetch(rows) }
                #expect(object.localizedDescription.contains("it is an object: ask for the attribute with its ID"))
                rows.propertiesToFetch = ["unit.id"]
                #expect(try context.fetch(rows).first?["unit.id"] is UUID)

                groups.havingPredicate = NSPredicate(format: "total > 25")
                let error = try #require(throws: CocoaError.self) { try context.fetch(groups) }
                #expect(error.localizedDescription.contains("cannot compute a havingPredicate of Item"))
            }
        }
    }

    @Test func fetchesAreAsynchronous() async throws {
        try await Self.run { _, device in
            let context = device.context
            let request = Device.Passed(Self.request())
            let objects = try await NSAsynchronousFetchRequest(fetchRequest: request.value).results(in: context)
            #expect(objects.count == 12)
            let found = try await device.store.fetch(request.value, in: context)
            #expect(found.count == 12)
        }
    }

    @Test func requestsOfAMainQueueContextAreRefusedIfTheProgramWantsThat() async throws {
        try await Self.run { shop, _ in
            let device = try shop.device { $0.refusesMainThread = true }
            try await Self.onMain(device)
        }
    }

    @MainActor private static func onMain(_ device: Device) async throws {
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = device.coordinator
        let request = Self.request()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.predicate = NSPredicate(format: "name != %@", "x")
        let refusal = #expect(throws: CocoaError.self) { try context.fetch(request) }
        #expect(refusal?.localizedDescription.contains("ServiceStore.fetch(_:in:)") == true)
        let items = try await device.store.fetch(request, in: context)
        #expect(items.count == 12)
        // The values came with the objects.
        #expect(items.first?.value(forKey: "name") as? String == "Drink")
        context.item("Milk")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.localizedDescription.contains("would block the main thread") == true)
    }

    @Test func aRequestThatBlocksTheMainQueueIsToldOfOnce() async throws {
        try await Self.run { shop, _ in
            let device = try shop.device()
            let count = try await Self.warnings(device)
            #expect(count == 1)
        }
    }

    @MainActor private static func warnings(_ device: Device) async throws -> Int {
        let told = Device.Passed(NSMutableArray())
        let observer = NotificationCenter.default.addObserver(
            forName: ServiceStore.didBlockMainThread, object: nil, queue: nil
        ) { _ in told.value.add(1) }
        defer { NotificationCenter.default.removeObserver(observer) }
        let context = NSManagedObjectContext(.mainQueue)
        context.persistentStoreCoordinator = device.coordinator
        for name in ["Milk", "Salt", "Bread"] {
            _ = try context.fetch(Self.request())
            context.item(name)
            try context.save()
        }
        return told.value.count
    }
}
