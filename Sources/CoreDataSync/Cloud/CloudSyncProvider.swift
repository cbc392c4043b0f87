import CoreData
import Foundation

/// Synchronises stores that a program adds under Apple's names.
struct CloudSyncProvider: CloudProvider {
    let device: String
    /// The options of one store: each has its own sidecar.
    let options: SyncOptions
    let makePlace: @Sendable (CloudDatabase) throws -> any SyncPlace

    init(
        device: String, options: SyncOptions, makePlace: @escaping @Sendable (CloudDatabase) throws -> any SyncPlace
    ) {
        var options = options
        options.sidecar = nil
        (self.device, self.options, self.makePlace) = (device, options, makePlace)
    }

    func check(_ model: NSManagedObjectModel, configuration: String?) throws {
        _ = try SyncRules(model: model, configuration: configuration)
    }

    func mirror(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator,
        _ options: NSPersistentCloudKitContainerOptions,
        notify: @escaping @Sendable (NSPersistentCloudKitContainer.Event) -> Void
    ) -> any CloudMirror {
        let (identifier, scope) = (options.containerIdentifier, options.databaseScope)
        let mirror = StoreMirror(store, of: coordinator, self) { account in
            CloudDatabase(account: account, containerIdentifier: identifier, scope: scope)
        }
        mirror.begin(StoreMirror.Observer(event: notify))
        return mirror
    }

    func removeUbiquitousContent(ofStoreAt url: URL, _ options: [AnyHashable: Any]) throws {
        try UbiquitousRemoval(self, url, options).run()
    }
}

/// The errors of synchronisation under Apple's names.
enum CloudErrors {
    static func noAccount() -> CocoaError {
        SyncErrors.make(
            CloudServices.cloudAccountMissing,
            "The store does not synchronise, because no account is signed in: call CloudPlaces.signIn(_:). Until then changes stay in the store."
        )
    }

    static func otherAccount(_ known: String, _ present: String) -> CocoaError {
        SyncErrors.make(
            CloudServices.cloudAccountChanged,
            "The store does not synchronise, because it has the data of account '\(known)' and '\(present)' is signed in. Sign in as '\(known)', or use another store file for each account."
        )
    }
}
