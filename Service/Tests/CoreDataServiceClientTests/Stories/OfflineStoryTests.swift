import CoreData
import CoreDataServiceClient
import Foundation
import Synchronization
import Testing

/// Programs work while the service cannot be reached.
@Suite struct OfflineStoryTests {
    @Test func editsWaitInOrderAndSurviveTheProgram() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk")
            shop.proxy.mode = .offline
            try await device.edit("Milk") { $0.setValue("Whole milk", forKey: "name") }
            try await device.add("Salt")
            try await device.edit("Whole milk") { $0.setValue(4, forKey: "stock") }
            try await device.edit("Salt") { $0.setValue(2, forKey: "stock") }
            #expect(try await device.names() == ["Salt", "Whole milk"])
            #expect(
                try device.store.queuedChanges.map { $0.objects.map(\.verb) } == [
                    ["update"], ["create"], ["update"], ["update"],
                ])
            try device.quit()

            // Another run of the program, still without a connection.
            let next = try shop.device("cache")
            #expect(try next.store.queuedChanges.count == 4)
            #expect(try await next.names() == ["Salt", "Whole milk"])
            try await next.run { context throws in
                context.delete(try context.one("Salt"))
                try context.save()
            }
            shop.proxy.mode = .open
            let results = try await next.store.sendQueuedChanges()
            #expect(results.count == 5)
            #expect(results.flatMap { $0.outcomes.values }.allSatisfy { $0 == .applied }, "\(results.map(\.outcomes))")
            #expect(try next.store.queuedChanges.isEmpty)
            try await shop.device().run { context throws in
                #expect(try context.one("Whole milk").value(forKey: "stock") as? Int == 4)
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 1)
            }
            // What was sent is known: the next edit is no conflict with itself.
            try await next.edit("Whole milk") { $0.setValue(5, forKey: "stock") }
            #expect(try await shop.device().names("Item", "stock == 5") == ["Whole milk"])
        }
    }

    @Test func aContextThatEditedOfflineGoesOnEditing() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk")
            shop.proxy.mode = .offline
            try await device.run { context throws in
                try context.one("Milk").setValue(1, forKey: "stock")
                try context.save()
            }
            shop.proxy.mode = .open
            // Without a refresh: the values are those that the context saved.
            try await device.run { context throws in
                let milk = try #require(context.registeredObjects.first)
                milk.setValue(2, forKey: "stock")
                try context.save()
            }
            #expect(try await shop.device().names("Item", "stock == 2") == ["Milk"])
        }
    }

    @Test(arguments: [false, true])
    func anAnswerThatIsLostIsNoSecondChange(hasCache: Bool) async throws {
        try await Shop.run { shop in
            // The request is repeated at once, by the session.
            let session = try shop.session(attempts: 4)
            let device = try shop.device(hasCache ? "cache" : nil, session: session)
            #expect(try await device.names().isEmpty)
            shop.proxy.mode = .losesAnswers(2)
            try await device.add("Milk")
            #expect(try device.store.queuedChanges.isEmpty)
            #expect(try await shop.device().names() == ["Milk"])
        }
    }

    @Test func anAnswerThatIsLostForLongIsNoSecondChange() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk")
            try await device.run { context throws in
                try context.one("Milk").setValue(3, forKey: "stock")
                context.item("Salt")
                // The check for conflicts, then the change, whose answer is lost.
                shop.proxy.mode = .losesAnswers(2)
                try context.save()
            }
            // The lost answer was that of the check or of the change: either way the save waits, or is done.
            try await device.run { context throws in
                try context.one("Milk").setValue(4, forKey: "stock")
                shop.proxy.mode = .open
                try context.save()
            }
            try await device.store.sendQueuedChanges()
            #expect(try device.store.queuedChanges.isEmpty)
            #expect(try await shop.device().names() == ["Milk", "Salt"])
            #expect(try await shop.device().names("Item", "stock == 4") == ["Milk"])
        }
    }

    @Test func aRequestThatWasAppliedBeforeTheConnectionEndedIsSentAgainWithItsKey() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            _ = try await device.names()
            try await device.run { context throws in
                // New objects need no check: the only request is the change.
                context.item("Milk")
                shop.proxy.mode = .losesAnswers(2)
                try context.save()
            }
            #expect(try device.store.queuedChanges.count == 1)
            // The service has it, and another program changes it.
            try await shop.device().edit("Milk") { $0.setValue(9, forKey: "stock") }
            let results = try await device.store.sendQueuedChanges()
            #expect(results.first?.outcomes.values.first == .applied)
            try await shop.device().run { context throws in
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 1)
                #expect(try context.one("Milk").value(forKey: "stock") as? Int == 9)
            }
        }
    }

    @Test func theQueueIsSentByItself() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache") { $0.sendsQueuedChanges = true }
            _ = try await device.names()
            let sent = AsyncStream<Int>.makeStream()
            let observer = NotificationCenter.default.addObserver(
                forName: ServiceStore.didSendQueuedChanges, object: device.store, queue: nil
            ) { note in
                sent.continuation.yield((note.userInfo?[ServiceStore.resultsKey] as? [QueuedChange.Result])?.count ?? 0)
            }
            defer { NotificationCenter.default.removeObserver(observer) }
            shop.proxy.mode = .offline
            try await device.add("Milk")
            shop.proxy.mode = .open
            #expect(await sent.stream.first { _ in true } == 1)
            #expect(try await shop.device().names() == ["Milk"])
        }
    }

    @Test func aRefusedChangeStaysUntilItIsDiscarded() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            _ = try await device.names("Unit")
            shop.proxy.mode = .offline
            try await device.run { context throws in
                context.make("Unit", ["name": "kg"])
                try context.save()
            }
            try await device.add("Milk")
            shop.proxy.mode = .open
            try await shop.device().run { context throws in
                context.make("Unit", ["name": "kg"])
                try context.save()
            }
            let results = try await device.store.sendQueuedChanges()
            #expect(results.count == 2)
            guard case .refused(let error)? = results.first?.outcomes.values.first else {
                Issue.record("\(results)")
                return
            }
            #expect(error.status == 409)
            #expect(results.last?.outcomes.values.first == .applied)
            let refused = try #require(try device.store.queuedChanges.first)
            #expect(refused.refusal?.status == 409)
            #expect(try await device.names("Unit") == ["kg"])
            try device.store.discardQueuedChange(refused.id)
            #expect(try device.store.queuedChanges.isEmpty)
        }
    }

    @Test func withoutACacheNothingIsQueued() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            shop.proxy.mode = .offline
            try await device.run { context throws in
                context.item("Milk")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect((error.userInfo[NSUnderlyingErrorKey] as? ServiceError)?.status == 0)
                shop.proxy.mode = .open
                try context.save()
            }
            #expect(try await shop.device().names() == ["Milk"])
            #expect(throws: CocoaError.self) { try shop.device(policy: .cacheOnly) }
        }
    }

    @Test func largeValuesWaitWithTheirObject() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            _ = try await device.names()
            shop.proxy.mode = .offline
            let photo = Data(repeating: 7, count: 100_000)
            try await device.run { context throws in
                context.item("Milk", ["photo": photo])
                try context.save()
            }
            shop.proxy.mode = .open
            try await device.store.sendQueuedChanges()
            try await shop.device().run { context throws in
                #expect(try context.one("Milk").value(forKey: "photo") as? Data == photo)
            }
        }
    }
}
