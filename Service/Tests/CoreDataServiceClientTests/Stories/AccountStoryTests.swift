import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// Accounts on one device.
@Suite struct AccountStoryTests {
    @Test func aPersonSignsInAndWorks() async throws {
        try await Shop.run { shop in
            let wrong = await #expect(throws: ServiceError.self) {
                try await ServiceSession.signIn(to: shop.proxy.url, name: "ann", password: "wrong", device: "Test")
            }
            #expect(wrong?.status == 401)
            let session = try await ServiceSession.signIn(
                to: shop.proxy.url, name: "ann", password: Shop.password, device: "Test")
            let device = try shop.device("cache", session: session)
            try await device.add("Milk")
            #expect(try await device.names() == ["Milk"])
        }
    }

    @Test func anotherAccountNeverGetsTheCacheOrTheQueue() async throws {
        try await Shop.run { shop in
            let ann = shop.accounts["ann"] ?? UUID()
            let device = try shop.device("cache")
            try await device.run { context throws in
                context.make("Note", ["text": "secret", "owner": ann])
                try context.save()
            }
            shop.proxy.mode = .offline
            try await device.run { context throws in
                context.make("Note", ["text": "later", "owner": ann])
                try context.save()
            }
            #expect(try device.store.cachedObjectCount == 2)

            // Without a connection the new account is not known: nothing is answered.
            device.store.use(try shop.session("ben"))
            @Sendable func request() -> NSFetchRequest<NSManagedObject> { NSFetchRequest(entityName: "Note") }
            try await device.run { context throws in
                context.reset()
                #expect(throws: CocoaError.self) { try context.fetch(request()) }
                #expect(throws: CocoaError.self) { try context.fetch(request(), cachePolicy: .cacheOnly) }
            }
            #expect(try device.store.queuedChanges.isEmpty)

            shop.proxy.mode = .open
            try await device.run { context throws in
                let found = try context.fetch(request())
                #expect(found.isEmpty)
                #expect(try context.fetch(request(), cachePolicy: .cacheOnly).isEmpty)
            }
            #expect(try device.store.cachedObjectCount == 0)
            try await device.store.sendQueuedChanges()

            // The change waits for its account.
            device.store.use(try shop.session("ann"))
            try await device.run { context throws in
                let texts = try context.fetch(request()).compactMap { $0.value(forKey: "text") as? String }
                #expect(texts.sorted() == ["later", "secret"])
            }
            #expect(try device.store.queuedChanges.isEmpty)
        }
    }

    @Test func aProgramThatStartsWithAnotherAccountFindsNothing() async throws {
        try await Shop.run { shop in
            let first = try shop.device("cache")
            try await first.add("Milk")
            try first.quit()
            shop.proxy.mode = .offline
            let same = try shop.device("cache", policy: .cacheOnly)
            #expect(try await same.names() == ["Milk"])
            try same.quit()
            let other = try shop.device("cache", as: "ben", policy: .cacheOnly)
            await #expect(throws: CocoaError.self) { try await other.names() }
        }
    }

    @Test func signingOutEmptiesTheCache() async throws {
        try await Shop.run { shop in
            let session = try await ServiceSession.signIn(
                to: shop.proxy.url, name: "ann", password: Shop.password, device: "Test")
            let device = try shop.device("cache", session: session)
            try await device.add("Milk")
            shop.proxy.mode = .offline
            try await device.add("Salt")
            await #expect(throws: CocoaError.self) { try await device.store.signOut() }
            #expect(try device.store.queuedChanges.count == 1)
            shop.proxy.mode = .open
            try await device.store.sendQueuedChanges()
            try await device.store.signOut()
            #expect(try device.store.cachedObjectCount == 0)
            // The token is of no use, and the store says so.
            let ended = AsyncStream<Void>.makeStream()
            let observer = NotificationCenter.default.addObserver(
                forName: ServiceStore.sessionDidEnd, object: nil, queue: nil
            ) { _ in ended.continuation.yield() }
            defer { NotificationCenter.default.removeObserver(observer) }
            try await device.run { context throws in
                context.reset()
                let error = try #require(throws: CocoaError.self) { try context.one("Milk") }
                #expect((error.userInfo[NSUnderlyingErrorKey] as? ServiceError)?.status == 401)
            }
            _ = await ended.stream.first { _ in true }
            device.store.use(try shop.session("ann"))
            #expect(try await device.names() == ["Milk", "Salt"])
        }
    }
}
