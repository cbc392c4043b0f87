import CoreData
import Foundation

/// The objects that a step changed, and their values after it: a step is undone only while they have these values still.
///
/// Values are compared in place of counting who changed an object, so that changes by other processes and by imports count as well.
@MainActor struct StepState {
    /// The values by the names of properties. Empty for an object that only has to exist: the other side of a relationship.
    private var objects: [NSManagedObjectID: [String: AnyHashable]] = [:]

    /// Whether no object has changed since, and none is deleted.
    func isIntact(in context: NSManagedObjectContext) -> Bool {
        objects.allSatisfy { id, values in
            guard let object = try? context.existingObject(with: id), !object.isDeleted else { return false }
            return values.allSatisfy { Self.value($0.key, of: object) == $0.value }
        }
    }

    /// Objects with changes that are not saved yet; their IDs are permanent only after the save.
    @MainActor struct Changes {
        private let inserted: [NSManagedObject]
        private let changed: [NSManagedObject]
        /// Those that only got or lost members of to-many relationships.
        private let related: [NSManagedObject]

        init(_ context: NSManagedObjectContext) {
            inserted = Array(context.insertedObjects)
            var (changed, related): ([NSManagedObject], [NSManagedObject]) = ([], [])
            for object in context.updatedObjects {
                let own = Set(StepState.ownKeys(of: object.entity))
                if object.changedValues().keys.contains(where: { own.contains($0) }) {
                    changed.append(object)
                } else {
                    related.append(object)
                }
            }
            (self.changed, self.related) = (changed, related)
        }

        /// The values after the save.
        var state: StepState {
            var state = StepState()
            for object in inserted { state.note(object, StepState.allKeys(of: object.entity)) }
            for object in changed { state.note(object, StepState.ownKeys(of: object.entity)) }
            for object in related { state.note(object, []) }
            return state
        }
    }

    private mutating func note(_ object: NSManagedObject, _ keys: [String]) {
        guard object.managedObjectContext != nil, !object.isDeleted else { return }
        var values: [String: AnyHashable] = [:]
        for key in keys { values[key] = Self.value(key, of: object) }
        objects[object.objectID] = values
    }

    /// Attributes and to-one relationships. Members of a to-many have the change on their own side.
    private static func ownKeys(of entity: NSEntityDescription) -> [String] {
        Array(entity.attributesByName.keys) + entity.relationshipsByName.values.filter { !$0.isToMany }.map(\.name)
    }

    /// All properties: undoing an insertion deletes the object, and nothing may refer to it by then.
    private static func allKeys(of entity: NSEntityDescription) -> [String] {
        Array(entity.attributesByName.keys) + Array(entity.relationshipsByName.keys)
    }

    private static func value(_ key: String, of object: NSManagedObject) -> AnyHashable {
        if let relationship = object.entity.relationshipsByName[key], relationship.isToMany {
            let members = object.value(forKey: key)
            let all = (members as? NSOrderedSet)?.array ?? (members as? NSSet)?.allObjects ?? []
            return Set(all.compactMap { ($0 as? NSManagedObject)?.objectID })
        }
        switch object.value(forKey: key) {
        case nil: return NSNull()
        case let object as NSManagedObject: return object.objectID
        // A step does not keep large pictures in memory: their length and ends tell them apart.
        case let data as Data:
            return [AnyHashable(data.count), AnyHashable(Data(data.prefix(64))), AnyHashable(Data(data.suffix(64)))]
                as [AnyHashable]
        case let value as AnyHashable: return value
        case let value?: return String(describing: value)
        }
    }
}
