import CoreDataStore
import Foundation
import Synchronization

/// Migrates a store object by object, as a mapping model says.
///
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
///
/// Three passes execute the mappings in order: objects are made, then related, then validated. A migration that fails
/// leaves the source unchanged, and removes a destination that it made.
///
/// Memory is bounded if the destination is a new SQLite store: a few hundred objects at a time are saved and become
/// faults, and associations are kept as keys, 32 bytes a pair. The store is made beside its place and moved there at
/// the end. All objects are validated at the end, as if they were saved then.
///
/// Differs from Apple: the destination context posts no notifications of its saves, and calls `willSave` and `didSave`
/// of its objects at the end.
open class NSMigrationManager: NSObject, @unchecked Sendable {
    // Safe because what other threads may ask for or set is guarded by `shared`.

    struct Shared {
        var progress: Float = 0
        var cancellation: (any Error)?
    }

    /// Guards what other threads ask for.
    final let shared = Mutex(Shared())
    /// The model of the store that is migrated.
    public let sourceModel: NSManagedObjectModel
    /// The model of the store that is made.
    public let destinationModel: NSManagedObjectModel
    /// Whether a store is migrated inside its database if its mapping was inferred; policies and the delegate are then
    /// not called.
    open var usesStoreSpecificMigrationManager = true
    /// Told how far the migration is, from 0 to 1, whenever that changes; it may cancel.
    ///
    /// Apple's framework has only `observe(\.migrationProgress)`, which works here, too.
    public final var progressListener: ((Float) -> Void)?
    /// Values that the user stores with the manager.
    open var userInfo: [AnyHashable: Any]?
    /// The mapping model of the migration that runs.
    open private(set) var mappingModel: NSMappingModel!
    /// The mapping that is being gone through.
    open private(set) var currentEntityMapping: NSEntityMapping!
    /// Whether no other client knows the destination, so that it can be made in its final place.
    final var isDestinationUnknown = false
    private var run: MigrationRun?
    final let observers = PropertyObservers<ObservedProperty>()
    private var isMigrating = false

