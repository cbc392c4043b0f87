import CoreData
import Foundation

extension CoreDataStack {
    /// The options of a stack; the defaults suit most apps.
    public struct Options: Sendable {
        /// The queue of the view context.
        public enum ViewQueue: Sendable {
            /// The main queue: code on the main thread uses the context directly.
            case main
            /// A private queue, for servers and command line tools.
            case `private`
        }

        /// The type of the store. XML and binary stores support neither history nor several processes.
        public var storeType = NSPersistentStore.StoreType.sqlite
        /// The configuration whose entities the store has; `nil` for all.
        public var configuration: String?
        /// The queue of the view context.
        public var viewQueue = ViewQueue.main
        /// The policy for conflicts with rows that were changed since they were read: by default, the values of the
        /// saving context win, property by property.
        public var mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        /// Whether the view context has an undo manager.
        public var undo = true
        /// Whether to migrate a store with an older model; otherwise setup throws error 134100.
        public var migrates = true
        /// Whether a migration may drop data of a store whose version is unknown to the program, as an older program
        /// would; `nil` for the rule of `NSMigratePersistentStoresAllowingLossOption`. If ``versions`` is set, these
        /// are the known versions.
        public var migratesAllowingLoss: Bool?
        /// The stages of a migration; by default a mapping model in the bundles is used, or else the mapping is
        /// inferred.
        public var stagedMigration: NSStagedMigrationManager?
        /// The model's versions, for a migration in several steps; `nil` for one step. Only for SQLite stores.
        public var versions: MigrationVersions?
        /// Whether the store records its history, and changes of other processes are merged. Only for SQLite and
        /// in-memory stores.
        public var tracksHistory = true
        /// The author that the history records.
        public var author: String?
        /// Whether the store is opened for reading only.
        public var isReadOnly = false
        /// A store that is copied if the stack's store does not exist yet; see ``DefaultData``.
        public var initialStore: URL?
        /// Pragmas for every connection to an SQLite store.
        public var pragmas: [String: String] = [:]

        /// Makes the default options.
        public init() {}

        /// The options for a program without a main queue: a server or a command line tool.
        public static var server: Options {
            var options = Options()
            options.viewQueue = .private
            options.undo = false
            return options
        }
    }
}
