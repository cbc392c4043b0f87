import CoreData
import Foundation
import Testing

/// Apple's names with the values and the forms that sources for Apple's platforms use; `import CoreData` alone.
@Suite struct CloudSymbolTests {
    /// A container of a program's own.
    private final class Container: NSPersistentCloudKitContainer, @unchecked Sendable {
        override class func defaultDirectoryURL() -> URL { URL(fileURLWithPath: "/tmp/own") }
        override func canModifyManagedObjects(in store: NSPersistentStore) -> Bool { false }
        override func canUpdateRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { false }
        override func canDeleteRecord(forManagedObjectWith objectID: NSManagedObjectID) -> Bool { false }
        override func initializeCloudKitSchema(
            options: NSPersistentCloudKitContainerSchemaInitializationOptions = []
        ) throws {}
    }

    @Test func containersCanBeSubclassed() throws {
        let container = Container(name: "Own", managedObjectModel: NSManagedObjectModel())
        #expect(container.persistentStoreDescriptions.first?.url?.path == "/tmp/own/Own.sqlite")
        #expect(container.persistentStoreDescriptions.first?.cloudKitContainerOptions != nil)
        try container.initializeCloudKitSchema()
        let plain: NSPersistentContainer = container
        #expect(plain is NSPersistentCloudKitContainer)
    }

    @Test func valuesAreApples() {
        #expect(
            NSPersistentCloudKitContainer.eventChangedNotification.rawValue
                == "NSPersistentCloudKitContainerEventChangedNotification")
        #expect(NSPersistentCloudKitContainer.eventNotificationUserInfoKey == "event")
        typealias Kind = NSPersistentCloudKitContainer.EventType
        #expect([Kind.setup, .import, .export].map(\.rawValue) == [0, 1, 2])
        typealias Result = NSPersistentCloudKitContainerEventResult.ResultType
        #expect([Result.events, .countEvents].map(\.rawValue) == [0, 1])
        typealias Options = NSPersistentCloudKitContainerSchemaInitializationOptions
        #expect([Options.dryRun, .printSchema, [.dryRun, .printSchema], []].map(\.rawValue) == [2, 4, 6, 0])
        typealias Scope = NSPersistentCloudKitContainerOptions.DatabaseScope
        #expect([Scope.public, .private, .shared].map(\.rawValue) == [1, 2, 3])
        typealias Transition = NSPersistentStoreUbiquitousTransitionType
        #expect(
            [Transition.accountAdded, .accountRemoved, .contentRemoved, .initialImportCompleted].map(\.rawValue)
                == [1, 2, 3, 4])
        #expect(
            NSNotification.Name.NSPersistentStoreDidImportUbiquitousContentChanges.rawValue
                == "com.apple.coredata.ubiquity.importer.didfinishimport")
    }

    @Test(arguments: [
        (NSPersistentStoreUbiquitousContentNameKey, "NSPersistentStoreUbiquitousContentNameKey"),
        (NSPersistentStoreUbiquitousContentURLKey, "NSPersistentStoreUbiquitousContentURLKey"),
        (NSPersistentStoreUbiquitousPeerTokenOption, "NSPersistentStoreUbiquitousPeerTokenOption"),
        (NSPersistentStoreRemoveUbiquitousMetadataOption, "NSPersistentStoreRemoveUbiquitousMetadataOption"),
        (NSPersistentStoreUbiquitousContainerIdentifierKey, "NSPersistentStoreUbiquitousContainerIdentifierKey"),
        (NSPersistentStoreRebuildFromUbiquitousContentOption, "NSPersistentStoreRebuildFromUbiquitousContentOption"),
        (NSPersistentStoreUbiquitousTransitionTypeKey, "NSPersistentStoreUbiquitousTransitionTypeKey"),
    ])
    func keysAreTheirNames(key: String, name: String) { #expect(key == name) }

    /// As monitors of synchronisation are written.
    func text(_ event: NSPersistentCloudKitContainer.Event) -> String {
        let kind =
            switch event.type {
            case .setup: "setup"
            case .import: "import"
            case .export: "export"
            }
        guard let end = event.endDate else { return "\(kind) since \(event.startDate)" }
        let seconds = end.timeIntervalSince(event.startDate)
        return
            "\(event.identifier) \(event.storeIdentifier) \(kind) \(event.succeeded) \(seconds) \(event.error.map { $0 as NSError }?.code ?? 0)"
    }
}
