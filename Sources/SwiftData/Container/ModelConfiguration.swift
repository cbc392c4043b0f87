import CoreData
import Foundation

/// The place of a container's models, and their classes.
///
///     ModelConfiguration("Trips")                                   // Trips.store in the folder for application support
///     ModelConfiguration(isStoredInMemoryOnly: true)                // for tests
///     ModelConfiguration(url: folder.appending(path: "trips.store"))
///
/// Without a name, the file is `default.store`.
public struct ModelConfiguration: Identifiable, Hashable, Sendable, CustomDebugStringConvertible {
    /// The name of a configuration without one.
    static let defaultName = "default"

    /// The file of the store; `/dev/null` in memory.
    public let url: URL
    /// The name, which error messages and Core Data's configuration have.
    public let name: String
    /// The app group whose folder contains the store; `nil` for none.
    public let groupAppContainerIdentifier: String?
    /// The cloud container; kept, without effect off Apple's platforms.
    public let cloudKitContainerIdentifier: String?
    /// In which app group's folder the store is.
    public let groupContainer: GroupContainer
    /// Which cloud database mirrors the store; without effect off Apple's platforms.
    public let cloudKitDatabase: CloudKitDatabase
    /// The entities that the store keeps; `nil` for all of the container.
    public var schema: Schema?
    /// Whether models can be saved.
    public let allowsSave: Bool
    /// Whether the store lives in memory and ends with the container.
    public let isStoredInMemoryOnly: Bool
    /// Whether the file is called as the configuration is.
    private let isNamed: Bool

    /// The file of the store.
    public var id: URL { url }

    /// Which cloud database mirrors a store.
    public struct CloudKitDatabase: Hashable, Sendable {
        let identifier: String?
        let isAutomatic: Bool

        /// The database of the app's entitlements. None off Apple's platforms.
        public static let automatic = CloudKitDatabase(identifier: nil, isAutomatic: true)
        /// None.
        public static let none = CloudKitDatabase(identifier: nil, isAutomatic: false)
        /// The private database of a container.
        public static func `private`(_ identifier: String) -> CloudKitDatabase {
            CloudKitDatabase(identifier: identifier, isAutomatic: false)
        }
    }

    /// In which app group's folder a store is.
    public struct GroupContainer: Hashable, Sendable {
        let identifier: String?
        let isAutomatic: Bool

        /// The first group that the app's rights name. None off Apple's platforms.
        public static let automatic = GroupContainer(identifier: nil, isAutomatic: true)
        /// None: in the folder for application support.
        public static let none = GroupContainer(identifier: nil, isAutomatic: false)
        /// A group's folder.
        public static func identifier(_ identifier: String) -> GroupContainer {
            GroupContainer(identifier: identifier, isAutomatic: false)
        }
    }

    /// The default store, or one in memory.
    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// Creates a configuration for some classes, and those that their relationships refer to.
    public init(for types: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(
            nil, schema: types.isEmpty ? nil : Schema(types), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A store by its name.
    ///
    /// - Parameters:
    ///   - name: the name of the configuration, and of the file before `.store`.
    ///   - schema: the entities that the store keeps.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let url =
            isStoredInMemoryOnly
            ? URL(fileURLWithPath: "/dev/null")
            : StoreFolders.url(named: name ?? Self.defaultName, group: groupContainer.identifier)
        self.init(
            name: name, schema: schema, url: url, isStoredInMemoryOnly: isStoredInMemoryOnly, allowsSave: allowsSave,
            isNamed: true, groupContainer: groupContainer, cloudKitDatabase: cloudKitDatabase)
    }

    /// A store by its file.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.init(
            name: name, schema: schema, url: url, isStoredInMemoryOnly: url.path == "/dev/null", allowsSave: allowsSave,
            isNamed: false, groupContainer: .none, cloudKitDatabase: cloudKitDatabase)
    }

    private init(
        name: String?, schema: Schema?, url: URL, isStoredInMemoryOnly: Bool, allowsSave: Bool,
        isNamed: Bool, groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
    ) {
        self.name = name ?? Self.defaultName
        self.schema = schema
        self.url = url
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.allowsSave = allowsSave
        self.isNamed = isNamed
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
        groupAppContainerIdentifier = groupContainer.identifier
        cloudKitContainerIdentifier = cloudKitDatabase.identifier
    }

    public var debugDescription: String {
        "ModelConfiguration '\(name)', \(url.path)" + (isStoredInMemoryOnly ? ", in memory" : "")
            + (allowsSave ? "" : ", read-only")
    }

    /// Checks the name of the file.
    ///
    /// - Throws: ``SwiftDataError/configurationFileNameTooLong``,
    ///   ``SwiftDataError/configurationFileNameContainsInvalidCharacters``.
    public func validate() throws {
        guard !isStoredInMemoryOnly else { return }
        try StoreFolders.validate(fileName: isNamed ? name + ".store" : url.lastPathComponent, of: name)
    }
}
