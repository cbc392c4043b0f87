import CoreData
import Foundation
import Testing

@testable import CoreDataSync

/// A store that its coordinator has no more, while its `Sync` still exists.
@Suite struct RemovedStoreStoryTests {
    @Test(arguments: [(NSSQLiteStoreType, true), (NSXMLStoreType, false)])
    func removingAStoreDeletesNothingOnOtherDevices(type: String, history: Bool) async throws {
        let (folder, place) = (try TemporaryFolder(), MemoryPlace())
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", place, url: folder("phone"), type: type, history: history)
        try phone.save { _ in _ = phone.new("Unit", ["name": "kg"]) }
        try await settle(kitchen, phone)
        let (sync, coordinator) = (phone.sync, phone.container.persistentStoreCoordinator)
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        do {
            try await sync.syncNow()
            Issue.record("It read a store that its coordinator does not have.")
        } catch {
            #expect((error as NSError).code == 134070)
            #expect(error.localizedDescription.contains("phone' was removed from its coordinator"))
        }
        await #expect(throws: CocoaError.self) { try await sync.start() }
        // It cannot leave either, and nothing is forgotten.
        let error = await #expect(throws: CocoaError.self) { try await sync.leave(tellingOthers: false) }
        #expect(error?.code.rawValue == 134070 && sync.sidecar.settings.token != nil)
        try phone.open()
        try await settle(kitchen, phone)
        #expect(try kitchen.text("Unit", "kg", "name") == "kg")
        #expect(try phone.contents() == kitchen.contents())
    }
}
