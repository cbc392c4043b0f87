import CoreDataModel
import CoreDataSQL

/// The options for opening or creating a store.
package struct StoreOptions: Sendable {
    package var database: DatabaseOptions
    /// The expected value of `NSStoreType`.
    package var type = "SQLite"
    /// Whether to open a store of another version of the model, as far as its tables and columns exist.
    package var ignoresModelVersioning = false
    /// Whether to open a store of an earlier version of this framework unchanged, which gave composite attributes other
    /// version hashes and columns. Otherwise it is refused as a store of another model version, so that it is migrated.
    package var takesFormerComposites = true
    /// Whether the caller records history. Otherwise a store with a history is opened read-only, since unrecorded
    /// changes would break the history's consumers.
    package var tracksHistory = false
    /// Whether to create a store in a missing or empty file.
    package var createsStore = true
    /// The UUID of a new store; `nil` for a generated one.
    package var identifier: String?
    /// Additional metadata of a new store.
    package var metadata: StoreMetadata?
    /// Additional participants of the store's write transactions, besides its search indexes and history.
    package var participants: [any SaveParticipant] = []
    /// Returns the model's document, which a new store caches.
    package var document: (@Sendable () -> ModelDocument)?

    package init(_ database: DatabaseOptions) { self.database = database }

    /// - Parameter path: the path of the file, or of a link to it: the store's other files are next to the file itself.
    package init(path: String?) { database = DatabaseOptions(path: path.map { FileLink.followed($0) }) }
}
