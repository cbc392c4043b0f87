import CoreData
import CoreDataStoreTools
import Foundation

/// The copy of a store that `migrate run` makes, and that `migrate rollback` restores.
///
/// ```
///  no copy ──▶ copy, with the target's checksum in its metadata ──▶ migrated ──▶ checksum removed
///                  │ killed here: the store has the copy's version
///                  ▼                                                         ▲
///              the next run makes the copy again ───────────────────────────┘
/// ```
/// An interrupted chain of versions is continued; the copy from before the chain is kept.
struct MigrationCopy {
    let store: URL
    let url: URL

    /// The metadata key that the copy has until the run ends: the checksum of the target version.
    static let targetKey = "OpenCoreDataMigrationTarget"

    /// Makes the copy, unless an interrupted run has left it.
    ///
    /// - Parameter target: the checksum of the model to migrate to.
    /// - Throws: ``ToolFailure`` if a copy of another migration exists.
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

    /// Records in the copy that the run has ended.
    func finish() throws { try Self.change(url) { $0[Self.targetKey] = nil } }

    /// Deletes the copy; on a server also its schema, if it is empty then.
    func remove() throws {
        try StoreTools.remove(url)
        try StoreTools.removeEmptySchema(of: url)
    }

    // MARK: State after an earlier run

    private enum Leftover {
        /// The store is unchanged since the copy was made, or was saved to since.
        case unused
        /// The store is being migrated to the same version.
        case begun
    }

    /// Returns whether an earlier run to that version was interrupted.
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

    /// - Returns: the metadata; `nil` if there is no store.
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
