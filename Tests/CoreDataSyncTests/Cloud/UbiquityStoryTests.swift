import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

extension CloudTests {
    /// iCloud of 2011 to 2016: what an app of that time does, step by step.
    @Suite struct UbiquityStoryTests {
        private let cloud: TestCloud

        init() throws { cloud = try TestCloud(account: nil) }

        private func device(_ name: String) throws -> BookStack {
            let folder = cloud.folder(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return BookStack(folder)
        }

        @Test func theStoreIsChosenByTheAccountSeededAndFreedOfDuplicates() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            // Both import default data before anybody has an account.
            for (number, device) in [kitchen, phone].enumerated() {
                try device.ensureAppropriateStoreIsLoaded()
                #expect(!device.iCloudAccountIsSignedIn && device.localStore != nil)
                try device.add("Milk", modified: Double(number))
            }
            try kitchen.add("Bread")
            try phone.add("Eggs")

            CloudPlaces.signIn("anna")
            for device in [kitchen, phone] {
                try device.ensureAppropriateStoreIsLoaded()
                #expect(device.localStore == nil && device.coordinator.persistentStores.count == 1)
                let url = try #require(device.coordinator.persistentStores.first?.url)
                #expect(url.path.hasPrefix(device.folder.path + "/CoreDataUbiquitySupport/account-anna/"))
                try await device.wait(for: .willChange(.initialImportCompleted))
                try await device.wait(for: .didChange(.initialImportCompleted, added: 1, removed: 1))
                #expect(device.isUserInterfaceEnabled)
            }
            // Both seed while they are offline: each one its own milk.
            let place = cloud.place(try #require(cloud.paths.first))
            place.hook = { _ in throw SyncPlaceError(.unavailable, "There is no network.") }
            for device in [kitchen, phone] {
                try await device.mergeNoniCloudDataWithiCloud()
                #expect(!FileManager.default.fileExists(atPath: device.localStoreURL.path))
            }
            place.hook = nil
            for device in [kitchen, phone] { try await device.wait(for: .imported) }
            for device in [kitchen, phone] { try await device.wait(for: ["Bread", "Eggs", "Milk", "Milk"]) }
            for device in [kitchen, phone] { try await device.deDuplicate() }
            for device in [kitchen, phone] { try await device.wait(for: ["Bread", "Eggs", "Milk"]) }
        }

        @Test func importsAreMergedIntoTheContext() async throws {
            CloudPlaces.signIn("anna")
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for device in [kitchen, phone] { try device.ensureAppropriateStoreIsLoaded() }
            try kitchen.add("Milk")
            try await phone.wait(for: .imported)
            let milk = try phone.context.performAndWait {
                try #require(try phone.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            }
            try kitchen.context.performAndWait {
                let items = try kitchen.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                items.first?.setValue("2 litres", forKey: "note")
                try kitchen.context.save()
            }
            try await Polling.suspend(until: "the note") {
                phone.context.performAndWait { milk.value(forKey: "note") as? String } == "2 litres"
            }
            try kitchen.context.performAndWait {
                let items = try kitchen.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                items.forEach(kitchen.context.delete)
                try kitchen.context.save()
            }
            try await phone.wait(for: [])
            try await Polling.suspend(until: "the deletion") {
                phone.context.performAndWait { milk.isDeleted || milk.managedObjectContext == nil }
            }
        }

        @Test func anAccountSignsOutAndInAgain() async throws {
            CloudPlaces.signIn("anna")
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for device in [kitchen, phone] {
                try device.ensureAppropriateStoreIsLoaded()
                try await device.wait(for: .didChange(.initialImportCompleted, added: 1, removed: 1))
            }
            try kitchen.add("Milk")
            try await phone.wait(for: ["Milk"])

            // What was not saved is saved before the store goes.
            try kitchen.add("Butter", saves: false)
            CloudPlaces.signOut()
            for device in [kitchen, phone] {
                try await device.wait(for: .didChange(.accountRemoved, added: 1, removed: 1))
                let last = device.notes.suffix(2)
                #expect(
                    Array(last) == [.willChange(.accountRemoved), .didChange(.accountRemoved, added: 1, removed: 1)])
                #expect(try device.names() == [])
                #expect(device.coordinator.persistentStores.count == 1)
            }
            // It belongs to nobody, and stays on this device.
            try kitchen.add("Secret")

            CloudPlaces.signIn("bob")
            for device in [kitchen, phone] {
                try await device.wait(for: .didChange(.accountAdded, added: 1, removed: 1))
            }
            // Bob has no store yet: he gets what was saved without an account, and nothing of Anna's.
            try await kitchen.wait(for: ["Secret"])
            try await phone.wait(for: ["Secret"])

            CloudPlaces.signIn("anna")
            for device in [kitchen, phone] { try await device.wait(for: ["Butter", "Milk"]) }
        }

        @Test func aCleanSlateEmptiesAllDevices() async throws {
            CloudPlaces.signIn("anna")
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for device in [kitchen, phone] { try device.ensureAppropriateStoreIsLoaded() }
            try kitchen.add("Milk")
            try await phone.wait(for: ["Milk"])

            let inUse = await #expect(throws: CocoaError.self) { try await kitchen.removeUbiquitousContent() }
            #expect(inUse?.code.rawValue == 134070)
            try await kitchen.destroyAlliCloudData()
            #expect(
                try FileManager.default.subpathsOfDirectory(atPath: kitchen.folder.path)
                    .filter { $0.contains(".sqlite") } == [])
            try await phone.wait(for: .didChange(.contentRemoved, added: 1, removed: 1))
            try await phone.wait(for: [])

            // Both begin anew.
            try kitchen.loadiCloudStore()
            try kitchen.add("Bread")
            try await phone.wait(for: ["Bread"])
            try phone.add("Eggs")
            try await kitchen.wait(for: ["Bread", "Eggs"])
        }

        @Test func aDeviceThatWasAwayForgetsRemovedContent() async throws {
            CloudPlaces.signIn("anna")
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for device in [kitchen, phone] { try device.ensureAppropriateStoreIsLoaded() }
            try kitchen.add("Milk")
            try await phone.wait(for: ["Milk"])
            try phone.resetCoreData()
            try await kitchen.destroyAlliCloudData()
            try kitchen.loadiCloudStore()
            try kitchen.add("Bread")
            try phone.loadiCloudStore()
            try await phone.wait(for: .didChange(.contentRemoved, added: 1, removed: 1))
            try await phone.wait(for: ["Bread"])
            #expect(try kitchen.names() == ["Bread"])
        }
    }
}
