import CoreData
import CoreDataDigests
import CoreDataSyncEngine
import Foundation

/// What devices exchange of a model, and how it merges: read once off the model and its `userInfo`.
///
/// | `userInfo` of | Key | Values |
/// | --- | --- | --- |
/// | entity | `sync.key` | attributes, comma-separated: objects with equal values are one object on all devices |
/// | entity | `sync.id` | a UUID attribute whose value is the identity |
/// | entity | `sync.delete` | `deleteWins` (default), `editWins` |
/// | attribute | `sync.merge` | `last` (default), `min`, `max`, `sum`, `text`, `union`, `app` |
/// | entity, property | `sync.ignore` | `YES`, `NO` |
///
/// Entities inherit what they do not say themselves. Without `sync.key` and `sync.id`, the first uniqueness constraint
/// of attributes is the key.
package struct SyncRules: Hashable, Sendable {
    /// By name; the entities of the configuration, ignored ones too.
    package let entities: [String: SyncEntity]
    /// A digest of the model, equal on devices that have the same one.
    package let modelHash: Data

    /// - Throws: 134060 with one line for each word that is wrong: entity, property, word, and what to write.
    package init(model: NSManagedObjectModel, configuration: String? = nil) throws {
        var reading = RuleReading(model, configuration: configuration)
        entities = try reading.read()
        modelHash = Self.hash(of: model, entities.keys)
    }

    package subscript(entity: String) -> SyncEntity? { entities[entity] }

    /// The entities that are exchanged and can have objects, sorted by name.
    package var exchanged: [SyncEntity] {
        entities.values.filter { !$0.isIgnored && !$0.isAbstract }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func hash(of model: NSManagedObjectModel, _ names: some Sequence<String>) -> Data {
        let stream = DigestStream()
        let hashes = model.entityVersionHashesByName
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            stream.add(Data(name.utf8) + [0])
            stream.add(hashes[name] ?? Data())
        }
        return stream.finish()
    }
}
