import CoreData
import Foundation

/// A store that a command works on.
struct OpenStore {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator

    /// Opens the store at that path; it must exist.
    init(_ path: String, model options: ModelOptions, isReadOnly: Bool) throws {
        try Self.checkExists(path)
        let model = try options.resolved(for: path)
        // The classes of the store's program are not here, and need not be.
        for entity in model.entities { entity.managedObjectClassName = nil }
        try self.init(path, model: model, options: [NSReadOnlyPersistentStoreOption: isReadOnly])
        if !isReadOnly, let store = coordinator.persistentStores.first, store.isReadOnly {
            throw ToolFailure("The store \(path) can only be read: it records history, which this tool does not write.")
        }
    }

    /// Makes a store where there is none.
    init(creating path: String, model: NSManagedObjectModel) throws {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw ToolFailure("There is a file at \(path) already; a store is made only where there is none.")
        }
        try self.init(path, model: model, options: [:])
    }

    private init(_ path: String, model: NSManagedObjectModel, options: [String: Bool]) throws {
        self.model = model
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        let options: [AnyHashable: Any] = options.mapValues { NSNumber(value: $0) }
        try coordinator.addPersistentStore(
            type: .sqlite, configuration: nil, at: URL(fileURLWithPath: path), options: options)
    }

    static func checkExists(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolFailure(
                "There is no store at \(path). Make one with: coredata store create \(path) --model MODEL")
        }
        if isFolder.boolValue { throw ToolFailure("\(path) is a folder, not a store.") }
    }

    /// A context with a queue of its own.
    func makeContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// The entity of that name, else a failure that names those that exist.
    func entity(named name: String) throws -> NSEntityDescription {
        if let entity = model.entitiesByName[name] { return entity }
        throw ToolFailure(
            "The model has no entity '\(name)'\(Suggestion.text(for: name, among: Array(model.entitiesByName.keys)))")
    }
}