    /// Makes a manager for stores of one model that become stores of another.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        self.sourceModel = sourceModel
        self.destinationModel = destinationModel
        super.init()
    }

    /// Creates a placeholder: a manager of models without entities.
    public convenience override init() {
        self.init(sourceModel: NSManagedObjectModel(), destinationModel: NSManagedObjectModel())
    }

    /// The context of the objects that are migrated, while a migration runs.
    open var sourceContext: NSManagedObjectContext { run?.source ?? NSManagedObjectContext(.privateQueue) }
    /// The context of the objects that they become, while a migration runs.
    open var destinationContext: NSManagedObjectContext {
        run?.destination ?? NSManagedObjectContext(.privateQueue)
    }

    /// How far the migration is, from 0 to 1.
    open var migrationProgress: Float { shared.withLock(\.progress) }

    /// Ends the migration that runs, which then throws the error; from any thread.
    open func cancelMigrationWithError(_ error: any Error) {
        let error = Transfer(error)
        shared.withLock { $0.cancellation = error.value }
    }

    /// Forgets all associations; a running migration ends with an error.
    open func reset() {
        guard !isMigrating else {
            return cancelMigrationWithError(
                CoreDataErrors.make(
                    NSMigrationError,
                    "The migration was ended: reset() was called while it ran. Call it when it is over."))
        }
        run = nil
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

    /// Associates a source object with a destination object, by that mapping.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        run?.associate(sourceInstance, destinationInstance, by: entityMapping.name)
    }

    /// Returns the destination objects by the mapping of that name; `nil` for all of them.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let run else { return [] }
        guard let sourceInstances else { return run.allDestinations(by: mappingName) }
        return sourceInstances.flatMap { source in
            let found = run.destinations(of: source, by: mappingName)
            // An inferred mapping of an entity is also used for objects of its subentities, which have mappings of
            // their own.
            return found.isEmpty && mappingModel?.isInferred == true ? run.destinations(of: source, by: nil) : found
        }
    }

    /// Returns the destination objects, by any mapping.
    final func destinations(of sources: [NSManagedObject], ofKind entity: NSEntityDescription?) -> [NSManagedObject] {
        sources.flatMap { run?.destinations(of: $0, by: nil, ofKind: entity) ?? [] }
    }

    /// Returns the source objects of the mapping of that name.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let run else { return [] }
        guard let destinationInstances else { return run.allSources(by: mappingName) }
        return destinationInstances.flatMap { run.sources(of: $0, by: mappingName) }
    }

    /// Returns the plain form of the mapping for objects of these entities, if it only names properties.
    final func plainMappings(
        of mapping: NSEntityMapping, from source: NSManagedObject, to destination: NSManagedObject
    ) -> PlainMappings? {
        run?.plainMappings(of: mapping, from: source, to: destination)
    }

    /// Relates the object as the step says; returns `false` if an expression must be evaluated.
    final func relate(
        _ object: NSManagedObject, _ step: PlainMappings.Step, of source: NSManagedObject, _ mapping: NSEntityMapping
    ) throws -> Bool {
        try run?.relate(object, step, of: source, mapping) ?? false
    }

    // MARK: Migrating

    /// Makes a store from the content of the source store, as the mapping model says. Objects are added to a
    /// destination that exists.
    ///
    /// - Throws: a `CocoaError`: 134150 and 134160 if a store cannot be opened, 134170 if a policy fails, with the
    ///   policy's error under `NSUnderlyingErrorKey`; the error given to ``cancelMigrationWithError(_:)``; the
    ///   validation errors of the objects.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CoreDataErrors.make(NSMigrationMissingMappingModelError, "A migration needs a mapping model.")
        }
        guard !isMigrating else {
            throw CoreDataErrors.make(
                NSMigrationError,
                "A migration manager migrates one store at a time: make another for '\(ServerStores.name(dURL))'.")
        }
        reset()
        isMigrating = true
        defer { isMigrating = false }
        mappingModel = mappings
        let sStoreType = ServerStores.shared.type(sStoreType, at: sourceURL)
        let dStoreType = ServerStores.shared.type(dStoreType, at: dURL)
        let isServer = ServerStores.shared.driver(ofType: dStoreType) != nil
        let isNew =
            try isServer
            ? !AttachedStore.isTakenOnServer(dURL) : !FileManager.default.fileExists(atPath: dURL.path)
        try check(mappings)
        func make() throws {
            try self.make(
                dURL, dStoreType, dOptions, isNew: isNew, from: sourceURL, sStoreType, sOptions, with: mappings)
        }
        guard AttachedStore.isFileType(dStoreType) else { return try make() }
        try StoreFolder.making(for: dURL, failure: { Self.notMade(dURL, named: dURL, $0) }, make)
    }

    private func make(
        _ dURL: URL, _ dStoreType: String, _ dOptions: [AnyHashable: Any]?, isNew: Bool, from sourceURL: URL,
        _ sStoreType: String, _ sOptions: [AnyHashable: Any]?, with mappings: NSMappingModel
    ) throws {
        let isServer = ServerStores.shared.driver(ofType: dStoreType) != nil
        // A new store is moved to its place when it is complete.
        let isFile = dStoreType == NSSQLiteStoreType && !dURL.isNullDevice
        let isDatabase = isFile || isServer
        let needsPlace = isNew && !isDestinationUnknown
        let place = needsPlace && isFile ? NewStorePlace(for: dURL) : nil
        let serverPlace = needsPlace && isServer ? try ServerPlace(for: dURL, dOptions) : nil
        let target = serverPlace?.url ?? place?.url ?? dURL
        let isBeside = place != nil || serverPlace != nil || isNew && isDestinationUnknown
        do {
            if usesStoreSpecificMigrationManager, mappings.isAsInferred, isNew, isDatabase,
                sStoreType == NSSQLiteStoreType || ServerStores.shared.driver(ofType: sStoreType) != nil
            {
                // Whether it is a store of the older model shows by opening it.
                let source = try open(sourceURL, sStoreType, sOptions, sourceModel, isSource: true)
                for store in source.persistentStores { try source.remove(store) }
                try migrateInDatabase(from: sourceURL, to: target, type: dStoreType, named: dURL, options: dOptions)
            } else {
                let source = try open(sourceURL, sStoreType, sOptions, sourceModel, isSource: true)
                let isMade =
                    try isBeside
                    && migrateRows(from: source, to: target, type: dStoreType, options: dOptions, named: dURL)
                if !isMade {
                    try migrate(
                        from: source,
                        to: try open(target, dStoreType, dOptions, destinationModel, isSource: false, named: dURL),
                        savesPortions: isBeside)
                }
                if isNew {
                    try noteFormerVersions(
                        of: sourceURL, type: sStoreType, sOptions, in: target, type: dStoreType, dOptions)
                }
            }
            try place?.put(at: dURL, type: dStoreType)
            if let serverPlace { try AttachedStore.converting(dURL) { try serverPlace.put(dOptions) } }
            finish()
        } catch {
            run = nil
            if isNew, !isBeside { try? remove(dURL, dStoreType) }
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

    // MARK: Passes

    private func migrate(
        from source: NSPersistentStoreCoordinator, to destination: NSPersistentStoreCoordinator, savesPortions: Bool
    ) throws {
        defer {
            run = nil
            for coordinator in [source, destination] {
                for store in coordinator.persistentStores { try? coordinator.remove(store) }
            }
        }
        let run = try MigrationRun(
            self, mappingModel.entityMappings ?? [], from: source, to: destination, savesPortions: savesPortions)
        self.run = run
        try run.run()
    }

    /// Makes the store row by row if nothing needs objects.
    ///
    /// - Returns: whether it is made. If not, nothing is made, and the source's coordinator still has its store.
    private func migrateRows(
        from source: NSPersistentStoreCoordinator, to url: URL, type: String, options: [AnyHashable: Any]?,
        named name: URL
    ) throws -> Bool {
        let mappings = mappingModel.entityMappings ?? []
        let new = try NSPersistentStoreCoordinator(validating: destinationModel).runtime
        guard let rows = RowMigration(self, mappings, from: source, to: new) else { return false }
        // No other client reads the file before it is complete, and it is flushed to the disk before it is moved to its
        // place: it needs no journal.
        guard options?[NSSQLitePragmasOption] == nil else { return false }
        var own = options ?? [:]
        if type == NSSQLiteStoreType { own[NSSQLitePragmasOption] = ["journal_mode": "OFF", "synchronous": "OFF"] }
        let destination = try open(url, type, own, destinationModel, isSource: false, named: name)
        func close() { for store in destination.persistentStores { try? destination.remove(store) } }
        do {
            guard let store = destination.attachedStores.first else { return false }
            let saved = try rows.run(into: store)
            if saved.count > 0 {
                try MigrationRun(self, mappings, from: source, to: destination, savesPortions: true).validate(saved)
            }
            close()
            for store in source.persistentStores { try source.remove(store) }
            // From now on it has the journal that it is to have.
            guard type == NSSQLiteStoreType else { return true }
            let whole = try open(url, type, options, destinationModel, isSource: false, named: name)
            for store in whole.persistentStores { try whole.remove(store) }
            return true
        } catch {
            close()
            try remove(url, type)
            if shared.withLock({ $0.cancellation != nil }) { throw error }
            // The pass that makes objects reports the error.
            shared.withLock { $0.progress = 0 }
            return false
        }
    }

    /// Reports completion, if it was not reported yet.
    private func finish() {
        if migrationProgress != 1 { observers.willChange(.progress) }
        let isKnown = shared.withLock { shared in
            defer { shared.progress = 1 }
            return shared.progress == 1
        }
        if !isKnown {
            observers.didChange(.progress)
            progressListener?(1)
        }
    }

    /// Whether the migration was cancelled.
    final var isCancelled: Bool { shared.withLock { $0.cancellation != nil } }

    /// The mapping is being gone through from now on.
    final func begin(_ mapping: NSEntityMapping) {
        observers.willChange(.mapping)
        currentEntityMapping = mapping
        observers.didChange(.mapping)
    }

    /// Records the progress, and throws the error of a cancellation.
    final func step(_ done: Double? = nil) throws {
        if let done {
            observers.willChange(.progress)
            shared.withLock { $0.progress = Float(done) }
            observers.didChange(.progress)
            progressListener?(migrationProgress)
        }
        let cancellation = shared.withLock { Transfer($0.cancellation) }
        if let error = cancellation.value { throw error }
    }
}
