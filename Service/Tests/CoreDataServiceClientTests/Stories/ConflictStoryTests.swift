import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Two programs change the same object.
@Suite struct ConflictStoryTests {
    /// A device that has read "Milk", and another that has changed it since.
    private static func begin(_ shop: Shop) async throws -> Device {
        let device = try shop.device()
        try await device.run { context throws in
            context.item("Milk", ["stock": 1, "quantity": 1.0])
            try context.save()
        }
        try await shop.device().edit("Milk") { $0.setValue(7, forKey: "stock") }
        return device
    }

    @Test func aSaveWithAnotherVersionIsAConflictWithTheValuesOfTheService() async throws {
        try await Shop.run { shop in
            let device = try await Self.begin(shop)
            try await device.run { context throws in
                let milk = try #require(context.registeredObjects.first { $0.entity.name == "Item" })
                milk.setValue(2, forKey: "stock")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSManagedObjectMergeError)
                let conflict = try #require(error.persistentStoreSaveConflicts?.first)
                #expect(conflict.sourceObject === milk)
                let server = conflict.persistedSnapshot ?? conflict.cachedSnapshot
                #expect(server?["stock"] as? Int == 7)
                #expect(conflict.objectSnapshot?["stock"] as? Int == 1)
                #expect(milk.value(forKey: "stock") as? Int == 2)
            }
        }
    }

    enum Policy: CaseIterable {
        case object, store, overwrite, rollback

        var mergePolicy: NSMergePolicy {
            switch self {
            case .object: NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            case .store: NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
            case .overwrite: NSMergePolicy(merge: .overwriteMergePolicyType)
            case .rollback: NSMergePolicy(merge: .rollbackMergePolicyType)
            }
        }

        /// The stock and the quantity that the service has in the end: 7 and 1 before, 2 and 5 of the device.
        var result: (stock: Int, quantity: Double) {
            switch self {
            case .object, .overwrite: (2, 5)
            case .store: (7, 5)
            case .rollback: (7, 1)
            }
        }
    }

    @Test(arguments: Policy.allCases)
    func theMergePolicyOfTheContextDecides(policy: Policy) async throws {
        try await Shop.run { shop in
            let device = try await Self.begin(shop)
            try await device.run { context throws in
                context.mergePolicy = policy.mergePolicy
                let milk = try #require(context.registeredObjects.first { $0.entity.name == "Item" })
                milk.setValue(2, forKey: "stock")
                milk.setValue(5.0, forKey: "quantity")
                try context.save()
            }
            try await shop.device().run { context throws in
                let milk = try context.one("Milk")
                #expect(milk.value(forKey: "stock") as? Int == policy.result.stock)
                #expect(milk.value(forKey: "quantity") as? Double == policy.result.quantity)
            }
        }
    }

    @Test func anObjectThatWasDeletedElsewhereIsAConflict() async throws {
        try await Shop.run { shop in
            let device = try await Self.begin(shop)
            try await shop.device().run { context throws in
                context.delete(try context.one("Milk"))
                try context.save()
            }
            try await device.run { context throws in
                let milk = try #require(context.registeredObjects.first { $0.entity.name == "Item" })
                milk.setValue(2, forKey: "stock")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == NSManagedObjectMergeError, "\(error)")
                #expect(error.persistentStoreSaveConflicts?.first?.newVersionNumber == 0)
                context.rollback()
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 0)
            }
        }
    }

    // MARK: Queued changes

    /// What happened to a queued change of "Milk" that another program had changed meanwhile.
    private static func afterConflict(
        _ policy: ServiceStore.ConflictPolicy, editedAt date: Date? = nil
    ) async throws -> (stock: Int?, quantity: Double?, outcome: QueuedChange.Outcome?) {
        let result = Device.Passed(NSMutableDictionary())
        try await Shop.run { shop in
            let device = try shop.device("cache") { $0.conflictPolicy = policy }
            try await device.run { context throws in
                context.item(
                    "Milk", ["stock": 1, "quantity": 1.0, "modified": Date(timeIntervalSinceReferenceDate: 0)])
                try context.save()
            }
            shop.proxy.mode = .offline
            try await device.edit("Milk") { $0.setValue(2, forKey: "stock") }
            shop.proxy.mode = .open
            try await shop.device().edit("Milk") { milk in
                milk.setValue(7, forKey: "stock")
                milk.setValue(9.0, forKey: "quantity")
                if let date { milk.setValue(date, forKey: "modified") }
            }
            let results = try await device.store.sendQueuedChanges()
            let outcome = try #require(results.first?.outcomes.values.first)
            result.value["outcome"] = Device.Passed(outcome)
            try await shop.device().run { context throws in
                let milk = try context.one("Milk")
                result.value["stock"] = milk.value(forKey: "stock")
                result.value["quantity"] = milk.value(forKey: "quantity")
            }
            if case .refused = outcome {
                #expect(try device.store.queuedChanges.count == 1)
            } else {
                #expect(try device.store.queuedChanges.isEmpty)
            }
        }
        return (
            result.value["stock"] as? Int, result.value["quantity"] as? Double,
            (result.value["outcome"] as? Device.Passed<QueuedChange.Outcome>)?.value
        )
    }

    @Test func serverWinsDiscardsTheQueuedChange() async throws {
        let result = try await Self.afterConflict(.serverWins)
        #expect(result.stock == 7 && result.quantity == 9 && result.outcome == .discarded)
    }

    @Test func clientWinsAppliesItToTheObjectAsItIs() async throws {
        let result = try await Self.afterConflict(.clientWins)
        #expect(result.stock == 2 && result.quantity == 9 && result.outcome == .appliedAfterConflict)
    }

    @Test func lastWinsComparesDates() async throws {
        let past = try await Self.afterConflict(
            .lastWins(dateAttribute: "modified"), editedAt: Date(timeIntervalSinceNow: -3600))
        #expect(past.stock == 2 && past.outcome == .appliedAfterConflict)
        let future = try await Self.afterConflict(
            .lastWins(dateAttribute: "modified"), editedAt: Date(timeIntervalSinceNow: 3600))
        #expect(future.stock == 7 && future.outcome == .discarded)
        let unknown = try await Self.afterConflict(.lastWins(dateAttribute: "lastmoddate"))
        guard case .refused(let error)? = unknown.outcome else {
            Issue.record("\(String(describing: unknown.outcome))")
            return
        }
        #expect(unknown.stock == 7 && error.message.contains("Item has no date in 'lastmoddate'"))
    }

    @Test func aClosureDecidesWithBothValues() async throws {
        let result = try await Self.afterConflict(
            .custom { conflict in
                #expect(conflict.entity == "Item" && !conflict.isDeletion)
                #expect(conflict.clientValues == ["stock": "2"])
                #expect(conflict.serverValues["stock"] == "7" && conflict.serverValues["name"] == "Milk")
                return .useClientProperties(["stock"])
            })
        #expect(result.stock == 2 && result.quantity == 9 && result.outcome == .appliedAfterConflict)
        let server = try await Self.afterConflict(.custom { _ in .useServer })
        #expect(server.stock == 7 && server.outcome == .discarded)
    }
}
