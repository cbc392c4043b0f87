import CoreData
import Foundation

extension CoreDataStack {
    /// How a stack is set up; what it says without a change is what most apps want.
    public struct Options: Sendable {
        /// Which queue the view context is on.
        public enum ViewQueue: Sendable {
            /// The main queue: what is on the main thread uses the context directly.
            case main
            /// One of its own: for servers and command line tools.
            case `private`
        }

        /// The store's type. XML and binary stores have no history and no other processes.
        public var storeType = NSPersistentStore.StoreType.sqlite
        /// The configuration whose entities the store has; `nil` for all.
        public var configuration: String?
        /// Which queue the view context is on.
        public var viewQueue = ViewQueue.main
        /// What a save does about rows that somebody else changed meanwhile: what was changed here wins, property by property.
        public var mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        /// Whether the view context has an undo manager.
        public var undo = true
        /// Whether a store of an older model is migrated; else setting up throws 134100.
        public var migrates = true
        /// Whether a migration may drop something of a store whose version the program has not, as an older program would; `nil` for the
        /// rule of `NSMigratePersistentStoresAllowingLossOption`. With ``versions``, those are what the program has.
        public var migratesAllowingLoss: Bool?
        /// The stages of a migration; without it a mapping model of the bundles counts, else the mapping is inferred.
        public var stagedMigration: NSStagedMigrationManager?
        /// The versions of the model, for a migration through one after the other; `nil` for one step. SQLite stores.
        public var versions: MigrationVersions?
        /// Whether the store records its history, and what other processes write is merged. SQLite stores and stores in memory.
        public var tracksHistory = true
        /// Who changes things, as the history records it.
        public var author: String?
        /// Whether the store is opened for reading only.
        public var isReadOnly = false
        /// A store that is copied to the store's place when there is none yet; see ``DefaultData``.
        public var initialStore: URL?
        /// Pragmas for every connection to an SQLite store.
        public var pragmas: [String: String] = [:]

        /// The options that most apps want.
        public init() {}

        /// Those for a program without a main queue to wait for: a server, a command line tool.
        public static var server: Options {
            var options = Options()
            options.viewQueue = .private
            options.undo = false
            return options
        }
    }
}
