import Foundation

extension NSPersistentStoreCoordinator {
    /// Removes a store that was added with ``NSPersistentStoreUbiquitousContentNameKey``, and its content in the cloud,
    /// from all devices.
    ///
    ///     try NSPersistentStoreCoordinator.removeUbiquitousContentAndPersistentStore(
    ///         at: iCloudStoreURL, options: [NSPersistentStoreUbiquitousContentNameKey: "Grocery-Dude"])
    ///
    /// Remove the store from its coordinator before. Other devices replace their stores by empty ones when they next
    /// look at the place, with the transition ``NSPersistentStoreUbiquitousTransitionType/contentRemoved``. Blocks the
    /// thread until the place has answered.
    ///
    /// - Parameters:
    ///   - storeURL: the URL that the store was added with, or the store's own.
    ///   - options: those that the store was added with.
    /// - Throws: 134400 without a registered place or without an account. 134070 without a content name in the options.
    ///   134070 if a coordinator has the store. The place's own error if the content cannot be removed. If only some
    ///   files of the place could not be deleted, the content is removed nevertheless.
    public class func removeUbiquitousContentAndPersistentStore(
        at storeURL: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        guard let provider = CloudServices.shared.provider else { throw CloudServices.missingProvider() }
        try provider.removeUbiquitousContent(ofStoreAt: storeURL, options ?? [:])
    }

    /// Puts another store in the place of one that was added with a ubiquitous content name, and tells observers why.
    ///
    /// `NSPersistentStoreCoordinatorStoresWillChange` is posted while the old store is attached, so that contexts can
    /// be saved.
    ///
    /// - Parameter prepare: called between: no store is attached then that lies at either URL.
    /// - Throws: what `prepare` throws; then the old store is attached again. If that fails the store is removed.
    package final func exchangeUbiquitousStore(
        _ old: NSPersistentStore, for url: URL, because transition: NSPersistentStoreUbiquitousTransitionType,
        _ prepare: () throws -> Void
    ) throws {
        let (configuration, options) = (old.openingConfiguration, old.options)
        announce(.NSPersistentStoreCoordinatorStoresWillChange, added: [], removed: [old], because: transition)
        func open(_ url: URL) throws -> NSPersistentStore {
            try StoreFolder.making(for: url) {
                try attach(at: url, makes: true, notifies: false) { index in
                    try openStore(
                        type: old.type, configuration: configuration, url: url, options: options, index: index)
                }
            }
        }
        func announceChange(_ added: [NSPersistentStore]) {
            announce(.NSPersistentStoreCoordinatorStoresDidChange, added: added, removed: [old], because: transition)
        }
        let result: Result<NSPersistentStore, any Error> = try whileChanging {
            try detach(old)
            return Result {
                try prepare()
                return try open(url)
            }
        }
        switch result {
        case .success(let new): announceChange([new])
        case .failure(let error):
            let former = old.url.flatMap { url in try? whileChanging { try open(url) } }
            announceChange(former.map { [$0] } ?? [])
            throw error
        }
    }

    /// Tells observers that a store has everything that the cloud had when the store was added.
    package final func announceInitialImport(of store: NSPersistentStore) {
        for name in [
            NSNotification.Name.NSPersistentStoreCoordinatorStoresWillChange,
            .NSPersistentStoreCoordinatorStoresDidChange,
        ] { announce(name, added: [store], removed: [store], because: .initialImportCompleted) }
    }

    private func announce(
        _ name: NSNotification.Name, added: [NSPersistentStore], removed: [NSPersistentStore],
        because transition: NSPersistentStoreUbiquitousTransitionType
    ) {
        NotificationCenter.default.post(
            name: name, object: self,
            userInfo: [
                NSAddedPersistentStoresKey: added, NSRemovedPersistentStoresKey: removed,
                NSPersistentStoreUbiquitousTransitionTypeKey: NSNumber(value: transition.rawValue),
            ])
    }
}
