import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Attaches stores of classes that the program has registered.
enum CustomStore {
    static func open(
        _ storeClass: NSPersistentStore.Type, type: String, configuration: String?, url: URL?,
        options: [AnyHashable: Any]?, index: Int32, coordinator: NSPersistentStoreCoordinator,
        migration: any OpeningMigration
    ) throws -> AttachedStore {
        // Only the class of an incremental store knows where its data is.
        guard let url = url ?? (storeClass is NSIncrementalStore.Type ? URL(fileURLWithPath: "/dev/null") : nil) else {
            throw CoreDataErrors.make(NSPersistentStoreOpenError, "A store of type \(type) needs a URL.")
        }
        let settings = try StoreSettings(options)
        try settings.checkHasNoDatabase(type)
        guard let members = coordinator.compiledModel.entities(inConfiguration: configuration) else {
            throw CoreDataErrors.coreData("The model has no configuration '\(configuration ?? "")'.")
        }
        func made() throws -> NSPersistentStore {
            let store = storeClass.init(
                persistentStoreCoordinator: coordinator, configurationName: configuration, at: url, options: options)
            store.state.withLock { state in
                state.registeredType = type
                if settings.isReadOnly { state.isReadOnly = true }
            }
            try store.loadMetadata()
            return store
        }
        func check(_ store: NSPersistentStore) throws {
            try Self.check(
                store, type: type, model: coordinator.runtime.model, entities: members.map(\.ordinal), settings)
        }
        var store = try made()
        if let atomic = storeClass as? NSAtomicStore.Type, !settings.isReadOnly, !settings.ignoresVersioning,
            StoreSettings.isWanted(options), StoreSettings.isInferenceWanted(options),
            try migration.migrate(
                atomic, type: type, configuration: configuration, url: url, options: options ?? [:],
                to: coordinator.managedObjectModel, from: metadata(of: store, type: type))
        {
            store = try made()
        }
        try check(store)
        switch store {
        case let atomic as NSAtomicStore:
            let attached = try atomic.attach(
                index: index, coordinator: coordinator, entities: members.map(\.ordinal)
            ) { try check(atomic) }
            guard atomic.identifier != attached.reference.identifier else { return attached }
            // It has told its UUID while it was loading, when its objects had their IDs already.
            let told = Transfer(atomic.metadata ?? [:])
            guard let again = try made() as? NSAtomicStore else { return attached }
            take(told.value, of: again)
            try check(again)
            return try again.attach(
                index: index, coordinator: coordinator, entities: members.map(\.ordinal)
            ) {
                again.metadata[NSStoreUUIDKey] = told.value[NSStoreUUIDKey]
                try check(again)
            }
        case let store as NSIncrementalStore:
            return store.attach(index: index, coordinator: coordinator, entities: members.map(\.ordinal))
        default:
            throw CoreDataErrors.make(
                NSPersistentStoreInvalidTypeError,
                "The class \(storeClass) of type '\(type)' is neither an NSAtomicStore nor an NSIncrementalStore.")
        }
    }

    /// The metadata with UUID and type.
    private static func metadata(of store: NSPersistentStore, type: String) throws -> MetadataRow {
        var metadata: [String: Any] = store.metadata
        let identifier = metadata.removeValue(forKey: NSStoreUUIDKey) as? String ?? store.identifier ?? ""
        metadata[NSStoreTypeKey] = type
        return MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: metadata))
    }

    /// Checks the metadata: they must have UUID and type, and match the model. If they have no version hashes, they get
    /// the model's.
    static func check(
        _ store: NSPersistentStore, type: String, model: CompiledModel, entities: [Int], _ settings: StoreSettings
    ) throws {
        var metadata: [String: Any] = store.metadata
        if let other = metadata[NSStoreTypeKey] as? String, other != type {
            throw CoreDataErrors.make(
                NSPersistentStoreTypeMismatchError,
                "The store's metadata say that it is of type '\(other)', not '\(type)'.",
                ["metadata": metadata])
        }
        let identifier = metadata[NSStoreUUIDKey] as? String ?? store.identifier ?? ""
        metadata[NSStoreUUIDKey] = identifier.isEmpty ? UUID().uuidString : identifier
        metadata[NSStoreTypeKey] = type
        let known = try StoreMetadata(dictionary: metadata)
        if !settings.ignoresVersioning, let mismatch = known.mismatch(with: model, entities: entities),
            !known.identification.isFormer(of: model, entities: entities)
        {
            throw CoreDataErrors.make(
                NSPersistentStoreIncompatibleVersionHashError,
                "The store was made with another version of the model (\(mismatch.description)).",
                ["metadata": metadata])
        }
        if known.versionHashes == nil {
            let made = try StoreMetadata.made(for: model, entities: entities, type: type).dictionary
            for key in [
                StoreMetadata.Key.versionHashes, StoreMetadata.Key.versionHashesVersion,
                StoreMetadata.Key.versionIdentifiers,
            ] { metadata[key] = made[key] }
        }
        take(metadata, of: store)
    }

    /// Gives the store its metadata, which a class may keep itself; that they were completed is nothing to be written.
    private static func take(_ metadata: [String: Any], of store: NSPersistentStore) {
        let before = store.state.withLock { ($0.hasUnsavedMetadata, $0.metadataEdits) }
        store.metadata = metadata
        store.state.withLock { state in
            (state.hasUnsavedMetadata, state.metadataEdits) = before
            state.identifier = metadata[NSStoreUUIDKey] as? String ?? ""
        }
    }
}

extension NSPersistentStore {
    /// The metadata as sources have them.
    func metadataRow() throws -> MetadataRow {
        var dictionary: [String: Any] = metadata
        dictionary[NSStoreUUIDKey] = nil
        return MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
    }
}

extension NSPersistentStoreCoordinator {
    /// Registers your own class for the stores of a type, which can be added from then on; `nil` removes it.
    ///
    ///     NSPersistentStoreCoordinator.registerStoreClass(JSONFolderStore.self, forStoreType: "JSONFolder")
    ///     try coordinator.addPersistentStore(ofType: "JSONFolder", configurationName: nil, at: folder)
    ///
    /// - Precondition: it is a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``, and the type is none of Core
    ///   Data's own.
    public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        precondition(
            storeClass == nil || storeClass is NSAtomicStore.Type || storeClass is NSIncrementalStore.Type,
            "\(storeClass.map { "\($0)" } ?? "") is no subclass of NSAtomicStore or NSIncrementalStore.")
        precondition(
            ![NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType].contains(storeType),
            "The type '\(storeType)' is one of Core Data's own: choose another name.")
        StoreClasses.shared.register(storeClass as? NSPersistentStore.Type, type: storeType)
    }

    /// Registers your own class for the stores of a type; see ``registerStoreClass(_:forStoreType:)``.
    public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
        registerStoreClass(storeClass, forStoreType: type.rawValue)
    }
}
