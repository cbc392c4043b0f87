import CoreData
import Foundation

/// The places in which stores synchronise that a program adds under Apple's names, and the account that is signed in.
///
/// Register places once, when the program starts. The rest of the program needs `import CoreData` only:
///
///     import CoreDataSync
///     CloudPlaces.register(folder: URL(fileURLWithPath: "/home/anna/Sync"))
///
/// or, with a place for each database:
///
///     CloudPlaces.register(account: "anna") { database in
///         SealedPlace(FolderPlace(folder.appendingPathComponent(database.path)), passphrase: passphrase)
///     }
///
/// Then stores of an `NSPersistentCloudKitContainer` synchronise, and stores that are added with
/// `NSPersistentStoreUbiquitousContentNameKey`.
///
/// The account is a name: each account has its own places. A program without accounts need not care: the default is the
/// name of the user of the system.
///
/// - Note: This has no counterpart in Apple's framework.
public enum CloudPlaces {
    /// Registers what makes places, and signs in. A later registration replaces an earlier one.
    ///
    /// - Parameters:
    ///   - account: the account that is signed in; `nil` for none until ``signIn(_:)``.
    ///   - device: the name that other devices show for this one.
    ///   - options: for all stores. `sidecar` has no effect: each store has its own file.
    ///   - makePlace: makes the place of a database. It is called when the synchronisation of a store begins. An error
    ///     that it throws is the error of a setup event; it is called again later.
    public static func register(
        account: String? = NSUserName(), device: String = ProcessInfo.processInfo.hostName,
        options: SyncOptions = SyncOptions(),
        place makePlace: @escaping @Sendable (CloudDatabase) throws -> any SyncPlace
    ) { register(account, CloudSyncProvider(device: device, options: options, makePlace: makePlace), folder: nil) }

    /// Registers a folder: each database is a folder in it, at ``CloudDatabase/path``, and signs in.
    ///
    /// `FileManager.url(forUbiquityContainerIdentifier:)` returns folders in it, too.
    ///
    /// - Parameters:
    ///   - folder: a folder that all devices can reach; see ``FolderPlace``.
    ///   - account: the account that is signed in; `nil` for none until ``signIn(_:)``.
    ///   - device: the name that other devices show for this one.
    ///   - options: for all stores. `sidecar` has no effect: each store has its own file.
    public static func register(
        folder: URL, account: String? = NSUserName(), device: String = ProcessInfo.processInfo.hostName,
        options: SyncOptions = SyncOptions()
    ) {
        let provider = CloudSyncProvider(device: device, options: options) { database in
            FolderPlace(folder.appendingPathComponent(database.path))
        }
        register(account, provider, folder: folder)
    }

    private static func register(_ account: String?, _ provider: CloudSyncProvider, folder: URL?) {
        var containerFolder: (@Sendable (String, String?) -> URL)?
        if let folder {
            containerFolder = { account, container in
                let container = CloudDatabase.component(container ?? NSPersistentCloudKitContainer.defaultIdentifier)
                return folder.appendingPathComponent("\(container)/\(CloudDatabase.component(account))/Container")
            }
        }
        CloudAccount.shared.useFolder(containerFolder)
        StoreLocations.shared.use { url, options in
            try UbiquitousLocation(url, options).prepare(account: CloudAccount.shared.name, options)
        }
        CloudAccount.shared.change(to: account)
        UbiquitousStores.shared.use(provider)
        CloudServices.shared.use(provider)
    }

    /// The account that is signed in; `nil` without one.
    public static var account: String? { CloudAccount.shared.name }

    /// Signs in: stores synchronise with the account's places.
    ///
    /// Posts `NSUbiquityIdentityDidChange`. Stores with a ubiquitous content name change in the background; the
    /// notifications `NSPersistentStoreCoordinatorStoresWillChange` and `…DidChange` tell of it. A store of a cloud
    /// container that synchronised with another account does not synchronise: its setup event has error 134405.
    public static func signIn(_ account: String) { CloudAccount.shared.change(to: account) }

    /// Signs out: stores of cloud containers keep their objects and synchronise no more; stores with a ubiquitous
    /// content name are replaced by local ones.
    public static func signOut() { CloudAccount.shared.change(to: nil) }

    /// Ends all that was registered.
    package static func unregister() {
        CloudServices.shared.use(nil)
        UbiquitousStores.shared.use(nil)
        StoreLocations.shared.use(nil)
        CloudAccount.shared.useFolder(nil)
        CloudAccount.shared.change(to: nil)
    }
}

extension NSPersistentCloudKitContainer {
    /// The synchronisation of a store: its state, devices, and the values that lost in conflicts.
    ///
    ///     for conflict in try await container.sync()?.conflicts() ?? [] { print(conflict) }
    ///
    /// - Parameter store: `nil` for the container's first store.
    /// - Returns: `nil` for a local store, without an account, and before the setup has ended.
    /// - Note: This has no counterpart in Apple's framework.
    public final func sync(of store: NSPersistentStore? = nil) -> Sync? {
        guard let store = store ?? persistentStoreCoordinator.persistentStores.first else { return nil }
        return (mirror(of: store) as? StoreMirror)?.sync
    }
}
