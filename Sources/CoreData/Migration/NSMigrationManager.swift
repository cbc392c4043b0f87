import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Synchronization

/// Migrates a store object by object, as a mapping model tells.
///
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
///
/// Three passes go through the mappings in order: objects are made, then related, then validated; then the new store
/// is saved.
/// A migration that fails leaves the source as it was, and nothing of a destination that it made.
///
/// Differs from Apple: the objects of both stores are in memory until the end.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    // Safe because what other threads may ask for or set is guarded by `shared`.

    private struct Shared {
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    /// Guards what other threads ask for.
    private let shared = Mutex(Shared())
    /// The model of the store that is migrated.
    public let sourceModel: NSManagedObjectModel
    /// The model of the store that is made.
    public let destinationModel: NSManagedObjectModel
    /// Whether a store is migrated inside its database where its mapping was inferred; no policy and no delegate
    /// takes part.
    open var usesStoreSpecificMigrationManager = true
    /// Told how far the migration is, from 0 to 1, whenever that changes; it may cancel.
    ///
    /// Differs from Apple: there `migrationProgress` is observed by key-value observing.
    public final var progressListener: ((Float) -> Void)?
    /// What the user keeps with the manager.
    open var userInfo: [AnyHashable: Any]?
    /// The mapping model of the migration that runs.
    open private(set) var mappingModel: NSMappingModel!
    /// The mapping that is being gone through.
    open private(set) var currentEntityMapping: NSEntityMapping!
    private var contexts: (source: NSManagedObjectContext, destination: NSManagedObjectContext)?
    private var policies: [String: NSEntityMigrationPolicy] = [:]
    private var associations: [String: Associations] = [:]

    /// What has become of what, by one mapping.
    private struct Associations {
        var destinations: [NSManagedObjectID: [NSManagedObject]] = [:]
        var sources: [NSManagedObjectID: [NSManagedObject]] = [:]
        /// In the order in which they were made.
        var made: [NSManagedObject] = []
    }

    /// Makes a manager for stores of one model that become stores of another.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    /// The context of the objects that are migrated, while a migration runs.
    open var sourceContext: NSManagedObjectContext { contexts?.source ?? NSManagedObjectContext(.privateQueue) }
    /// The context of the objects that they become, while a migration runs.
    open var destinationContext: NSManagedObjectContext {
        contexts?.destination ?? NSManagedObjectContext(.privateQueue)
    }

    /// How far the migration is, from 0 to 1.
    open var migrationProgress: Float { shared.withLock(\.progress) }

    /// Ends the migration that runs, which then throws the error; from any thread.
    open func cancelMigrationWithError(_ error: any Error) {
        let error = Transfer(error)
        shared.withLock { $0.cancellation = error.value }
    }

    /// Forgets what has become of what.
    open func reset() {
        associations = [:]
        policies = [:]
        contexts = nil
        currentEntityMapping = nil
        shared.withLock { $0 = Shared() }
    }

    // MARK: Entities and associations

    /// The entity of the older model that a mapping is of.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The entity of the newer model that a mapping is of.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Notes that one object has become the other by that mapping.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        let name: String = entityMapping.name
        associations[name, default: Associations()].destinations[sourceInstance.objectID, default: []].append(
            destinationInstance)
        associations[name, default: Associations()].sources[destinationInstance.objectID, default: []].append(
            sourceInstance)
        associations[name, default: Associations()].made.append(destinationInstance)
    }

    /// What the objects have become by the mapping of that name; `nil` for all of them.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let sourceInstances else { return associations[mappingName]?.made ?? [] }
        return sourceInstances.flatMap { source in
            let found = associations[mappingName]?.destinations[source.objectID]
            // An inferred mapping of an entity is asked for objects of those below it, which have mappings of their
            // own.
            return found ?? (mappingModel?.isInferred == true ? others(source.objectID) : [])
        }
    }

    /// What the objects have become, by whatever mapping.
    final func destinations(of sources: [NSManagedObject]) -> [NSManagedObject] {
        sources.flatMap { others($0.objectID) }
    }

    private func others(_ id: NSManagedObjectID) -> [NSManagedObject] {
        for found in associations.values { if let made = found.destinations[id] { return made } }
        return []
    }

    /// What the objects were before the mapping of that name.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let known = associations[mappingName]?.sources ?? [:]
        guard let destinationInstances else { return known.values.flatMap { $0 } }
        return destinationInstances.flatMap { known[$0.objectID] ?? [] }
    }

    // MARK: Migrating

    /// Makes a store of what the source store has, as the mapping model tells. A destination that exists is added to.
    ///
    /// - Throws: a `CocoaError`: 134150 and 134160 where a store cannot be opened, 134170 where a policy fails, what
    ///   ``cancelMigrationWithError(_:)`` was given, or what is wrong with the objects.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataErrors.make(NSMigrationMissingMappingModelError, "A migration needs a mapping model.")
        }
        reset()
        mappingModel = mappings
        let files = FileManager.default
        let isNew = !files.fileExists(atPath: dURL.path)
        try check(mappings)
        if usesStoreSpecificMigrationManager, mappings.isAsInferred, isNew, sStoreType == NSSQLiteStoreType,
            dStoreType == NSSQLiteStoreType
        {
            // Whether it is a store of the older model shows by opening it.
            let source = try open(sourceURL, sStoreType, sOptions, sourceModel, isSource: true)
            for store in source.persistentStores { try source.remove(store) }
            return try migrateInDatabase(from: sourceURL, to: dURL, options: dOptions)
        }
        do {
            try migrate(
                from: try open(sourceURL, sStoreType, sOptions, sourceModel, isSource: true),
                to: try open(dURL, dStoreType, dOptions, destinationModel, isSource: false))
        } catch {
            contexts = nil
            if isNew { try? remove(dURL, dStoreType) }
            throw error
        }
    }

    /// As ``migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)``.
    public final func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }

    /// - Throws: 134110 for a mapping of an entity that its model has not, or has with another version hash.
    private func check(_ mappings: NSMappingModel) throws {
        for mapping in mappings.entityMappings ?? [] {
            for (name, hash, model) in [
                (mapping.sourceEntityName, mapping.sourceEntityVersionHash, sourceModel),
                (mapping.destinationEntityName, mapping.destinationEntityVersionHash, destinationModel),
            ] {
                guard let name else { continue }
                guard let known = model.entityVersionHashesByName[name] else {
                    throw CoreDataErrors.make(
                        NSMigrationError,
                        "The mapping '\(mapping.name ?? "")' names the entity '\(name)', which its model has not; it has: "
                            + model.entitiesByName.keys.sorted().joined(separator: ", "))
                }
                guard hash == nil || hash == known else {
                    throw CoreDataErrors.make(
                        NSMigrationError,
                        "The mapping '\(mapping.name ?? "")' is of another version of the entity '\(name)': the version hashes differ."
                    )
                }
            }
        }
    }

    private func migrateInDatabase(from source: URL, to destination: URL, options: [AnyHashable: Any]?) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destinationModel)
        do {
            try coordinator.replacePersistentStore(at: destination, withPersistentStoreFrom: source, type: .sqlite)
            var migration = LightweightMigration(
                to: destinationModel, configuration: nil, files: [sourceModel.fileURL].compactMap { $0 },
                source: sourceModel)
            migration.progress = { [self] done in try step(done) }
            try migration.run(at: destination, options: options)
        } catch {
            try? remove(destination, NSSQLiteStoreType)
            if let cancellation = shared.withLock({ Transfer($0.cancellation) }).value { throw cancellation }
            throw error
        }
    }

    private func remove(_ url: URL, _ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destinationModel)
        try coordinator.destroyPersistentStore(at: url, ofType: type)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }

    private func open(
        _ url: URL, _ type: String, _ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel, isSource: Bool
    ) throws -> NSPersistentStoreCoordinator {
        var options = options ?? [:]
        if isSource { options[NSReadOnlyPersistentStoreOption] = true }
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            let coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
            return coordinator
        } catch {
            throw CoreDataErrors.make(
                isSource ? NSMigrationManagerSourceStoreError : NSMigrationManagerDestinationStoreError,
                "The store '\(url.path)' that the migration \(isSource ? "is of" : "makes") cannot be opened: \(error.localizedDescription)",
                [NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: error])
        }
    }

    // MARK: Passes

    private func migrate(from source: NSPersistentStoreCoordinator, to destination: NSPersistentStoreCoordinator) throws
    {
        let old = NSManagedObjectContext(.privateQueue)
        let new = NSManagedObjectContext(.privateQueue)
        old.persistentStoreCoordinator = source
        new.persistentStoreCoordinator = destination
        contexts = (old, new)
        defer {
            for coordinator in [source, destination] {
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
            }
            contexts = nil
        }
        try old.performAndWait {
            try new.performAndWait {
                let mappings = mappingModel.entityMappings ?? []
                for mapping in mappings { policies[mapping.name] = try policy(of: mapping) }
                try pass(0, mappings) { try createInstances($0, $1) }
                try pass(1, mappings) { try createRelationships($0, $1) }
                try pass(2, mappings) { mapping, policy in
                    try policy.performCustomValidation(forMapping: mapping, manager: self)
                    try policy.end(mapping, manager: self)
                }
                try new.save()
                shared.withLock { $0.progress = 1 }
            }
        }
    }

    private func pass(
        _ number: Int, _ mappings: [NSEntityMapping], _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void
    ) throws {
        for (index, mapping) in mappings.enumerated() {
            try step((Double(number) + Double(index) / Double(mappings.count)) / 3)
            currentEntityMapping = mapping
            guard let policy = policies[mapping.name] else { continue }
            try body(mapping, policy)
        }
    }

    /// Notes how much is done, and throws what the migration was cancelled with.
    private func step(_ done: Double? = nil) throws {
        if let done { shared.withLock { $0.progress = Float(done) } }
        if done != nil { progressListener?(migrationProgress) }
        let cancellation = shared.withLock { Transfer($0.cancellation) }
        if let error = cancellation.value { throw error }
    }

    private func createInstances(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        try policy.begin(mapping, with: self)
        if mapping.mappingType != .addEntityMappingType, mapping.mappingType != .removeEntityMappingType,
            let entity = sourceEntity(for: mapping)
        {
            for object in try sourceContext.fetch(try request(for: mapping, entity, policy)) {
                try step()
                try policy.createDestinationInstances(forSource: object, in: mapping, manager: self)
            }
        }
        try policy.endInstanceCreation(forMapping: mapping, manager: self)
    }

    /// The objects of the very entity, those that the source expression's predicate wants.
    private func request(
        for mapping: NSEntityMapping, _ entity: NSEntityDescription, _ policy: NSEntityMigrationPolicy
    ) throws -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        if let expression = mapping.sourceExpression, case .fetch(let made, _, _) = expression.node,
            case .message(_, "fetchRequestForSourceEntityNamed:predicateString:", let arguments) = made,
            arguments.count == 2, case .constant(.value(.string(let format))) = arguments[1], format != "TRUEPREDICATE"
        {
            request.predicate = .make(
                node: try CoreDataErrors.converting { try PredicateParser.parse(format: format) })
        }
        return request
    }

    private func createRelationships(_ mapping: NSEntityMapping, _ policy: NSEntityMigrationPolicy) throws {
        for object in associations[mapping.name]?.made ?? [] {
            try step()
            try policy.createRelationships(forDestination: object, in: mapping, manager: self)
        }
        try policy.endRelationshipCreation(forMapping: mapping, manager: self)
    }

    private func policy(of mapping: NSEntityMapping) throws -> NSEntityMigrationPolicy {
        guard let name = mapping.entityMigrationPolicyClassName, !name.isEmpty else { return NSEntityMigrationPolicy() }
        guard let type = MigrationPolicyClasses.find(named: name) else {
            throw CoreDataErrors.policy(
                "No class named '\(name)' for the mapping '\(mapping.name ?? "")' is in the program.")
        }
        return type.init()
    }
}
