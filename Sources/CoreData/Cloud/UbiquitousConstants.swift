import Foundation

// The constants of iCloud as it was from 2011 to 2016; see docs/sync.md, "Apple's names".

/// Option, String: the name of the store's content in the cloud. A store that is added with it synchronises with the
/// stores of this name on other devices.
///
///     let options: [AnyHashable: Any] = [NSPersistentStoreUbiquitousContentNameKey: "Grocery-Dude"]
///     let store = try coordinator.addPersistentStore(
///         ofType: NSSQLiteStoreType, configurationName: nil, at: iCloudStoreURL, options: options)
///
/// Each account has a store file of its own, in the folder `CoreDataUbiquitySupport` beside the URL: the store's `url`
/// tells where. Without an account the store is a local one, also in that folder. Nothing lies at the URL itself, and a
/// store there is not touched.
///
/// Differs from Apple: the program must register a place with `CloudPlaces` of the module `CoreDataSync`. Otherwise the
/// option has no effect: the store lies at the URL itself.
public let NSPersistentStoreUbiquitousContentNameKey = "NSPersistentStoreUbiquitousContentNameKey"
/// Option, String or URL: tells contents of one name apart.
///
/// Differs from Apple: no folder of the file system, but a part of the content's name in the place.
public let NSPersistentStoreUbiquitousContentURLKey = "NSPersistentStoreUbiquitousContentURLKey"
/// Option, String: lets several programs on one device share a content with a store each, in one folder.
public let NSPersistentStoreUbiquitousPeerTokenOption = "NSPersistentStoreUbiquitousPeerTokenOption"
/// Option, Bool: the store at the URL synchronises no more. What a device knows of other devices is deleted; objects
/// stay.
///
///     try coordinator.migratePersistentStore(
///         iCloudStore, to: localURL, options: [NSPersistentStoreRemoveUbiquitousMetadataOption: true],
///         withType: NSSQLiteStoreType)
public let NSPersistentStoreRemoveUbiquitousMetadataOption = "NSPersistentStoreRemoveUbiquitousMetadataOption"
/// Option, String: the identifier of the container; the program's default one without it.
public let NSPersistentStoreUbiquitousContainerIdentifierKey = "NSPersistentStoreUbiquitousContainerIdentifierKey"
/// Option, Bool: the store is made again from the content in the cloud.
///
/// Differs from Apple: the former store is kept, in the folder `store-before-rebuild` beside its own folder `store`.
/// Changes that were not sent yet are in it only.
public let NSPersistentStoreRebuildFromUbiquitousContentOption = "NSPersistentStoreRebuildFromUbiquitousContentOption"
/// User info of `NSPersistentStoreCoordinatorStoresWillChange` and `…DidChange`: the raw value of an
/// ``NSPersistentStoreUbiquitousTransitionType``, as an `NSNumber`.
public let NSPersistentStoreUbiquitousTransitionTypeKey = "NSPersistentStoreUbiquitousTransitionTypeKey"

/// Why the stores of a coordinator change that were added with ``NSPersistentStoreUbiquitousContentNameKey``.
public enum NSPersistentStoreUbiquitousTransitionType: UInt, Sendable {
    /// An account signed in: its store takes the place of the local one.
    case accountAdded = 1
    /// The account signed out: a local store takes the place of its store.
    case accountRemoved = 2
    /// The content was removed on this or another device: an empty store takes the place of the one that had it.
    case contentRemoved = 3
    /// A new store has everything that the cloud had when it was added. The store stays the same.
    case initialImportCompleted = 4
}

extension NSNotification.Name {
    /// Changes of other devices were saved to a store that was added with
    /// ``NSPersistentStoreUbiquitousContentNameKey``.
    ///
    /// Object: the coordinator. User info: sets of `NSManagedObjectID` under `NSInsertedObjectsKey`,
    /// `NSUpdatedObjectsKey` and `NSDeletedObjectsKey`; `mergeChanges(fromContextDidSave:)` takes the notification. It
    /// is posted on any thread.
    public static let NSPersistentStoreDidImportUbiquitousContentChanges = NSNotification.Name(
        "com.apple.coredata.ubiquity.importer.didfinishimport")
}
