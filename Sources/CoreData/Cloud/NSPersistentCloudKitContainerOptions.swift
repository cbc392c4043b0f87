import Foundation

/// The cloud container of a store of an ``NSPersistentCloudKitContainer``.
///
///     description.cloudKitContainerOptions = NSPersistentCloudKitContainerOptions(containerIdentifier: "iCloud.com.example.Groceries")
///
/// The place that `CloudPlaces` of the module `CoreDataSync` has for the identifier and the scope synchronises the
/// store.
open class NSPersistentCloudKitContainerOptions: NSObject {
    /// A database of a container. Each one is a place of its own.
    ///
    /// Differs from Apple: the type is `CKDatabase.Scope` there; `.private` and the other cases have the same names and
    /// values.
    public enum DatabaseScope: Int, Sendable {
        /// Everybody's.
        case `public` = 1
        /// The account's own.
        case `private` = 2
        /// What other accounts share with this one.
        case shared = 3
    }

    /// The identifier of the container.
    public let containerIdentifier: String

    /// The database of the container; ``DatabaseScope/private`` unless set.
    open var databaseScope = DatabaseScope.private

    /// Makes options for a container.
    public init(containerIdentifier: String) {
        self.containerIdentifier = containerIdentifier
        super.init()
    }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentCloudKitContainerOptions else { return false }
        return containerIdentifier == other.containerIdentifier && databaseScope == other.databaseScope
    }

    open override var hash: Int { containerIdentifier.hashValue ^ databaseScope.rawValue }
}
