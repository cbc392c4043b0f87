import CoreDataStore
import Foundation
import Synchronization

/// A store that is attached to a coordinator.
///
/// Stores are made by `NSPersistentStoreCoordinator.addPersistentStore(ofType:configurationName:at:options:)`. Those of
/// your own are subclasses of ``NSAtomicStore`` or ``NSIncrementalStore``.
///
/// Differs from Apple: the initialiser is `required`, so a subclass that overrides it says `required` instead of
/// `override`.
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
        /// The type under which the store's class was registered.
        var registeredType: String?
    }

    enum Metadata {
        case dictionary([String: Any])
        /// As the store has it: few programs ever look, and to read it costs as much as to open the file.
        case stored(MetadataRow)
    }

    /// Guards the state that a coordinator or a user may change.
    final let state: Mutex<State>
    /// The name of the configuration whose entities the store has.
    public final let configurationName: String
    /// The options with which the store was added.
    public final var options: [AnyHashable: Any]? {
        guard let pragmas = givenOptions?[NSSQLitePragmasOption] as? [String: NSObject] else { return givenOptions }
        return givenOptions?.merging([NSSQLitePragmasOption: pragmas as NSDictionary]) { _, new in new }
    }
    /// Pragmas may be a dictionary of Swift's; see ``NSPersistentStoreDescription/openingOptions``.
    private nonisolated(unsafe) let givenOptions: [AnyHashable: Any]?  // Safe because they do not change.

    init(
        coordinator: NSPersistentStoreCoordinator?, configurationName: String?, url: URL?,
        options: [AnyHashable: Any]?, identifier: String, metadata: Metadata, isReadOnly: Bool
    ) {
        self.configurationName = configurationName ?? Self.defaultConfigurationName
        givenOptions = options
        let initial = Transfer(
            State(
                coordinator: coordinator, url: url, identifier: identifier, metadata: metadata,
                isReadOnly: isReadOnly))
        state = Mutex(initial.value)
        super.init()
    }

    /// Makes a store that the coordinator is about to add; it calls ``loadMetadata()`` next.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        configurationName = name ?? Self.defaultConfigurationName
        givenOptions = options
        let initial = Transfer(
            State(coordinator: root, url: url, identifier: "", metadata: .dictionary([:]), isReadOnly: false))
        state = Mutex(initial.value)
        super.init()
    }

    // MARK: For subclasses

    /// Reads the store's metadata and sets ``metadata``, with its type and UUID, before any other request to the store.
    ///
    /// The default uses ``metadataForPersistentStore(with:)`` if there is a file; a store without a UUID gets one.
    open func loadMetadata() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else { return }
        let found = try Swift.type(of: self).metadataForPersistentStore(with: url)
        if !found.isEmpty { metadata = found }
    }

    /// Returns the metadata of a store at a URL that is not attached; empty unless overridden.
    open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] { [:] }

    /// Writes the metadata of a store at a URL that is not attached.
    ///
    /// - Throws: an error unless overridden.
    open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError, "\(self) must override setMetadata(_:forPersistentStoreAt:).")
    }

    /// Called when the store has been added to a coordinator.
    open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

    /// Called before the store is removed from its coordinator.
    open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

    // MARK: What it is

    /// The coordinator that the store is attached to; `nil` once it was removed.
    public final var persistentStoreCoordinator: NSPersistentStoreCoordinator? { state.withLock { $0.coordinator } }

    /// The URL of the store; `nil` in memory.
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
    open var type: String { state.withLock { $0.registeredType } ?? NSSQLiteStoreType }

    /// Whether the store is read-only; your own store may set it while it is made.
    public final var isReadOnly: Bool {
        get { state.withLock { $0.isReadOnly } }
        set { state.withLock { $0.isReadOnly = newValue } }
    }

    /// The store's metadata, as stored or as the next save will write them.
    ///
    /// A subclass that keeps them itself overrides this property. When the store is added, the coordinator reads them
    /// after ``loadMetadata()``, and sets them with a missing type, UUID and version hashes. If a setter calls
    /// `super`'s, the next save writes them.
    open var metadata: [String: Any]! {
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

    /// The name of the configuration with all entities.
    static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

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

    /// The name of the store in messages: its file, or its type if it has none.
    final var shownName: String {
        guard let name = url?.lastPathComponent, !name.isEmpty, name != "/", url?.isNullDevice == false else {
            return type
        }
        return name
    }

    open override var description: String {
        "<\(Swift.type(of: self)): \(type) \(url?.path ?? "in memory"), configuration \(configurationName)>"
    }
}

extension NSPersistentStoreRequest {
    /// The stores that the request is for; all of the coordinator's for `nil`.
    public final var affectedStores: [NSPersistentStore]? {
        get { affectedStoreObjects as? [NSPersistentStore] }
        set { affectedStoreObjects = newValue }
    }
}
