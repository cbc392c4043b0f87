import CoreData
import Foundation
import Testing

@testable import CoreDataSync

/// A program purges the history of a store that synchronises.
@Suite struct HistoryReaderStoryTests {
    private let folder: TemporaryFolder
    private let kitchen: SyncingDevice
    private let phone: SyncingDevice

    init() throws {
        folder = try TemporaryFolder()
        let place = MemoryPlace()
        kitchen = try SyncingDevice("Kitchen", place, url: folder("Shop.sqlite"))
        phone = try SyncingDevice("Phone", place)
    }

    private var coordinator: NSPersistentStoreCoordinator { kitchen.container.persistentStoreCoordinator }

    private func edit() throws {
        try kitchen.save { _ in
            try kitchen.delete("Item", "gone")
            try kitchen.object("Item", "a")?.setValue("edited", forKey: "note")
            _ = kitchen.new("Item", ["name": "new"])
        }
    }

    private func start() async throws {
        try kitchen.save { _ in for name in ["a", "gone"] { _ = kitchen.new("Item", ["name": name]) } }
        try await settle(kitchen, phone)
    }

    private func expectEverything() async throws {
        try await settle(kitchen, phone)
        #expect(try phone.names("Item") == ["a", "new"])
        #expect(try phone.text("Item", "a", "note") == "edited")
        #expect(try kitchen.contents() == phone.contents())
    }

    @Test func purgingKeepsWhatWasNotCaptured() async throws {
        try await start()
        let reader = try #require(try coordinator.historyConsumers().first)
        #expect(reader.name.hasPrefix("CoreDataSync "))
        #expect(try await kitchen.exchange() == SyncSummary())
        try edit()
        #expect(try coordinator.purgeHistory().deletedTransactions > 0)
        #expect(try kitchen.sync.store.applier.capture().run().needsComparison == nil)
        try await expectEverything()
    }

    @Test func aPositionThatIsNotedLateOnlyKeepsMore() async throws {
        try await start()
        let first = try #require(try coordinator.historyConsumers().first).transactionNumber
        try edit()
        try await expectEverything()
        #expect(try coordinator.historyConsumers().first?.transactionNumber == first)
        for number in 0..<1_001 { try kitchen.save { _ in _ = kitchen.new("Tag", ["name": "\(number)"]) } }
        try await kitchen.exchange()
        #expect(try #require(try coordinator.historyConsumers().first).transactionNumber > first + 1_000)
    }

    @Test func aPurgeThatIgnoresReadersLeadsToAComparison() async throws {
        try await start()
        // The purge keeps the transaction of the token.
        try kitchen.set("Item", "a", ["note": "before"])
        try edit()
        let token = try #require(coordinator.currentPersistentHistoryToken(fromStores: nil))
        let context = kitchen.container.newBackgroundContext()
        try context.performAndWait {
            _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
        }
        #expect(try kitchen.sync.store.applier.capture().run().needsComparison == .purged)
        try await expectEverything()
    }

    @Test func aDeviceThatLeavesReadsNoMore() async throws {
        try await start()
        try await kitchen.sync.leave()
        #expect(try coordinator.historyConsumers().isEmpty)
    }
}
