import CoreData
import Foundation

/// Prepares a store for opening, and opens it.
struct StoreOpening {
    let url: URL?
    let options: CoreDataStack.Options
    let model: NSManagedObjectModel

    init(_ url: URL?, _ options: CoreDataStack.Options, _ model: NSManagedObjectModel) {
        self.url = url
        self.options = options
        self.model = model
    }

    private var type: NSPersistentStore.StoreType { url == nil ? .inMemory : options.storeType }
    private var recordsHistory: Bool { options.tracksHistory && (type == .sqlite || type == .inMemory) }

    /// Creates the folder, deletes remains of an interrupted restore, copies the initial store, and migrates.
    func prepare(_ cancellation: BackgroundWork.Cancellation?, _ progress: ProgressHandler?) throws {
        guard let url else { return }
        if StoreTools.isOnServer(url) { return try prepareServer() }
        guard url.isFileURL else {
            throw ToolkitError("The store's URL '\(url)' is none of a file; make one with URL(fileURLWithPath:).")
        }
        guard !options.isReadOnly else { return }
        do {
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        } catch {
            throw ToolkitError(
                """
                The folder '\(url.deletingLastPathComponent().path)' for the store cannot be made; choose another one, or \
                see to who may write there.
                """, underlying: error)
        }
        WorkFolder.removeLeftovers(beside: url)
        if let initial = options.initialStore {
            try DefaultData.copyInitialStore(from: initial, to: url, type: type)
        }
        try cancellation?.check()
        if options.migrates, options.stagedMigration == nil, options.configuration == nil, type == .sqlite {
            try StoreMigrator(
                url: url, model: model, versions: options.versions, allowsLoss: options.migratesAllowingLoss
            ).run(cancellation, progress)
        }
        try cancellation?.check()
    }

    /// Checks a store on a server, which is created and migrated in one step when it is added.
    private func prepareServer() throws {
        guard options.initialStore == nil else {
            throw ToolkitError(
                "An initial store is copied to where a file is to be: import into a store on a server, or copy it there with coredata store copy."
            )
        }
    }

    /// Adds the store, creating it if it does not exist.
    func add(to coordinator: NSPersistentStoreCoordinator) throws {
        let description = NSPersistentStoreDescription()
        description.url = url
        description.type = type.rawValue
        description.configuration = options.configuration
        description.isReadOnly = options.isReadOnly
        description.shouldMigrateStoreAutomatically = options.migrates
        description.shouldInferMappingModelAutomatically = options.migrates
        description.shouldMigrateStoreAllowingLoss = options.migratesAllowingLoss
        if let staged = options.stagedMigration {
            description.setOption(staged, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        }
        if recordsHistory {
            description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
            description.setOption(
                NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        }
        for (name, value) in options.pragmas { description.setValue(value as NSString, forPragmaNamed: name) }
        try coordinator.addPersistentStore(
            ofType: description.type, configurationName: description.configuration, at: url,
            options: description.options)
    }
}
