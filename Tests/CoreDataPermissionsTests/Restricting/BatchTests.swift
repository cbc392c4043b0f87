import CoreData
import CoreDataPermissions
import Foundation
import Testing

/// Batch requests of an accessor.
@Suite struct BatchTests {
    private func prices(_ shop: Shop) throws -> [String] {
        try shop.unrestricted { context in
            context.reset()
            return try context.fetch(context.request("Item")).map {
                "\($0.value(forKey: "name") ?? "") \($0.value(forKey: "rank") ?? "") \($0.value(forKey: "price") ?? "")"
            }.sorted()
        }
    }

    private static let start = ["Home milk 1 4", "Office milk 1 6", "Party milk 1 5"]

    @Test(arguments: TestedStore.available)
    func updateChangesOnlyWhatMayBeUpdated(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        func update(
            _ accessor: Accessor, _ properties: [AnyHashable: Any], _ predicate: NSPredicate? = nil
        ) throws -> Int {
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.propertiesToUpdate = properties
            request.predicate = predicate
            request.resultType = .updatedObjectsCountResultType
            return try shop.story(accessor) { try ($0.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? -1 }
        }
        #expect(try update(Groceries.member(), ["rank": 2]) == 1)
        #expect(try prices(shop) == ["Home milk 2 4", "Office milk 1 6", "Party milk 1 5"])
        #expect(try update(Groceries.member("viewer"), ["rank": 3]) == 0)
        #expect(try update(Groceries.member(), ["price": 3]) == 0)
        #expect(try update(Groceries.member("owner"), ["price": 3]) == 1)
        #expect(try update(Groceries.member(), ["rank": 5], NSPredicate(format: "price == 3")) == 0)
        // A hidden value is nil in expressions, too.
        #expect(try update(Groceries.member(), ["rank": NSExpression(forKeyPath: "price")]) == 1)
        #expect(try prices(shop).contains { $0.hasPrefix("Home milk 3") } == false)
    }

    @Test(arguments: TestedStore.available)
    func updateMovesNothingIntoAnotherGroup(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let both = Accessor(account: Groceries.ann, groups: [Groceries.home: "editor", Groceries.office: "viewer"])
        try shop.story(both) { context in
            let request = NSBatchUpdateRequest(entityName: "Item")
            request.predicate = NSPredicate(format: "name == 'Home milk'")
            request.propertiesToUpdate = ["list": try #require(try context.one("List", "Office")).objectID]
            let denied = try #require(throws: AccessDenied.self) { try context.execute(request) }
            #expect(denied.isNew && denied.verb == .update)
        }
        #expect(try prices(shop) == Self.start)
        #expect(try shop.unrestricted { try $0.names("Item", "list.name == 'Home'") } == ["Home milk"])
    }

    @Test(arguments: TestedStore.available)
    func deleteDeletesOnlyWhatMayBeDeleted(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        func delete(_ accessor: Accessor) throws -> Int {
            let request = NSBatchDeleteRequest(
                fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
            request.resultType = .resultTypeCount
            return try shop.story(accessor) { try ($0.execute(request) as? NSBatchDeleteResult)?.result as? Int ?? -1 }
        }
        #expect(try delete(Groceries.member("viewer")) == 0)
        #expect(try delete(Groceries.member()) == 1)
        #expect(try prices(shop) == Array(Self.start.dropFirst()))
    }

    @Test(arguments: TestedStore.available)
    func deleteByIDFindsNoHiddenObject(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let ids = try shop.unrestricted { try $0.fetch($0.request("Item")).map(\.objectID) }
        let request = NSBatchDeleteRequest(objectIDs: ids)
        request.resultType = .resultTypeCount
        let count = try shop.story(Groceries.member()) {
            try ($0.execute(request) as? NSBatchDeleteResult)?.result as? Int
        }
        #expect(count == 1)
        #expect(try prices(shop) == Array(Self.start.dropFirst()))
    }

    /// The unit has items of another household, which would lose it.
    @Test(arguments: TestedStore.available)
    func deleteThatConcernsHiddenObjectsIsRefused(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Unit"))
        try shop.story(Groceries.member()) { context in
            #expect(throws: AccessDenied.self) { try context.execute(request) }
        }
        #expect(try shop.unrestricted { try $0.names("Item", "unit.name == 'kg'").count } == 3)
        // Cascading to items that may not be deleted.
        let strict = try Shop(store) { $0.allow(.delete, "Item", "nobody") }
        try strict.fill()
        let lists = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "List"))
        try strict.story(Groceries.member("owner")) { context in
            let denied = try #require(throws: AccessDenied.self) { try context.execute(lists) }
            #expect(denied.entity == "Item")
        }
        #expect(try strict.unrestricted { try $0.names("List").count } == 3)
    }

    @Test(arguments: TestedStore.available)
    func insertIsChecked(store: TestedStore) throws {
        let shop = try Shop(store)
        try shop.fill()
        let home = try shop.unrestricted { try #require(try $0.one("List", "Home")).objectID }
        let office = try shop.unrestricted { try #require(try $0.one("List", "Office")).objectID }
        func insert(_ accessor: Accessor, _ rows: [[String: Any]]) throws {
            let request = NSBatchInsertRequest(entityName: "Item", objects: rows)
            _ = try shop.story(accessor) { try $0.execute(request) }
        }
        try insert(Groceries.member(), [["name": "a", "list": home], ["name": "b", "list": home]])
        #expect(throws: AccessDenied.self) { try insert(Groceries.member(), [["name": "c", "list": office]]) }
        #expect(throws: AccessDenied.self) {
            try insert(Groceries.member(), [["name": "c", "list": home], ["name": "d"]])
        }
        #expect(throws: AccessDenied.self) {
            try insert(Groceries.member(), [["name": "c", "list": home, "price": 3]])
        }
        #expect(throws: AccessDenied.self) { try insert(.anonymous, [["name": "c", "list": home]]) }
        #expect(try shop.unrestricted { try $0.names("Item") } == ["Home milk", "Office milk", "Party milk", "a", "b"])
    }
}
