import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Predicates find the same objects in a service as in an SQLite store of the same objects.
@Suite struct PredicateTableTests {
    private static let day = Date(timeIntervalSinceReferenceDate: 725_846_400)
    private static let code = UUID(uuidString: "67BA98BC-3383-4CC6-BDA3-AF688465D885") ?? UUID()

    /// Makes the same objects in a context of any store.
    private static func fill(_ context: NSManagedObjectContext) throws {
        let units = ["kg", "l", "Stück"].map { context.make("Unit", ["id": UUID(), "name": $0]) }
        let tags = ["new", "fresh", "bio"].map { context.make("Tag", ["id": UUID(), "name": $0]) }
        let names = ["Milk", "milk", "Äpfel", "Salt", "Bread", "O'Brien", "100% \"pure\"", "a_b*c?", "Gin", ""]
        for (index, name) in names.enumerated() {
            var values: [String: Any] = ["id": UUID(), "name": name, "stock": index - 3, "listed": index % 2 == 0]
            values["price"] = index % 3 == 0 ? nil : NSDecimalNumber(string: "\(index).25")
            values["quantity"] = index % 4 == 0 ? nil : Double(index) / 3
            values["day"] = index % 5 == 0 ? nil : day.addingTimeInterval(Double(index) * 86400.5)
            values["code"] = index == 4 ? code : nil
            values["site"] = index == 5 ? URL(string: "https://example.com/x") : nil
            values["data"] = index == 6 ? Data([1, 2, 3]) : nil
            values["unit"] = index % 4 == 3 ? nil : units[index % 3]
            let item = context.make(index == 8 ? "Drink" : "Item", values.compactMapValues { $0 })
            if index == 8 { item.setValue(40.5, forKey: "strength") }
            item.setValue(NSOrderedSet(array: Array(tags.prefix(index % 4))), forKey: "tags")
        }
        try context.save()
    }

    /// A predicate, and whether memory evaluates a part of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let format: String
        let arguments: @Sendable (NSManagedObjectContext) throws -> [Any]
        let testDescription: String

        init(_ format: String, _ arguments: @escaping @Sendable (NSManagedObjectContext) throws -> [Any] = { _ in [] })
        {
            self.format = format
            self.arguments = arguments
            testDescription = format
        }
    }

    static let cases: [Case] = [
        Case("name == 'Milk'"), Case("name ==[c] 'MILK'"), Case("name CONTAINS[cd] 'apf'"), Case("name BEGINSWITH 'M'"),
        Case("name ENDSWITH[c] 'T'"), Case("name LIKE '*i*k'"), Case("name LIKE 'a_b\\\\*c\\\\?'"),
        Case("name == %@") { _ in ["O'Brien"] }, Case("name == %@") { _ in ["100% \"pure\""] }, Case("name == ''"),
        Case("name IN %@") { _ in [["Milk", "Salt", "None"]] }, Case("name IN %@") { _ in [["Milk"]] },
        Case("NOT name IN %@") { _ in [["Milk"]] }, Case("name IN %@") { _ in [[String]()] },
        Case("stock > 2"), Case("stock == -3"), Case("stock BETWEEN {0, 3}"), Case("stock >= 1.5"), Case("stock != 0"),
        Case("price == 1.25"), Case("price > %@") { _ in [NSDecimalNumber(string: "4.25")] }, Case("price == nil"),
        Case("quantity > 1.1"), Case("quantity == nil OR quantity < 0.5"), Case("listed == YES"), Case("listed == 0"),
        Case("day > %@") { _ in [day.addingTimeInterval(3 * 86400.5)] },
        Case("day == %@") { _ in [day.addingTimeInterval(2 * 86400.5)] },
        Case("day BETWEEN %@") { _ in [[day, day.addingTimeInterval(4 * 86400.5)]] },
        Case("code == %@") { _ in [code as NSUUID] },
        Case("site == %@") { _ in [URL(string: "https://example.com/x") as Any] },
        Case("data == %@") { _ in [Data([1, 2, 3])] },
        Case("unit.name == 'kg'"), Case("unit == nil"), Case("unit != nil AND stock > 0"),
        Case("unit == %@") { [try $0.one("l", "Unit")] },
        Case("unit IN %@") { [[try $0.one("l", "Unit"), try $0.one("kg", "Unit")]] },
        Case("SELF == %@") { [try $0.one("Salt")] }, Case("SELF IN %@") { [[try $0.one("Salt"), try $0.one("Milk")]] },
        Case("ANY tags.name == 'bio'"), Case("NONE tags.name == 'new'"), Case("ALL tags.name IN {'new', 'fresh'}"),
        Case("tags.@count > 1"), Case("ANY tags == %@") { [try $0.one("fresh", "Tag")] },
        Case("tags CONTAINS %@") { [try $0.one("fresh", "Tag")] },
        Case("SUBQUERY(tags, $t, $t.name BEGINSWITH 'f' OR $t.name == 'bio').@count > 1"),
        Case("SUBQUERY(tags, $v1, $v1.name == 'bio').@count == 1"),
        Case("stock * 2 + 1 > 5"), Case("uppercase:(name) == 'MILK'"), Case("length:(name) == 4"), Case("day < now()"),
        Case("quantity * 3 == stock + 3"), Case("unit.items.@count > 2"),
        // Memory evaluates these, or a part.
        Case("name MATCHES '[A-M].*'"), Case("name MATCHES '.*[ik].*' AND stock > -2"),
        Case("CAST(stock, 'NSString') == '1'"),
        Case("tags[SIZE] == 2"), Case("name LIKE '*?*?*?*?*?*'"), Case("sqrt:(quantity) > 1.2"),
        Case("TRUEPREDICATE"), Case("NOT (listed == YES AND stock > 0)"), Case("name == 'x' OR name MATCHES 'S.*'"),
    ]

    private static func names(_ context: NSManagedObjectContext, _ predicate: Case) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: predicate.format, argumentArray: try predicate.arguments(context))
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
    }

    @Test func predicatesFindTheSameAsInSQLite() async throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try StoreModel.make())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let local = NSManagedObjectContext(.privateQueue)
        local.persistentStoreCoordinator = coordinator
        try await local.perform { try Self.fill(local) }
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.run { context in
                try Self.fill(context)
                // The cache knows members that were read.
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.relationshipKeyPathsForPrefetching = ["tags"]
                _ = try ServiceStore.withCachePolicy(.networkOnly) { try context.fetch(request) }
                context.reset()
            }
            var found = 0
            for predicate in Self.cases {
                let expected = Result { try local.performAndWait { try Self.names(local, predicate) } }
                guard case .success(let names) = expected else {
                    Issue.record("SQLite cannot evaluate \(predicate.format): \(expected)")
                    continue
                }
                if !names.isEmpty { found += 1 }
                for policy in [ServiceStore.CachePolicy.networkOnly, .cacheOnly] {
                    do {
                        let result = try await device.run { context throws in
                            // Arguments are objects of this context.
                            try ServiceStore.withCachePolicy(policy) { try Self.names(context, predicate) }
                        }
                        #expect(result == names, "\(predicate.format), \(policy)")
                    } catch { Issue.record("\(predicate.format), \(policy): \(error)") }
                }
            }
            #expect(found > 40)
        }
    }
}
