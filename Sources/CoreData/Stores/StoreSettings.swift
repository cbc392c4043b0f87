import CoreDataStore
import Foundation

/// The options of a store, read once; unknown keys are the user's own and are kept.
struct StoreSettings {
    var isReadOnly: Bool
    /// See ``leavesNothingOption``.
    var leavesNothing: Bool
    var ignoresVersioning: Bool
    var analyzes: Bool
    var vacuums: Bool
    var tracksHistory: Bool
    var postsRemoteChanges: Bool
    var timeout: TimeInterval?
    var readerCount: Int?
    var generationCount: Int?
    var generationLogSize: Int?
    var pragmas: [String: String] = [:]

    /// - Throws: an error that names an option whose value is of the wrong type.
    init(_ options: [AnyHashable: Any]?) throws {
        // Found by text, once: to look for each option among keys of any type takes several times as long.
        var named: [String: Any] = [:]
        for (key, value) in options ?? [:] {
            if let key = key as? String { named[key] = value }
        }
        let options = named
        try Self.check(options[NSPersistentStoreForceDestroyOption])
        if let other = options[NSPersistentStoreStagedMigrationManagerOptionKey], !(other is any StagedMigrating) {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "The store option \(NSPersistentStoreStagedMigrationManagerOptionKey) takes an NSStagedMigrationManager, not a \(type(of: other))."
            )
        }
        func number(_ key: String) throws -> NSNumber? {
            guard let value = options[key] else { return nil }
            guard let number = value as? NSNumber else {
                throw CoreDataErrors.make(
                    NSPersistentStoreOperationError,
                    "The store option \(key) takes a number or boolean, not a \(type(of: value)).")
            }
            return number
        }
        for key in [
            NSMigratePersistentStoresAutomaticallyOption, NSInferMappingModelAutomaticallyOption,
            NSMigratePersistentStoresProgressivelyOption, NSPersistentStoreDeferredLightweightMigrationOptionKey,
            NSMigratePersistentStoresAllowingLossOption,
        ] { _ = try number(key) }
        isReadOnly = try number(NSReadOnlyPersistentStoreOption)?.boolValue ?? false
        leavesNothing = try number(Self.leavesNothingOption)?.boolValue ?? false
        ignoresVersioning = try number(NSIgnorePersistentStoreVersioningOption)?.boolValue ?? false
        analyzes = try number(NSSQLiteAnalyzeOption)?.boolValue ?? false
        vacuums = try number(NSSQLiteManualVacuumOption)?.boolValue ?? false
        // A value that is no time, or unreasonably long, becomes the nearest allowed one.
        timeout = try number(NSPersistentStoreTimeoutOption).map { max(0, min($0.doubleValue, 1_000_000)) }
        readerCount = try number(NSPersistentStoreConnectionPoolMaxSizeKey)?.intValue
        generationCount = try number(NSPersistentStore.queryGenerationCountOption)?.intValue
        generationLogSize = try number(NSPersistentStore.queryGenerationLogSizeOption)?.intValue
        let tracking = options[NSPersistentHistoryTrackingKey]
        tracksHistory =
            tracking is NSDictionary || tracking is [AnyHashable: Any]
            ? true : try number(NSPersistentHistoryTrackingKey)?.boolValue ?? false
        postsRemoteChanges = try number(NSPersistentStoreRemoteChangeNotificationPostOptionKey)?.boolValue ?? false
        guard let given = options[NSSQLitePragmasOption] else { return }
        // As a description gives them, which takes no conversion, or as others do.
        let ours: [String: Any]? = given as? [String: NSObject]
        guard let pragmas = ours ?? given as? [String: Any] ?? (given as? NSDictionary) as? [String: Any] else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "The store option \(NSSQLitePragmasOption) takes a dictionary of texts, not a \(type(of: given)).")
        }
        for (name, value) in pragmas { self.pragmas[name] = String(describing: value) }
    }
}

extension StoreSettings {
    /// A store option of the tools, a boolean: a store that is opened for reading only is looked at once, and nothing
    /// is added to its folder.
    static let leavesNothingOption = "OpenCoreDataLeavesNothing"

    /// Whether the options of a store ask for its migration.
    static func isWanted(
        _ options: [AnyHashable: Any]?, _ key: String = NSMigratePersistentStoresAutomaticallyOption
    ) -> Bool { (options?[key] as? NSNumber)?.boolValue ?? false }

    /// Whether they ask for the mapping to be inferred.
    static func isInferenceWanted(_ options: [AnyHashable: Any]?) -> Bool {
        isWanted(options, NSInferMappingModelAutomaticallyOption)
    }

    /// - Throws: for an option of Apple's that nothing here can follow.
    static func check(_ options: [AnyHashable: Any]?) throws {
        try check(options?[NSPersistentStoreForceDestroyOption])
    }

    private static func check(_ destruction: Any?) throws {
        guard (destruction as? NSNumber)?.boolValue == true else { return }
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            """
            The store option \(NSPersistentStoreForceDestroyOption) is not supported: to write over a store that others use \
            can damage it. Close it there first.
            """)
    }

    /// Returns the engine's options; a store in memory has no path.
    func storeOptions(path: String?) -> StoreOptions {
        var options = StoreOptions(path: path)
        options.database.isReadOnly = isReadOnly
        options.database.leavesNothing = isReadOnly && leavesNothing
        options.database.pragmas = pragmas
        if let timeout { options.database.busyTimeout = .seconds(timeout) }
        options.database.readerCount = readerCount.map { max(1, $0) }
        options.database.stateCount = generationCount.map { max(0, $0) }
        options.database.stateLogByteCount = generationLogSize.map { max(0, $0) }
        options.ignoresModelVersioning = ignoresVersioning
        options.createsStore = !isReadOnly
        options.tracksHistory = tracksHistory
        return options
    }
}
