import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreDataSync

extension CloudTests {
    /// The options of iCloud of 2011 to 2016, each by itself.
    @Suite struct UbiquityStoreTests {
        private let cloud: TestCloud

        init() throws { cloud = try TestCloud() }

        private func device(_ name: String) throws -> BookStack {
            let folder = cloud.folder(name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return BookStack(folder)
        }

        @Test func aStoreIsMadeAgainFromTheCloud() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            for device in [kitchen, phone] { try device.loadiCloudStore() }
            try kitchen.add("Milk")
            try await phone.wait(for: ["Milk"])
            let url = try #require(phone.coordinator.persistentStores.first?.url)
            try phone.resetCoreData()
            try await Polling.suspend(until: "the end of the last exchange") {
                !FileManager.default.fileExists(atPath: url.path + "-sync-lock")
            }
            for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + end) }
            try Data("no store at all, and long enough to be read as one".utf8).write(to: url)
            #expect(throws: (any Error).self) { try phone.loadiCloudStore() }
            try phone.loadiCloudStore { $0[NSPersistentStoreRebuildFromUbiquitousContentOption] = true }
            try await phone.wait(for: ["Milk"])
            let aside = url.deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("store-before-rebuild")
            #expect(FileManager.default.fileExists(atPath: aside.appendingPathComponent(url.lastPathComponent).path))
        }

        /// Removed between a first import and the notification that it has ended.
        @Test func aRemovedStoreDoesNotSynchronise() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            try kitchen.loadiCloudStore()
            try kitchen.add("Milk")
            try await cloud.waitForSegment()
            phone.didImport = { stack in
                stack.didImport = nil
                try? stack.resetCoreData()
            }
            try phone.loadiCloudStore()
            try await phone.wait(for: .imported)
            // A former store that still synchronised would keep this one from it.
            try phone.loadiCloudStore()
            try kitchen.add("Bread")
            try await phone.wait(for: ["Bread", "Milk"])
        }

        /// An exchange that finds no objects any more must not delete them on other devices.
        @Test(arguments: ["capture", "snapshot"])
        func removingAStoreDeletesNothingElsewhere(_ reader: String) async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            let place = MemoryPlace()
            func sync(_ device: BookStack) throws -> Sync {
                device.localStoreOptions = [NSPersistentHistoryTrackingKey: true]
                try device.loadLocalStore()
                return try Sync(device.coordinator, to: place, device: device.folder.lastPathComponent)
            }
            let (first, second) = (try sync(kitchen), try sync(phone))
            try kitchen.add("Milk")
            for sync in [first, second, first, second] { try await sync.syncNow() }
            #expect(try phone.names() == ["Milk"])
            let store = second.store
            try phone.resetCoreData()
            let error = #expect(throws: CocoaError.self) {
                if reader == "capture" {
                    _ = try store.capture(seeding: .even)
                } else {
                    _ = try SnapshotBuilder(store: store).build()
                }
            }
            #expect(error?.code.rawValue == 134070)
            await #expect(throws: CocoaError.self) { try await second.syncNow() }
            try await first.syncNow()
            #expect(try kitchen.names() == ["Milk"])
        }

        @Test func aLocalStoreMovesIntoTheCloudAndOut() async throws {
            let (kitchen, phone) = (try device("kitchen"), try device("phone"))
            try kitchen.loadLocalStore()
            try kitchen.add("Milk")
            let local = try #require(kitchen.localStore)
            let moved = try kitchen.coordinator.migratePersistentStore(
                local, to: kitchen.iCloudStoreURL, options: kitchen.iCloudOptions, withType: NSSQLiteStoreType)
            #expect(moved.url?.path.contains("account-anna") == true)
            try phone.loadiCloudStore()
            try await phone.wait(for: ["Milk"])

            let store = try #require(phone.coordinator.persistentStores.first)
            let away = phone.folder.appendingPathComponent("Away.sqlite")
            try phone.coordinator.migratePersistentStore(
                store, to: away, options: [NSPersistentStoreRemoveUbiquitousMetadataOption: true],
                withType: NSSQLiteStoreType)
            try phone.add("Only here")
            try kitchen.add("Bread")
            try await kitchen.wait(for: ["Bread", "Milk"])
            #expect(try phone.names() == ["Milk", "Only here"])
            #expect(!FileManager.default.fileExists(atPath: away.path + "-sync"))
        }

        @Test func removingTheMetadataDeletesTheSidecarOnly() throws {
            let kitchen = try device("kitchen")
            try kitchen.loadLocalStore()
            try kitchen.add("Milk")
            try kitchen.resetCoreData()
            let sidecar = kitchen.localStoreURL.path + "-sync"
            try Data([1]).write(to: URL(fileURLWithPath: sidecar))
            try kitchen.coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: kitchen.localStoreURL,
                options: [NSPersistentStoreRemoveUbiquitousMetadataOption: true])
            #expect(!FileManager.default.fileExists(atPath: sidecar))
            #expect(try kitchen.names() == ["Milk"])
        }

        @Test func contentsAreToldApart() async throws {
            let (one, other) = (try device("one"), try device("other"))
            try one.loadiCloudStore()
            try other.loadiCloudStore { options in
                options[NSPersistentStoreUbiquitousContainerIdentifierKey] = "iCloud.other"
                options[NSPersistentStoreUbiquitousContentURLKey] = "Logs"
            }
            try one.add("Milk")
            try other.add("Bread")
            try await Polling.suspend(until: "two places") { cloud.paths.count == 2 }
            #expect(cloud.paths.contains("iCloud.other/anna/content-Grocery-Dude%2FLogs"))
            #expect(try other.names() == ["Bread"])
        }

        @Test func twoProgramsOfOneDeviceShareAContentByTheirTokens() async throws {
            let folder = cloud.folder("both")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let (app, helper) = (BookStack(folder), BookStack(folder))
            try app.loadiCloudStore()
            try helper.loadiCloudStore { $0[NSPersistentStoreUbiquitousPeerTokenOption] = "helper" }
            #expect(app.coordinator.persistentStores.first?.url != helper.coordinator.persistentStores.first?.url)
            try app.add("Milk")
            try await helper.wait(for: ["Milk"])
        }

        @Test func aContentNeedsAName() throws {
            let kitchen = try device("kitchen")
            for name in ["", 3, ["a"]] as [Any] {
                let error = #expect(throws: CocoaError.self) {
                    try kitchen.loadiCloudStore { $0[NSPersistentStoreUbiquitousContentNameKey] = name }
                }
                #expect(error?.code.rawValue == 134070)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: kitchen.folder.path) == [])
        }

        @Test func withoutAPlaceTheStoreLiesWhereItIsSaid() async throws {
            CloudPlaces.unregister()
            let kitchen = try device("kitchen")
            try kitchen.loadiCloudStore()
            #expect(kitchen.coordinator.persistentStores.first?.url == kitchen.iCloudStoreURL)
            #expect(FileManager.default.ubiquityIdentityToken == nil)
            let error = await #expect(throws: CocoaError.self) { try await kitchen.destroyAlliCloudData() }
            #expect(error?.code.rawValue == 134400)
        }

        @Test func aContentWithoutAnAccountCannotBeRemoved() async throws {
            CloudPlaces.signOut()
            let kitchen = try device("kitchen")
            let error = await #expect(throws: CocoaError.self) { try await kitchen.destroyAlliCloudData() }
            #expect(error?.code.rawValue == 134400)
        }

        // MARK: The account

        @Test func tokensTellAccountsApart() throws {
            let files = FileManager.default
            let anna = try #require(files.ubiquityIdentityToken)
            CloudPlaces.signIn("bob")
            let bob = try #require(files.ubiquityIdentityToken)
            #expect(!anna.isEqual(bob))
            CloudPlaces.signIn("anna")
            #expect(anna.isEqual(files.ubiquityIdentityToken))
            let archive = try NSKeyedArchiver.archivedData(withRootObject: anna, requiringSecureCoding: false)
            #expect(try anna.isEqual(NSKeyedUnarchiver.unarchivedObject(ofClass: NSData.self, from: archive)))
        }

        @Test func changesOfTheAccountArePosted() throws {
            let count = Counter()
            let token = NotificationCenter.default.addObserver(
                forName: .NSUbiquityIdentityDidChange, object: nil, queue: nil
            ) { _ in count.add() }
            defer { NotificationCenter.default.removeObserver(token) }
            CloudPlaces.signIn("anna")
            #expect(count.value == 0)
            CloudPlaces.signIn("bob")
            CloudPlaces.signOut()
            CloudPlaces.signOut()
            #expect(count.value == 2 && CloudPlaces.account == nil)
        }

        @Test func containersHaveFoldersInTheFolderOfAllPlaces() throws {
            let files = FileManager.default
            #expect(files.url(forUbiquityContainerIdentifier: nil) == nil)
            CloudPlaces.register(folder: cloud.folder("cloud"), account: "an/na")
            let url = try #require(files.url(forUbiquityContainerIdentifier: "iCloud.shop"))
            #expect(url.path == cloud.folder("cloud/iCloud.shop/an%2Fna/Container").path)
            #expect(files.fileExists(atPath: url.path))
            #expect(files.url(forUbiquityContainerIdentifier: nil) != nil)
            CloudPlaces.signOut()
            #expect(files.url(forUbiquityContainerIdentifier: "iCloud.shop") == nil)
        }

        @Test(arguments: [
            ("a.b", "a.b"), ("..", "%2E."), ("", "%"), ("a/b", "a%2Fb"), ("ä", "%C3%A4"), ("%", "%25"),
        ])
        func pathsAreSafe(name: String, component: String) {
            let database = CloudDatabase(account: "anna", containerIdentifier: name)
            #expect(database.path == "\(component)/anna/private")
        }
    }
}
