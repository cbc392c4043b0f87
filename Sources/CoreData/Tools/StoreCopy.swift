import CoreDataStore
import Foundation

/// A copy of a store in another place or of another type, compared with its source.
///
///     let copy = try StoreCopy.run(store, of: coordinator, to: url, type: .postgreSQL) { done, all in … }
///     print(copy.objectCount, copy.differences)
package struct StoreCopy: Sendable {
    /// The UUID of the new store.
    package var identifier: String
    package var objectCount: Int
    /// Of many-to-many relationships.
    package var linkCount: Int
    /// How many objects of each entity there are, by name.
    package var counts: [String: Int]
    /// The number of objects and links that an interrupted copy had completed.
    package var foundCount = 0
    /// The differences, one line each; empty if there are none, or if they were not compared.
    package var differences: [String]

    /// Copies an attached store in its state at one moment. The copy appears at the URL only when it is complete.
    ///
    /// An interrupted copy to a server or an SQLite file is continued if the source has not changed since.
    ///
    /// - Parameters:
    ///   - checks: whether counts and checksums of both are compared.
    ///   - progress: receives the number of copied objects and links, and the number of all objects.
    /// - Throws: 516 if something exists there, and the errors of adding a store and saving.
    package static func run(
        _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, to url: URL,
        type: NSPersistentStore.StoreType, checks: Bool = true, progress: @escaping (Int, Int) -> Void
    ) throws -> StoreCopy {
        guard let old = coordinator.attachedStore(of: store) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "The store is not attached to this coordinator.")
        }
        let storeType = ServerStores.shared.type(type.rawValue, at: url)
        do {
            guard let copyable = old.target as? any CopyableSource else {
                return try copy(old, coordinator, url, storeType, checks, progress)
            }
            return try copyable.readingOneMoment { try copy(old, coordinator, url, storeType, checks, progress) }
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }

    private static func copy(
        _ old: AttachedStore, _ coordinator: NSPersistentStoreCoordinator, _ url: URL, _ type: String, _ checks: Bool,
        _ progress: @escaping (Int, Int) -> Void
    ) throws -> StoreCopy {
        let model = coordinator.runtime.model
        // A store of one file assigns its own keys.
        let isServer = ServerStores.shared.driver(ofType: type) != nil
        let keepsKeys = old.target is any CopyableSource && (type == NSSQLiteStoreType || isServer)
        let digest = try RowDigest(of: old.target, model: model, keepsKeys: keepsKeys)
        let all = digest.objectCount
        progress(0, all)
        let version = coordinator.managedObjectModel.versionChecksum
        let purpose = "copy of \(old.identifier), \(digest.text), by \(version)"
        var foundCount = 0
        let resumption = NSPersistentStoreCoordinator.CopyResumption(
            purpose: purpose,
            isWhole: { copy in
                if try RowDigest(of: copy, model: model, keepsKeys: keepsKeys) == digest { return true }
                // Another client has changed it: the copy starts again.
                foundCount = 0
                return false
            }, found: { foundCount += $0 })
        return try coordinator.whileChanging {
            try NSPersistentStoreCoordinator.checkTarget(url, type)
            let made = try coordinator.attach(at: url, makes: true) { index in
                try coordinator.copy(
                    old, to: url, type: type, options: nil, index: index, resumption: resumption
                ) { progress($0, all) }
            }
            defer { try? coordinator.remove(made) }
            guard let new = coordinator.attachedStore(of: made) else {
                throw CoreDataErrors.make(NSPersistentStoreOperationError, "The copy was removed from the coordinator.")
            }
            let other = checks ? try RowDigest(of: new.target, model: model, keepsKeys: keepsKeys) : digest
            return StoreCopy(
                identifier: new.identifier, objectCount: digest.objectCount, linkCount: digest.linkCount,
                counts: digest.entities.mapValues(\.count), foundCount: foundCount,
                differences: digest.differences(from: other))
        }
    }
}
