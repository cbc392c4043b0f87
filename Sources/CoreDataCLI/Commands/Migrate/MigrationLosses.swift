import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The data that a migration would drop, with the number of objects that have values in it.
struct MigrationLosses {
    struct Entry: Encodable {
        var name: String
        var kind: String
        /// The number of objects that are deleted or lose a value; `nil` if it cannot be counted.
        var count: Int?

        /// `attribute Item.price: 12 objects have a value`
        var line: String {
            let subject = kind == "order" ? "the order of \(name)" : "\(kind) \(name)"
            guard let count else { return subject }
            let objects = "\(count) object\(count == 1 ? "" : "s")"
            return switch kind {
            case "entity": "\(subject): \(objects)"
            case "attribute": "\(subject): \(objects) \(count == 1 ? "has" : "have") a value"
            default: "\(subject): \(objects) \(count == 1 ? "has" : "have") others there"
            }
        }
    }

    let entries: [Entry]

    /// - Parameter model: the store's model; without it, objects are not counted.
    init(_ losses: [MappingLoss], ofStoreAt url: URL, _ model: NSManagedObjectModel?, configuration: String?) {
        var seen: Set<String> = []
        let losses = losses.filter { seen.insert($0.name).inserted }
        // Without losses there is nothing to count.
        let counter = losses.isEmpty ? nil : model.flatMap { Counter(url, $0, configuration) }
        entries = losses.map { Entry(name: $0.name, kind: $0.kind.rawValue, count: counter?.count($0)) }
    }

    /// - Throws: ``ToolFailure`` if the migration would drop data that is not among these names.
    func check(_ allowed: [String], ofStore store: String) throws {
        let names = Set(allowed)
        for name in allowed where !entries.contains(where: { $0.name == name }) {
            Terminal.note(
                "note: --allow-loss \(name): the migration drops nothing of that name"
                    + Suggestion.text(for: name, among: entries.map(\.name)))
        }
        let refused = entries.filter { !names.contains($0.name) }
        guard !refused.isEmpty else { return }
        throw ToolFailure(
            """
            \(StoreFile.shown(store)) was not migrated: the model has nothing that takes these over, and they would be dropped:
            \(refused.map { "  \($0.line)" }.joined(separator: "\n"))
            hint: to drop them, name each: \(refused.map { "--allow-loss \($0.name)" }.joined(separator: " "))
            """)
    }

    /// Counts objects with the store's own model.
    private struct Counter {
        private let context: NSManagedObjectContext
        private let model: NSManagedObjectModel

        init?(_ url: URL, _ model: NSManagedObjectModel, _ configuration: String?) {
            self.model = model
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            // A store with one configuration is opened with the same configuration of the older model, if it exists.
            for name in [configuration, nil] {
                let added = try? coordinator.addPersistentStore(
                    ofType: StoreTools.type(ofStoreAt: url), configurationName: name, at: url,
                    options: StoreFile.readingOptions)
                if added != nil { break }
            }
            guard !coordinator.persistentStores.isEmpty else { return nil }
            context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
        }

        func count(_ loss: MappingLoss) -> Int? {
            guard let entity = model.entitiesByName[loss.entity] else { return nil }
            let request = NSFetchRequest<NSManagedObject>(entityName: loss.entity)
            if let property = loss.property {
                guard let format = Self.condition(property, of: entity) else { return nil }
                request.predicate = NSPredicate(format: format)
            } else {
                request.includesSubentities = false
            }
            return context.performAndWait { try? context.count(for: request) }
        }

        /// Returns the condition for having a value: `price != nil`, `items.@count > 0`, `(place.city != nil OR
        /// place.street != nil)`.
        private static func condition(_ path: String, of entity: NSEntityDescription) -> String? {
            if let relationship = entity.relationshipsByName[path], relationship.isToMany {
                return "\(path).@count > 0"
            }
            guard let composite = entity.attributesByName[path] as? NSCompositeAttributeDescription else {
                return "\(path) != nil"
            }
            let parts = composite.elements.map { "\(path).\($0.name) != nil" }
            return parts.isEmpty ? nil : parts.joined(separator: " OR ")
        }
    }
}
