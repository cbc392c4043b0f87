import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

extension CloudTests {
    /// An app as Apple's template makes it, on two devices.
    @Suite @MainActor struct CloudContainerStoryTests {
        private let cloud: TestCloud

        init() throws { cloud = try TestCloud() }

        private func device(
            _ name: String, _ change: (NSPersistentStoreDescription) -> Void = { _ in }
        ) throws -> PersistenceController { try PersistenceController(cloud.folder(name + ".sqlite"), change) }

        @Test func whatOneDeviceSavesTheOtherShows() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for events in [kitchen.events, phone.events] {
                try await events.wait(for: .setup)
                try await events.wait(for: .import)
            }
            let milk = try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export)
            try await phone.wait(for: ["Milk"])
            try await phone.events.wait(for: .import, count: 2)

            // The view context merges: the object that it has shows the new value.
            try phone.items().first?.setValue("2 litres", forKey: "note")
            try phone.container.viewContext.save()
            try await Polling.suspend(until: "the note") { milk.value(forKey: "note") as? String == "2 litres" }
            #expect(cloud.paths.count == 1 && cloud.paths[0].hasPrefix("iCloud."))
        }

        @Test func eventsBeginAndEnd() async throws {
            let kitchen = try device("kitchen")
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export)
            let store = try #require(kitchen.container.persistentStoreCoordinator.persistentStores.first)
            var running: [UUID: NSPersistentCloudKitContainer.Event] = [:]
            for event in kitchen.events.all {
                #expect(event.storeIdentifier == store.identifier)
                guard let begin = running.removeValue(forKey: event.identifier) else {
                    #expect(event.endDate == nil && !event.succeeded && event.error == nil)
                    running[event.identifier] = event
                    continue
                }
                #expect(event.type == begin.type && event.startDate == begin.startDate)
                #expect(event.succeeded && event.error == nil)
                #expect(try #require(event.endDate) >= event.startDate)
            }
            #expect(kitchen.events.all.first?.type == .setup)
            #expect(kitchen.events.ended(.setup).count == 1)
        }

        @Test func aStoreThatDoesNotSynchroniseAnyMoreStaysWritable() async throws {
            do {
                let kitchen = try device("kitchen")
                try kitchen.add("Milk")
                try await kitchen.events.wait(for: .export)
            }
            let local = try device("kitchen") { $0.cloudKitContainerOptions = nil }
            try local.add("Bread")
            #expect(try local.names() == ["Bread", "Milk"])
            #expect(local.events.all.isEmpty)
            #expect(local.container.sync() == nil)
        }

        @Test func databasesOfOneContainerAreTwoPlaces() async throws {
            func with(
                _ scope: NSPersistentCloudKitContainerOptions.DatabaseScope
            ) -> (NSPersistentStoreDescription) -> Void {
                { description in
                    let options = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.com.example.Shop")
                    options.databaseScope = scope
                    description.cloudKitContainerOptions = options
                }
            }
            let own = try device("own", with(.private))
            let (shared, phone) = (try device("shared", with(.shared)), try device("phone", with(.shared)))
            try own.add("Diary")
            try shared.add("Milk")
            try await own.events.wait(for: .export)
            try await phone.wait(for: ["Milk"])
            #expect(
                cloud.paths == ["iCloud.com.example.Shop/anna/private", "iCloud.com.example.Shop/anna/shared"])
        }

        @Test func aStoreThatGetsAnotherContainerSendsEverything() async throws {
            func with(_ identifier: String) -> (NSPersistentStoreDescription) -> Void {
                {
                    $0.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(containerIdentifier: identifier)
                }
            }
            do {
                let kitchen = try device("kitchen", with("iCloud.old"))
                try kitchen.add("Milk")
                try await kitchen.events.wait(for: .export)
            }
            let kitchen = try device("kitchen", with("iCloud.new"))
            let phone = try device("phone", with("iCloud.new"))
            try await phone.wait(for: ["Milk"])
            #expect(try kitchen.names() == ["Milk"])
        }

        @Test func aContainerThatIsLoadedAgainAtOnceTakesOver() async throws {
            let phone = try device("phone")
            var names: [String] = []
            for number in 1...12 {
                let kitchen = try device("kitchen")
                names.append("Item \(number + 100)")
                try kitchen.add(names[number - 1])
            }
            let kitchen = try device("kitchen")
            try await phone.wait(for: names)
            #expect(try kitchen.names() == names)
            try await Polling.suspend(until: "two devices") {
                try await phone.container.sync()?.devices().count == 2
            }
        }

        @Test func aStoreThatIsRemovedSynchronisesNoMore() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            try kitchen.add("Milk")
            try await phone.wait(for: ["Milk"])
            let coordinator = phone.container.persistentStoreCoordinator
            let store = try #require(coordinator.persistentStores.first)
            try coordinator.remove(store)
            let before = phone.events.all.count
            try kitchen.add("Bread")
            try await kitchen.events.wait(for: .export, count: 2)
            #expect(phone.events.all.count == before)
        }

        @Test func theSynchronisationIsAtHandForConflictsAndDevices() async throws {
            let kitchen = try device("kitchen")
            try await kitchen.events.wait(for: .import)
            let sync = try #require(kitchen.container.sync())
            #expect(try await sync.devices().map(\.name) == ["Test"])
            #expect(try await sync.conflicts().isEmpty)
        }

        // MARK: Accounts

        @Test func withoutAPlaceTheStoreIsALocalOne() async throws {
            CloudPlaces.unregister()
            let kitchen = try device("kitchen")
            try kitchen.add("Milk")
            #expect(try kitchen.names() == ["Milk"])
            let event = try #require(kitchen.events.ended(.setup).first)
            #expect(!event.succeeded)
            let error = try #require(event.error as? CocoaError)
            #expect(error.code.rawValue == 134400)
            #expect(error.localizedDescription.contains("CloudPlaces.register"))
            // A place that is registered later is used.
            cloud.register()
            let phone = try device("phone")
            try await phone.wait(for: ["Milk"])
        }

        @Test func withoutAnAccountChangesWait() async throws {
            CloudPlaces.signOut()
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .setup, succeeded: false)
            #expect((kitchen.events.ended(.setup).first?.error as? CocoaError)?.code.rawValue == 134400)
            #expect(cloud.paths.isEmpty)
            CloudPlaces.signIn("anna")
            try await phone.wait(for: ["Milk"])
            CloudPlaces.signOut()
            try await kitchen.events.wait(for: .setup, succeeded: false, count: 2)
            try kitchen.add("Bread")
            CloudPlaces.signIn("anna")
            try await phone.wait(for: ["Bread", "Milk"])
        }

        @Test func anotherAccountDoesNotGetTheData() async throws {
            let kitchen = try device("kitchen")
            try kitchen.add("Milk")
            try await kitchen.events.wait(for: .export)
            CloudPlaces.signIn("bob")
            try await kitchen.events.wait(for: .setup, succeeded: false)
            let error = try #require(kitchen.events.ended(.setup, succeeded: false).first?.error as? CocoaError)
            #expect(error.code.rawValue == 134405)
            #expect(error.localizedDescription.contains("'anna'") && error.localizedDescription.contains("'bob'"))
            let path = try #require(cloud.paths.first { $0.contains("/bob/") })
            #expect(try await cloud.place(path).list(nil).isEmpty)
            CloudPlaces.signIn("anna")
            let phone = try device("phone")
            try await phone.wait(for: ["Milk"])
            try kitchen.add("Bread")
            try await phone.wait(for: ["Bread", "Milk"])
        }
    }
}
