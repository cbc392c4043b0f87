import CoreDataStore
import Foundation
import Synchronization

/// A store that is attached to a coordinator.
///
/// Stores are made by `NSPersistentStoreCoordinator.addPersistentStore(ofType:configurationName:at:options:)`.
///
/// Differs from Apple: custom stores (`NSAtomicStore`, `NSIncrementalStore`) do not exist yet.
open class NSPersistentStore: NSObject, @unchecked Sendable {
    // Safe because what changes after the initialiser is guarded by `state`.

    struct State {
        weak var coordinator: NSPersistentStoreCoordinator?
        var url: URL?
        var identifier: String
        var metadata: Metadata
        var hasUnsavedMetadata = false
        var metadataEdits = 0
        var isReadOnly: Bool
    }

    enum Metadata {
        case dictionary([String: Any])
        /// As the store has it: few programs ever look, and to read it costs as much as to open the file.
        case stored(MetadataRow)
    }

    /// Guards what a coordinator or a user may change.
    final let state: Mutex<State>
    /// The name of the configuration whose entities the store has.
    public final let configurationName: String
    /// The options with which the store was added.
    public final nonisolated(unsafe) let options: [AnyHashable: Any]?  // Safe because nobody changes them.

    init(
        coordinator: NSPersistentStoreCoordinator?, configurationName: String?, url: URL?,
        options: [AnyHashable: Any]?, identifier: String, metadata: Metadata, isReadOnly: Bool
    ) {
        self.configurationName = configurationName ?? "PF_DEFAULT_CONFIGURATION_NAME"
        self.options = options
        let initial = Transfer(
            State(
                coordinator: coordinator, url: url, identifier: identifier, metadata: metadata,
                isReadOnly: isReadOnly))
        state = Mutex(initial.value)
        super.init()
    }

    /// The coordinator that the store is attached to; `nil` once it was removed.
    public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// Where the store lies; `nil` in memory.
    public final var url: URL? {
        get { state.withLock { $0.url } }
        set { state.withLock { $0.url = newValue } }
    }

    /// The store's UUID.
    public final var identifier: String! {
        get { state.withLock { $0.identifier } }
        set { state.withLock { $0.identifier = newValue ?? "" } }
    }

    /// The store's type, e.g. `NSSQLiteStoreType`.
    open var type: String { NSSQLiteStoreType }

    /// Whether the store is not written to.
    public final var isReadOnly: Bool { state.withLock { $0.isReadOnly } }

    /// The store's metadata, as it is or as the next save will write it.
    public final var metadata: [String: Any]! {
        get {
            state.withLock { state in
                if case .dictionary(let dictionary) = state.metadata { return Transfer(dictionary) }
                guard case .stored(let row) = state.metadata else { return Transfer([:]) }
                let read = Transfer(row.dictionary)
                state.metadata = .dictionary(read.value)
                return read
            }.value
        }
        set {
            let metadata = Transfer(newValue ?? [:])
            state.withLock {
                $0.metadata = .dictionary(metadata.value)
                $0.hasUnsavedMetadata = true
                $0.metadataEdits += 1
            }
        }
    }

    /// Why a store that was not opened for reading only is read-only.
    var readOnlyReason: String? { nil }

    /// A type of store, as an overlay of its name.
    public struct StoreType: RawRepresentable, Hashable, Sendable {
        /// The type in the long spelling, e.g. `NSSQLiteStoreType`.
        public let rawValue: String

        /// A type by its long spelling, also one of your own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An SQLite database.
        public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
        /// A binary file, read and written as a whole.
        public static let binary = StoreType(rawValue: NSBinaryStoreType)
        /// No file: the store ends with its coordinator.
        public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
        /// An XML file, read and written as a whole.
        public static let xml = StoreType(rawValue: NSXMLStoreType)
    }

    open override var description: String {
        "<\(Swift.type(of: self)): \(type) \(url?.path ?? "in memory"), configuration \(configurationName)>"
    }
}

/// A value on its way across an isolation boundary; whoever sends it does not keep it.
struct Transfer<Value>: @unchecked Sendable {
    // Safe because it changes no more after it was made, or who sends it has let go of it.
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension NSPersistentStoreRequest {
    /// The stores that the request is for; all of the coordinator's for `nil`.
    public final var affectedStores: [NSPersistentStore]? {
        get { affectedStoreObjects as? [NSPersistentStore] }
        set { affectedStoreObjects = newValue }
    }
}
