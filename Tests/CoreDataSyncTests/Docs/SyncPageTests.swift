import CoreData
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

/// What docs/sync.md and the README show of synchronisation is compiled here, and the first example runs, so that it
/// cannot rot.
@Suite struct SyncPageTests {
    // MARK: The examples

    private func start(
        _ container: NSPersistentContainer, storeURL: URL, folder: URL, name: String
    ) async throws -> Sync {
        let description = NSPersistentStoreDescription(url: storeURL)
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { description, error in
            if let error { fatalError("\(description): \(error)") }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true

        let sync = try Sync(container, to: FolderPlace(folder), device: name)
        try await sync.start(seeding: .merge)
        return sync
    }

    private func show(_ sync: Sync) async {
        for await state in sync.states {
            switch state.activity {
            case .failed(let error, let retry): print("Next attempt at \(retry): \(error.localizedDescription)")
            case .idle: print("Up to date; \(state.waiting) waiting, \(state.conflicts) conflicts")
            default: print("\(state.unsent) files to send")
            }
            for trouble in state.troubles { print(trouble) }
        }
    }

    private func repairing() -> SyncOptions {
        var options = SyncOptions()
        options.repair = { object, _ in
            guard object.entity.name == "Item", object.value(forKey: "name") == nil else { return false }
            object.setValue("Unnamed", forKey: "name")
            return true
        }
        return options
    }

    private func merging() -> SyncOptions {
        var options = SyncOptions()
        options.merge = { versions in
            guard versions.attribute == "level", let a = versions.earlier as? Int64, let b = versions.later as? Int64
            else {
                return versions.later
            }
            return a % 10 > b % 10 ? a : b
        }
        return options
    }

    private func restoreAll(_ sync: Sync) async throws {
        for conflict in try await sync.conflicts() {
            print(conflict.entity, conflict.property ?? "", conflict.losing, conflict.winning ?? "deleted")
            try await sync.restore(conflict)
        }
    }

    private func seal(_ folder: URL, passphrase: String) async throws -> SealedPlace {
        let place = SealedPlace(FolderPlace(folder), passphrase: passphrase)
        try await place.unlock()
        return place
    }

    // MARK: Apple's names

    private func registerFolder() {
        CloudPlaces.register(folder: URL(fileURLWithPath: "/home/anna/Sync"))
    }

    private func registerSealedPlaces(_ folder: URL, passphrase: String) {
        CloudPlaces.register(account: "anna") { database in
            SealedPlace(FolderPlace(folder.appendingPathComponent(database.path)), passphrase: passphrase)
        }
    }

    @MainActor private func cloudContainer() -> NSPersistentCloudKitContainer {
        let container = NSPersistentCloudKitContainer(name: "Groceries")
        container.loadPersistentStores { description, error in
            if let error { fatalError("\(description): \(error)") }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        return container
    }

    private func observeEvents(_ container: NSPersistentCloudKitContainer) -> any NSObjectProtocol {
        let observer = NotificationCenter.default.addObserver(
            forName: NSPersistentCloudKitContainer.eventChangedNotification, object: container, queue: .main
        ) { notification in
            let key = NSPersistentCloudKitContainer.eventNotificationUserInfoKey
            guard let event = notification.userInfo?[key] as? NSPersistentCloudKitContainer.Event else { return }
            print(event.type, event.endDate == nil ? "begins" : event.succeeded ? "succeeded" : "failed")
            if let error = event.error { print(error.localizedDescription) }
        }
        return observer
    }

    private func addCloudStore(_ coordinator: NSPersistentStoreCoordinator, _ iCloudStoreURL: URL) throws {
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreUbiquitousContentNameKey: "Grocery-Dude",
        ]
        if FileManager.default.ubiquityIdentityToken != nil {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: iCloudStoreURL, options: options)
        }
    }

    private func remotePlaces(
        _ folder: URL, _ password: String, _ endpoint: URL, _ key: String, _ secret: String
    ) throws -> [any SyncPlace] {
        let cloud = try WebDAVPlace(folder: folder, credentials: WebDAVCredentials(user: "ann", password: password))
        let bucket = try S3Place(
            endpoint: endpoint, bucket: "sync", prefix: "groceries/", region: "eu-central-1",
            credentials: S3Credentials(accessKey: key, secretKey: secret))
        return [cloud, bucket]
    }

    /// The README's.
    private func readme(_ container: NSPersistentContainer, _ folder: URL) async throws {
        let sync = try Sync(container, to: FolderPlace(folder), device: "Kitchen")
        try await sync.start(seeding: .merge)
        for await state in sync.states { print(state.activity, state.unsent, state.conflicts) }
    }

    // MARK: Tests

    private func groceries() -> NSPersistentContainer {
        typealias M = ModelMaking
        let item = M.entity("Item", info: ["sync.key": "name"], M.attribute("name"))
        return NSPersistentContainer(name: "Groceries", managedObjectModel: M.model(item))
    }

    @Test func theFirstExampleRuns() async throws {
        let folder = try TemporaryFolder()
        let (kitchen, phone) = (groceries(), groceries())
        let first = try await start(
            kitchen, storeURL: folder("kitchen.sqlite"), folder: folder("place"), name: "Kitchen")
        let second = try await start(phone, storeURL: folder("phone.sqlite"), folder: folder("place"), name: "Phone")
        try await kitchen.performBackgroundTask { context in
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("Milk", forKey: "name")
            try context.save()
        }
        try await first.syncNow()
        try await second.syncNow()
        let names = try await phone.performBackgroundTask { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
                .map { $0.value(forKey: "name") as? String }
        }
        #expect(names == ["Milk"])
        #expect(Set(try await second.devices().map(\.name)) == ["Kitchen", "Phone"])
        await first.stop()
        await second.stop()
    }

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../..")

    /// The lines of code without indentation, empty lines and imports.
    private static func code(_ lines: some Sequence<Substring>) -> String {
        lines.map { $0.drop { $0 == " " } }.filter { !$0.isEmpty && !$0.hasPrefix("import ") }.joined(separator: "\n")
    }

    private static func blocks(of page: String) throws -> [String] {
        let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().map { rest in
            code((rest.components(separatedBy: "\n```").first ?? "").split(separator: "\n"))
        }
    }

    @Test func thePagesShowTheExamples() throws {
        let source = Self.code(try String(contentsOfFile: #filePath, encoding: .utf8).split(separator: "\n"))
        let blocks = try Self.blocks(of: "docs/sync.md")
        #expect(blocks.count == 12)
        for block in blocks { #expect(source.contains(block), "\(block)") }
        let readme = try Self.blocks(of: "README.md").filter { $0.contains("Sync(") }
        #expect(readme.count == 1 && readme.allSatisfy { source.contains($0) })
    }
}
