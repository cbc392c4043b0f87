import CoreData
import CoreDataToolkit
import Foundation

/// An open store that a command works on.
package struct OpenStore {
    package let model: NSManagedObjectModel
    package let coordinator: NSPersistentStoreCoordinator
    /// The entities of the store.
    package let entities: [NSEntityDescription]

    /// Called for each value that cannot be read; the value is then nil.
    package var unreadableValueListener: ((String) -> Void)?

    /// Opens the store for reading, without leaving files next to it.
    ///
    /// - Parameter isNamed: whether the user named the model, although the store may have cached a better one.
    package init(reading path: String, model found: StoreModel, isNamed: Bool = false) throws {
        var storeOptions = StoreFile.readingOptions
        if found.isInferred { storeOptions[NSIgnorePersistentStoreVersioningOption] = NSNumber(value: true) }
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: storeOptions,
            keepsModel: isNamed)
    }

    /// Opens the store at that path to read its history only, which needs no model.
    package init(historyOf path: String) throws {
        let (document, _) = try ModelInspection.inferredModel(ofStoreAt: StoreFile.url(path))
        try self.init(reading: path, model: StoreModel(document: document, isInferred: true))
    }

    /// Opens the store at that path for changes.
    package init(changing path: String, model found: StoreModel, isNamed: Bool = false) throws {
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: [:], keepsModel: isNamed)
        guard let store = coordinator.persistentStores.first, store.isReadOnly else { return }
        // The store records its history, so reopen it with history tracking.
        try coordinator.remove(store)
        try coordinator.addPersistentStore(
            type: .sqlite, configuration: found.configuration, at: StoreFile.url(path),
            options: Self.historyOptions)
    }

    /// Opens the store for changes, if it records its history.
    package init(withHistory path: String, model found: StoreModel, isNamed: Bool = false) throws {
        try self.init(
            path, model: found.makeModel(), configuration: found.configuration, options: Self.historyOptions,
            keepsModel: isNamed)
    }

    /// - Throws: ``ToolkitError`` if the store does not record its history.
    package static func checkHasHistory(_ path: String) throws {
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(path))
        guard report.hasHistory else {
            throw ToolkitError(
                "The store \(StoreFile.shown(path)) has no history: no program has opened it with history tracking.")
        }
    }

    private static var historyOptions: [AnyHashable: Any] {
        [NSPersistentHistoryTrackingKey: NSNumber(value: true)]
    }

    /// Creates a store if none exists, with the type of its file name.
    package init(creating path: String, model: NSManagedObjectModel, withHistory: Bool = false) throws {
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
            throw ToolkitError(
                ErrorMessage.text(of: error) + "\nThe store keeps a copy of its own model: leave --model out to use it."
            )
        }
    }

    /// Makes a context with a private queue.
    package func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        // Unreadable values are skipped with a warning.
        context.unreadableValueListener = unreadableValueListener
        return context
    }

    /// Returns the entity with the name, ignoring case; otherwise throws an error that lists the entities.
    package func entity(named name: String) throws -> NSEntityDescription { try model.entity(called: name) }
}
