import CoreDataModel
import CoreDataSQL

/// How a store is opened or made.
package struct StoreOptions: Sendable {
    package var database: DatabaseOptions
    /// What `NSStoreType` must say.
    package var type = "SQLite"
    /// Whether a store made with another version of the model is opened nevertheless, as far as tables and columns
    /// are there.
    package var ignoresModelVersioning = false
    /// Whether a store of an earlier version of this framework, which gave composite attributes other version hashes and
    /// columns, is opened as it is. Where not, it is refused as one of another version of the model, so that it is migrated.
    package var takesFormerComposites = true
    /// Whether the caller records history. Without it, a store that has history opens for reading only, since a
    /// writer that skips it breaks everyone who reads it.
    package var tracksHistory = false
    /// Whether a missing or empty file becomes a new store.
    package var createsStore = true
    /// The UUID of a store that is made; `nil` makes one up.
    package var identifier: String?
    /// Metadata of a store that is made, beside what every store has.
    package var metadata: StoreMetadata?
    /// What takes part in the transactions that write to the store, beside the store's own search indexes and history.
    package var participants: [any SaveParticipant] = []
    /// Writes down the model, which a new store keeps a copy of.
    package var document: (@Sendable () -> ModelDocument)?

    package init(_ database: DatabaseOptions) { self.database = database }

    /// - Parameter path: the file's, or that of a link to it: what lies beside the file is found by the file's own path.
    package init(path: String?) { database = DatabaseOptions(path: path.map { FileLink.followed($0) }) }
}

/// Makes the driver's database: the engine knows no driver.
package typealias DatabaseFactory = @Sendable (DatabaseOptions) throws -> any SQLDatabase
