import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// A lightweight migration of an atomic store of the program's own class.
///
/// ```
///  loaded by the older model ──▶ rows, migrated in memory ──▶ objects of the newer model ──▶ nodes ──▶ save()
/// ```
/// Objects keep their reference objects. If `save()` fails, the file is restored.
struct CustomMigration {
    let storeClass: NSAtomicStore.Type
    let type: String
    let configuration: String?
    let url: URL
    private let options: [AnyHashable: Any]
    let model: NSManagedObjectModel

    init(
        of storeClass: NSAtomicStore.Type, type: String, configuration: String?, url: URL,
        options: [AnyHashable: Any], to model: NSManagedObjectModel
    ) {
        (self.storeClass, self.type, self.configuration, self.url) = (storeClass, type, configuration, url)
        self.model = model
        var plain = options
        plain[NSMigratePersistentStoresAutomaticallyOption] = nil
        self.options = plain
    }

    /// - Returns: whether there was something to do.
    func run(from row: MetadataRow) throws -> Bool {
        let old = Old()
        var lightweight = LightweightMigration(to: model, configuration: configuration, type: type)
        lightweight.lossRule = LossRule(options, KnownVersions(model))
        return try lightweight.converting(url) {
            try MigrationTurn.with(url) {
                let found = try AtomicMigration(ofRowsOf: type, lightweight.migration())
                    .migrated(row, path: url.path) { try contents(of: $0, old) }
                guard let (contents, outcome) = found, let mapping = outcome.plan?.mapping else { return false }
                for line in LightweightMigration.warnings(outcome) {
                    CoreDataLog.general.warning("migration of '\(url.path)': \(line)")
                }
                try write(contents, mapping, old)
                return true
            }
        }
    }

    /// The store as readers of the older model see it.
    private final class Old {
        var coordinator: NSPersistentStoreCoordinator?
        var references: ReferenceTable?
    }

    private func contents(of document: ModelDocument, _ old: Old) throws -> MemoryContents {
        let coordinator = try NSPersistentStoreCoordinator(
            validating: try NSManagedObjectModel(document: document))
        _ = try coordinator.attach(at: url) { index in
            try CustomStore.open(
                storeClass, type: type, configuration: configuration, url: url, options: options, index: index,
                coordinator: coordinator, migration: MigrationWhenOpening())
        }
        old.coordinator = coordinator
        guard let attached = coordinator.attachedStores.first, let source = attached.target as? any WholeSource else {
            return MemoryContents(model: coordinator.compiledModel)
        }
        old.references = attached.references
        return source.contents
    }

    /// Read so that this process keeps its locks: a class of a program's own may keep a database there.
    private static func bytes(_ url: URL) -> Data? { try? StoreFileDescriptor(url.path, O_RDONLY)?.read() }

    private func write(_ contents: MemoryContents, _ mapping: ModelMapping, _ old: Old) throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        guard let members = coordinator.compiledModel.entities(inConfiguration: configuration) else { return }
        let entities = members.map(\.ordinal)
        let runtime = coordinator.runtime
        _ = try coordinator.attach(at: url) { index in
            let store = storeClass.init(
                persistentStoreCoordinator: coordinator, configurationName: configuration, at: url, options: options)
            store.state.withLock { $0.registeredType = type }
            try store.loadMetadata()
            var metadata: [String: Any] = store.metadata
            for key in metadata.keys where key.hasPrefix("NSStoreModelVersion") { metadata[key] = nil }
            let former = contents.metadata.formerVersions
            metadata[StoreMetadata.Key.formerVersions] = former.isEmpty ? nil : former
            store.metadata = metadata
            try CustomStore.check(
                store, type: type, model: runtime.model, entities: entities, try StoreSettings(options))
            return try store.attach(
                index: index, coordinator: coordinator, entities: entities, migrated: contents
            ) { references in
                for key in contents.keys {
                    let entity = runtime.entities[key.entity]
                    guard let source = mapping.source(of: key.entity),
                        let reference = old.references?.reference(
                            ofKey: key.primaryKey,
                            rootName: mapping.source.entities[mapping.source.entities[source].root].name)
                    else { continue }
                    references.take(reference, key: key.primaryKey, entity: entity)
                }
            }
        }
        guard let store = coordinator.persistentStores.first as? NSAtomicStore else { return }
        let before = Self.bytes(url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            var objects: [NSManagedObject] = []
            for ordinal in entities where !runtime.model.entities[ordinal].isAbstract {
                let request = NSFetchRequest<NSManagedObject>()
                request.entity = runtime.entities[ordinal].entity
                request.includesSubentities = false
                objects += try context.fetch(request)
            }
            do { try store.write(migrated: objects) } catch {
                if let before, Self.bytes(url) != before { try? before.write(to: url, options: .atomic) }
                throw error
            }
        }
        for coordinator in [coordinator, old.coordinator].compactMap({ $0 }) {
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }
}
