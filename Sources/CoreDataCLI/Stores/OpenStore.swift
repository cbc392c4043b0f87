import CoreData
import CoreDataToolkit
import Foundation

/// An open store that a command works on.
struct OpenStore {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    /// The entities of the store.
    let entities: [NSEntityDescription]

    /// Opens the store for reading, without leaving files next to it.
    init(reading path: String, model options: ReadingModelOptions) throws {
        try StoreFile.checkExists(path)
        let found = try options.resolved(for: path)
        var storeOptions = StoreFile.readingOptions
        if found.isInferred { storeOptions[NSIgnorePersistentStoreVersioningOption] = NSNumber(value: true) }
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: storeOptions,
            keepsModel: options.options.model != nil)
    }

    /// Opens the store at that path to read its history only, which needs no model.
    init(historyOf path: String) throws {
        let (document, _) = try ModelInspection.inferredModel(ofStoreAt: StoreFile.url(path))
        let found = StoreModel(document: document, isInferred: true)
        var options = StoreFile.readingOptions
        options[NSIgnorePersistentStoreVersioningOption] = NSNumber(value: true)
        try self.init(path, model: found.makeModel(), configuration: nil, options: options, keepsModel: false)
    }

    /// Opens the store at that path for changes.
    init(changing path: String, model options: ModelOptions) throws {
        try StoreFile.checkExists(path)
        let found = try options.resolved(for: path)
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: [:],
            keepsModel: options.model != nil)
        guard let store = coordinator.persistentStores.first, store.isReadOnly else { return }
        // The store records its history, so reopen it with history tracking.
        try coordinator.remove(store)
        try coordinator.addPersistentStore(
            type: .sqlite, configuration: found.configuration, at: StoreFile.url(path),
            options: Self.historyOptions)
    }

    /// Opens the store for changes, if it records its history.
    init(withHistory path: String, model options: ModelOptions) throws {
        try StoreFile.checkExists(path)
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(path))
        guard report.hasHistory else {
            throw ToolFailure(
                "The store \(StoreFile.shown(path)) has no history: no program has opened it with history tracking.")
        }
        let found = try options.resolved(for: path)
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: Self.historyOptions,
            keepsModel: options.model != nil)
    }

    private static var historyOptions: [AnyHashable: Any] {
        [NSPersistentHistoryTrackingKey: NSNumber(value: true)]
    }

    /// Creates a store if none exists, with the type of its file name.
    init(creating path: String, model: NSManagedObjectModel, withHistory: Bool = false) throws {
        try StoreFile.checkIsFree(path)
        try self.init(
            path, type: StoreFile.type(named: path).rawValue, model: model, configuration: nil,
            options: withHistory ? Self.historyOptions : [:], keepsModel: false)
    }

    /// - Parameter keepsModel: whether the user named a model, and the store may have cached a better one.
    private init(
        _ path: String, type: String? = nil, model: NSManagedObjectModel, configuration: String?,
        options: [AnyHashable: Any], keepsModel: Bool
    ) throws {
        self.model = model
        entities = model.entities(forConfigurationName: configuration) ?? model.entities
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        let url = StoreFile.url(path)
        do {
            try coordinator.addPersistentStore(
                ofType: type ?? StoreFile.typeOfOneFile(path) ?? NSSQLiteStoreType, configurationName: configuration,
                at: url, options: options)
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreIncompatibleVersionHashError {
            guard keepsModel, (try? ModelInspection.cachedModel(ofStoreAt: url)) != nil else { throw error }
            throw ToolFailure(
                ErrorText.describe(error) + "\nThe store keeps a copy of its own model: leave --model out to use it.")
        }
    }

    /// Makes a context with a private queue.
    func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        // Unreadable values are skipped with a warning.
        context.unreadableValueListener = { Terminal.note("warning: \($0)") }
        return context
    }

    /// Returns the entity with the name, ignoring case; otherwise throws an error that lists the entities.
    func entity(named name: String) throws -> NSEntityDescription { try model.entity(called: name) }
}
