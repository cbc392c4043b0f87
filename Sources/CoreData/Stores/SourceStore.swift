import CoreDataModel
import CoreDataStore
import Foundation

/// A store on a given source: for sources that no type of store makes yet.
final class SourceStore: NSPersistentStore, @unchecked Sendable {
    // Safe because all of its own variables are set once.

    private let storeType: String

    override var type: String { storeType }

    fileprivate init(_ source: any RowSource, type: String, coordinator: NSPersistentStoreCoordinator) throws {
        storeType = type
        super.init(
            coordinator: coordinator, configurationName: nil, url: nil, options: nil, identifier: source.identifier,
            metadata: .stored(try source.metadata()), isReadOnly: source.isReadOnly)
    }

    required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) { preconditionFailure("A coordinator makes stores of this class: add one by its type.") }
}

extension NSPersistentStoreCoordinator {
    /// The model as sources have it.
    package final var compiledModel: CompiledModel { runtime.model }

    /// Adds a store with the source's rows; the source must be one for ``compiledModel``, and is closed with the store.
    @discardableResult
    package final func addStore(on source: any RowSource, type: String) throws -> NSPersistentStore {
        try attach(at: nil) { index in
            AttachedStore(try SourceStore(source, type: type, coordinator: self), source: source, index: index)
        }
    }
}
