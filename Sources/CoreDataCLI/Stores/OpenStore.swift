import CoreData
import CoreDataToolkit
import Foundation

/// A store that a command works on.
struct OpenStore {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    /// The entities that the store has.
    let entities: [NSEntityDescription]

    /// Opens the store at that path for looking into it, which leaves nothing beside it.
    init(reading path: String, model options: ReadingModelOptions) throws {
        try StoreFile.checkExists(path)
        let found = try options.resolved(for: path)
        var storeOptions = StoreFile.readingOptions
        if found.isInferred { storeOptions[NSIgnorePersistentStoreVersioningOption] = NSNumber(value: true) }
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: storeOptions,
            keepsModel: options.options.model != nil)
    }

    /// Opens the store at that path for changing it.
    init(changing path: String, model options: ModelOptions) throws {
        try StoreFile.checkExists(path)
        let found = try options.resolved(for: path)
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: [:],
            keepsModel: options.model != nil)
        guard let store = coordinator.persistentStores.first, store.isReadOnly else { return }
        // It records its history: so do we.
        try coordinator.remove(store)
        try coordinator.addPersistentStore(
            type: .sqlite, configuration: found.configuration, at: StoreFile.url(path),
            options: Self.historyOptions)
    }

    /// Opens the store at that path for changing it, if it records its history.
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

    /// Makes a store where there is none, of the type that its name says.
    init(creating path: String, model: NSManagedObjectModel, withHistory: Bool = false) throws {
        try StoreFile.checkIsFree(path)
        try self.init(
            path, type: StoreFile.type(named: path).rawValue, model: model, configuration: nil,
            options: withHistory ? Self.historyOptions : [:], keepsModel: false)
    }

    /// - Parameter keepsModel: whether a model was given that the store may have a better one than.
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

    /// A context with a queue of its own.
    func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        // Such a value is left out; everything else goes on.
        context.unreadableValueListener = { Terminal.note("warning: \($0)") }
        return context
    }

    /// The entity of that name, in any case; else a failure that names those that exist.
    func entity(named name: String) throws -> NSEntityDescription { try model.entity(called: name) }
}
