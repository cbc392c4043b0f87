import Foundation

/// The type of a store in an SQLite file.
public let NSSQLiteStoreType = "SQLite"
/// The type of a store in memory; it is an SQLite database that has no file.
public let NSInMemoryStoreType = "InMemory"
/// The type of a store in a compact binary file, which is read as a whole and written anew by every save.
///
/// Differs from Apple: the format is our own, see docs/binary-store.md; Apple's is refused with a message.
public let NSBinaryStoreType = "Binary"
/// The type of a store in an XML file of Apple's format, which is read as a whole and written anew by every save.
///
/// Every object has an `<object>`, its attributes and relationships go by their names in small letters.
public let NSXMLStoreType = "XML"

/// Option, Bool: an XML store is checked. Differs from Apple: without effect, since every XML store is checked as it is
/// read.
public let NSValidateXMLStoreOption = "NSValidateXMLStoreOption"
/// Option: a protection class. Differs from Apple: taken and without effect, since files have none here.
public let NSPersistentStoreFileProtectionKey = "NSPersistentStoreFileProtectionKey"
/// Option, Bool: a store is destroyed or replaced although other clients use it.
///
/// Differs from Apple: refused with an error, since it can damage data that they are reading.
public let NSPersistentStoreForceDestroyOption = "NSPersistentStoreForceDestroyOption"
/// Metadata: the earliest system that reads the store. Differs from Apple: kept unchanged, not written.
public let NSPersistentStoreOSCompatibility = "NSPersistentStoreOSCompatibility"
/// Option: classes of transformable values in a binary store. Differs from Apple: accepted without effect, since a
/// binary store contains the transformer's output, like every store.
public let NSBinaryStoreSecureDecodingClasses = "NSBinaryStoreSecureDecodingClasses"
/// Option, Bool: see ``NSBinaryStoreSecureDecodingClasses``. Differs from Apple: taken and without effect.
public let NSBinaryStoreInsecureDecodingCompatibilityOption = "NSBinaryStoreInsecureDecodingCompatibilityOption"

/// Metadata: the store's type.
public let NSStoreTypeKey = "NSStoreType"
/// Metadata: the store's UUID, the host of its object URIs.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata: the version hash of each entity.
public let NSStoreModelVersionHashesKey = "NSStoreModelVersionHashes"
/// Metadata: the model's version identifiers.
public let NSStoreModelVersionIdentifiersKey = "NSStoreModelVersionIdentifiers"
/// Metadata: the model's checksum.
public let NSPersistentStoreModelVersionChecksumKey = "NSStoreModelVersionChecksumKey"

/// Option, Bool: the store is not written to.
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option, seconds: the maximum time to wait for a store that another client is writing to.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option, `[String: String]`: pragmas for every connection, e.g. `["synchronous": "FULL"]`.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option, Bool: ANALYZE when the store is added.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option, Bool: VACUUM when the store is added; files of external data that no row names, which a crash may have left,
/// are removed.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option, Bool: open a store of another model version without comparing hashes.
public let NSIgnorePersistentStoreVersioningOption = "NSIgnorePersistentStoreVersioningOption"
/// Option, Bool: a store of another version of the model is migrated when it is added, by a mapping model of a bundle
/// or, where ``NSInferMappingModelAutomaticallyOption`` is set too, by one that is inferred.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option, Bool: the mapping of a migration is inferred from the two models, and done in the database.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option, Int: the most connections that read at once.
public let NSPersistentStoreConnectionPoolMaxSizeKey = "NSPersistentStoreConnectionPoolMaxSize"
/// Option, Bool or a dictionary: record the changes of every save, for ``NSPersistentHistoryChangeRequest``.
///
/// Without it, a store that has a history opens read-only: readers of the history rely on its completeness.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"
/// Option, Bool: post `NSPersistentStoreRemoteChange` for every transaction of every client.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey =
    "NSPersistentStoreRemoteChangeNotificationOptionKey"

/// Coordinator notification: stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// Coordinator notification: stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"
/// Coordinator notification: a store whose UUID changed.
public let NSUUIDChangedPersistentStoresKey = "changed"
/// Coordinator notification: the URL of a store.
public let NSPersistentStoreURLKey = "storeURL"
/// Coordinator notification: an ``NSPersistentHistoryToken`` with the history's position at that time.
public let NSPersistentHistoryTokenKey = "historyToken"

extension NSNotification.Name {
    /// Stores of a coordinator will change that were added with ``NSPersistentStoreUbiquitousContentNameKey``: save and
    /// reset contexts.
    ///
    /// Object: the coordinator. User info: ``NSRemovedPersistentStoresKey`` and
    /// ``NSPersistentStoreUbiquitousTransitionTypeKey``.
    public static let NSPersistentStoreCoordinatorStoresWillChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresWillChange")
    /// Stores were added to a coordinator or removed; object: the coordinator.
    public static let NSPersistentStoreCoordinatorStoresDidChange = NSNotification.Name(
        "NSPersistentStoreCoordinatorStoresDidChange")
    /// A store is about to be removed; object: the store.
    public static let NSPersistentStoreCoordinatorWillRemoveStore = NSNotification.Name(
        "NSPersistentStoreCoordinatorWillRemoveStore")
    /// A client has written to a store that was added with ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``:
    /// this coordinator, another one or another process.
    ///
    /// Object: the coordinator. User info: `NSStoreUUIDKey`, ``NSPersistentStoreURLKey`` and, if the store records its
    /// history, ``NSPersistentHistoryTokenKey``. Posted on a thread of its own; transactions in quick succession are
    /// reported once.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}
