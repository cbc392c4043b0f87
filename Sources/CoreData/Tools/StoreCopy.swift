import CoreDataStore
import Foundation

/// A copy of a store in another place or of another type, compared with what it was made of.
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
    /// How many of the objects and links a copy before this one had got done.
    package var foundCount = 0
    /// In what the copy differs, a line each; empty where it does not, or nobody looked.
    package var differences: [String]

    /// Copies what an attached store has at one moment. The copy is at the URL when it is whole, and not before.
    ///
    /// One to a server or an SQLite file that ended before it was whole is gone on with, if the source has not changed since.
    ///
    /// - Parameters:
    ///   - checks: whether counts and checksums of both are compared.
    ///   - progress: told how many objects and links are copied, and how many objects there are.
    /// - Throws: 516 where there is something already, what adding a store and saving may throw.
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
        // A store of one file gives out keys of its own.
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
                // Somebody has changed it: the copy begins anew.
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
