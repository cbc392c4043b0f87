import CoreData
import CoreDataPermissions
import Foundation
import Testing

/// Which contexts can be restricted, and what else a restricted context does.
@Suite struct RestrictingTests {
    @Test func usedContextsAreRefused() throws {
        let shop = try Shop()
        try shop.fill()
        func refused(_ prepare: (NSManagedObjectContext) throws -> Void) throws -> String {
            let context = NSManagedObjectContext(.privateQueue)
            return try context.performAndWait {
                try prepare(context)
                let error = try #require(throws: (any Error).self) {
                    try context.restrict(to: shop.rules, as: .anonymous)
                }
                #expect(context.accessor == nil || context.accessor == Groceries.member())
                return error.localizedDescription
            }
        }
        #expect(try refused { _ in }.contains("persistentStoreCoordinator"))
        #expect(
            try refused { context in
                context.persistentStoreCoordinator = shop.coordinator
                withExtendedLifetime(try context.fetch(context.request("List"))) {}
                context.make("List")
            }.contains("used already"))
        #expect(
            try refused { context in
                context.persistentStoreCoordinator = shop.coordinator
                try context.setQueryGenerationFrom(.current)
            }.contains("used already"))
        #expect(try refused { $0.parent = shop.all }.contains("has a parent"))
        #expect(
            try refused { context in
                context.persistentStoreCoordinator = shop.coordinator
                try context.restrict(to: shop.rules, as: Groceries.member())
            }.contains("restricted already"))
    }

    @Test(arguments: [NSXMLStoreType, NSBinaryStoreType])
    func storeThatIsNoDatabaseIsRefused(type: String) throws {
        let model = Groceries.model()
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).store")
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let rules = try AccessRules(model)
        // Without a store, nothing speaks against it; what is added later is not readable.
        try context.performAndWait { try context.restrict(to: rules, as: Groceries.member()) }
        let store = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: nil)
        context.performAndWait { _ = #expect(throws: AccessError.self) { try context.names("List") } }
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = coordinator
        other.performAndWait {
            _ = #expect(throws: AccessError.self) { try other.restrict(to: rules, as: Groceries.member()) }
        }
        try coordinator.remove(store)
    }

    @Test func rulesOfAnotherModelAreRefused() throws {
        let shop = try Shop()
        let other = try AccessRules(NSManagedObjectModel())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = shop.coordinator
        context.performAndWait {
            _ = #expect(throws: AccessError.self) { try context.restrict(to: other, as: .anonymous) }
        }
    }

    /// A mandatory value that is hidden does not make an object invalid.
    @Test func hiddenMandatoryValuesAreNotMissing() throws {
        let model = Groceries.model()
        model.entitiesByName["Item"]?.propertiesByName["price"]?.isOptional = false
        model.entitiesByName["Item"]?.propertiesByName["list"]?.isOptional = false
        let shop = try Shop(model: model)
        try shop.fill()
        try shop.story(Groceries.member()) { context in
            let milk = try #require(try context.one("Item", "Home milk"))
            milk.setValue("x", forKey: "name")
            try context.save()
            milk.setValue(nil, forKey: "list")
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }

    @Test func historyShowsVisibleChanges() throws {
        let shop = try Shop(history: true)
        try shop.fill()
        try shop.unrestricted { context in
            try #require(try context.one("Item", "Office milk")).setValue("x", forKey: "name")
            try context.save()
            try #require(try context.one("Item", "Home milk")).setValue(9, forKey: "price")
            try context.save()
            try #require(try context.one("Item", "Home milk")).setValue(2, forKey: "rank")
            try context.save()
            context.delete(try #require(try context.one("Note", "Ann's", key: "title")))
            try context.save()
        }
        func changes(_ accessor: Accessor) throws -> [String] {
            try shop.story(accessor) { context in
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                request.resultType = .transactionsAndChanges
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
                return transactions.flatMap { $0.changes ?? [] }.map { change in
                    let names = change.updatedProperties?.map(\.name).sorted().joined(separator: ",") ?? ""
                    return "\(change.changedObjectID.entity.name ?? "") \(change.changeType.rawValue) \(names)"
                }.sorted()
            }
        }
        let insertions = ["Item 0 ", "List 0 ", "List 0 ", "Tag 0 ", "Unit 0 ", "Memo 0 "]
        #expect(try changes(Groceries.member()) == (insertions + ["Item 1 rank"]).sorted())
        #expect(try changes(.anonymous) == ["List 0 ", "Tag 0 ", "Unit 0 "])
        try shop.story(Groceries.member()) { context in
            _ = #expect(throws: AccessError.self) {
                try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
            }
        }
    }

    @Test func explainShowsTheRules() throws {
        let shop = try Shop()
        try shop.story(Groceries.member()) { context in
            let sql = try context.explain(context.request("Item")).map(\.sql).joined()
            #expect(sql.contains("LEFT OUTER JOIN ZLIST t1 ON t1.Z_PK = t0.ZLIST WHERE t1.ZHOUSEHOLD = ?"), "\(sql)")
            // The list of a visible item is visible: its rule needs no condition. The price is hidden from an editor.
            #expect(sql.contains("t0.ZLIST,") && sql.contains("CASE WHEN 1 = 0 THEN t0.ZPRICE"), "\(sql)")
        }
        try shop.unrestricted { context in
            let sql = try context.explain(context.request("Item")).map(\.sql).joined()
            #expect(!sql.contains("WHERE"))
        }
    }

    /// The condition of a rule is the one that a program would write by hand: the statements are equal.
    @Test(arguments: TestedStore.available)
    func statementIsTheHandwrittenOne(store: TestedStore) throws {
        let shop = try Shop(store) { rules in
            rules.allow(.read, "price", of: "Item", "anyone")
            rules.allow(.read, "List", "group")
        }
        func statements(_ context: NSManagedObjectContext, _ rule: String?) throws -> [String] {
            try [nil, "name == 'Milk'", "list.name == 'Home'"].flatMap { own -> [String] in
                let request = context.request("Item")
                let formats = [rule, own].compactMap { $0 }
                request.predicate =
                    formats.isEmpty ? nil : NSPredicate(format: formats.joined(separator: " AND "))
                request.sortDescriptors = [NSSortDescriptor(key: "list.name", ascending: true)]
                return try context.explain(request).map(\.sql)
            }
        }
        let restricted = try shop.story(Groceries.member()) { try statements($0, nil) }
        let written = try shop.unrestricted {
            try statements($0, "list.household IN {CAST('\(Groceries.home)', 'NSUUID')}")
        }
        #expect(restricted == written)
    }
}
