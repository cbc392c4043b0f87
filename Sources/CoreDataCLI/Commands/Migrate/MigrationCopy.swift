import CoreData
import Foundation

/// The copy of a store that `migrate run` keeps, and `migrate rollback` puts back.
///
/// ```
///  no copy ──▶ copy, with the target's checksum in its metadata ──▶ migrated ──▶ checksum removed
///                  │ killed here: the store is of the copy's version            the next run asks what to do with it
///                  ▼                                                    ▲
///              the next run makes the copy anew ───────────────────────┘
/// ```
/// A chain of versions that ended half the way is gone on with; the copy, which is as the store was before it, stays.
struct MigrationCopy {
    let store: URL
    let url: URL

    /// In the copy's metadata while a run has not ended: the checksum of the version that it leads to.
    static let targetKey = "OpenCoreDataMigrationTarget"

    /// Makes the copy, unless an earlier run that did not come to its end has left it.
    ///
    /// - Parameter target: the checksum of the model that the store is migrated to.
    /// - Throws: ``ToolFailure`` where there is the copy of another migration.
    func prepare(for target: String) throws {
        if try StoreTools.isTaken(url) {
            switch try leftover(target) {
            case .begun: return
            case .unused:
                Terminal.note("note: an earlier run ended before it migrated; its copy is made anew")
                try StoreTools.remove(url)
            }
        }
        try StoreTools.makeCopy(of: store, at: url) { made in
            try Self.change(made) { $0[Self.targetKey] = target }
        }
    }

    /// Says that the run has come to its end.
    func finish() throws { try Self.change(url) { $0[Self.targetKey] = nil } }

    /// Removes the copy, and on a server its schema if nothing else is in that.
    func remove() throws {
        try StoreTools.remove(url)
        try StoreTools.removeEmptySchema(of: url)
    }

    // MARK: What an earlier run has left

    private enum Leftover {
        /// The store is as it was when the copy was made, or was written to since.
        case unused
        /// The store is on the way to the same version.
        case begun
    }

    /// Whether an earlier run to that version came half the way.
    func isBegun(for target: String) -> Bool {
        (try? StoreTools.isTaken(url)) == true && (try? leftover(target)) == .begun
    }

    private func leftover(_ target: String) throws -> Leftover {
        let (own, copied) = (Self.metadata(store), Self.metadata(url))
        if let own, let copied, own[NSStoreUUIDKey] as? String == copied[NSStoreUUIDKey] as? String,
            let aim = copied[Self.targetKey] as? String
        {
            let hashes = [own, copied].map { $0[NSStoreModelVersionHashesKey] as? [String: Data] }
            if hashes[0] == hashes[1] { return .unused }
            if aim == target { return .begun }
        }
        throw ToolFailure(
            "There is a copy of an earlier migration at \(StoreFile.shown(url)). Put it back with migrate rollback, or remove it."
        )
    }

    /// - Returns: `nil` for what is no store.
    static func metadata(_ url: URL) -> [String: Any]? {
        try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: StoreTools.type(ofStoreAt: url), at: url, options: StoreFile.readingOptions)
    }

    static func change(_ url: URL, _ change: (inout [String: Any]) -> Void) throws {
        let type = StoreTools.type(ofStoreAt: url)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
        change(&metadata)
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: type, at: url)
    }
}
