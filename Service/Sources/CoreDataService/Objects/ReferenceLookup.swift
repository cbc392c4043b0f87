import CoreData
import Foundation

/// Finds objects by their IDs, with one statement for each entity.
final class ReferenceLookup {
    private let context: NSManagedObjectContext
    private let model: ServedModel
    private var found: [String: [UUID: NSManagedObject]] = [:]

    init(_ context: NSManagedObjectContext, _ model: ServedModel) {
        self.context = context
        self.model = model
    }

    /// Makes an object known that has no row yet.
    func add(_ object: NSManagedObject, _ id: UUID, of entity: ServedEntity) {
        var next: ServedEntity? = entity
        while let entity = next {
            found[entity.name, default: [:]][id] = object
            next = entity.superentity.flatMap { model.entities[$0] }
        }
    }

    /// Returns the object; `nil` if there is none, or the account may not read it.
    func object(_ id: UUID, of entity: ServedEntity) throws -> NSManagedObject? {
        try prepare([id], of: entity)
        return found[entity.name]?[id]
    }

    /// Reads the objects that are not known yet.
    func prepare(_ ids: some Sequence<UUID>, of entity: ServedEntity) throws {
        let missing = Set(ids).filter { found[entity.name]?[$0] == nil }
        guard !missing.isEmpty else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "%K IN %@", entity.identity, Array(missing))
        // A restricted context would read each row by a statement of its own.
        request.returnsObjectsAsFaults = false
        for object in try context.fetch(request) {
            if let id = object.value(forKey: entity.identity) as? UUID { found[entity.name, default: [:]][id] = object }
        }
    }
}
