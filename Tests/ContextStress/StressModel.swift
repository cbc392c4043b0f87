import CoreData
import Foundation

/// What is edited, and what must be there in the end.
///
/// ```
/// Entry: name (unique), value, group ↔ Group.entries     written by the one context that made it
/// Group: name                                            written by all, by their entries coming and going
/// Counter: name, value                                   written by all, each step of it must count
/// Label: name (unique), note                             made by all, of each name one stays
/// ```
enum StressModel {
    static let groupCount = 6
    static let counterCount = 4
    static let labelCount = 12

    static func make() -> NSManagedObjectModel {
        let (entry, group) = (entity("Entry"), entity("Group"))
        let (counter, label) = (entity("Counter"), entity("Label"))
        let toOne = NSRelationshipDescription()
        let toMany = NSRelationshipDescription()
        (toOne.name, toMany.name) = ("group", "entries")
        (toOne.destinationEntity, toMany.destinationEntity) = (group, entry)
        (toOne.maxCount, toMany.maxCount) = (1, 0)
        (toOne.deleteRule, toMany.deleteRule) = (.nullifyDeleteRule, .nullifyDeleteRule)
        (toOne.inverseRelationship, toMany.inverseRelationship) = (toMany, toOne)
        entry.properties = [text("name"), number("value"), toOne]
        entry.uniquenessConstraints = [["name"]]
        group.properties = [text("name"), toMany]
        counter.properties = [text("name"), number("value")]
        label.properties = [text("name"), text("note")]
        label.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [entry, group, counter, label]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }

    private static func text(_ name: String) -> NSAttributeDescription { attribute(name, .stringAttributeType) }

    private static func number(_ name: String) -> NSAttributeDescription {
        let attribute = attribute(name, .integer64AttributeType)
        attribute.defaultValue = NSNumber(value: 0)
        return attribute
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = false
        return attribute
    }
}

/// What one process was told is saved.
struct StressReport: Codable {
    struct Entry: Codable, Hashable {
        var group: Int
        var value: Int
    }

    var entries: [String: Entry] = [:]
    /// How often each counter was stepped.
    var steps = Array(repeating: 0, count: StressModel.counterCount)
    var labels: Set<String> = []
    var saves = 0
    /// Saves that met somebody else's, and were done again.
    var conflicts = 0

    mutating func add(_ other: StressReport) {
        entries.merge(other.entries) { mine, _ in mine }
        for index in steps.indices { steps[index] += other.steps[index] }
        labels.formUnion(other.labels)
        saves += other.saves
        conflicts += other.conflicts
    }
}

/// A coordinator on the store.
final class StressStack {
    let coordinator: NSPersistentStoreCoordinator

    init(at url: URL) throws {
        coordinator = try NSPersistentStoreCoordinator(validating: StressModel.make())
        try coordinator.addPersistentStore(
            type: .sqlite, at: url,
            options: [
                NSPersistentHistoryTrackingKey: NSNumber(value: true),
                NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
            ])
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    func fill() throws {
        let context = newContext()
        try context.performAndWait {
            for (entity, count) in [("Group", StressModel.groupCount), ("Counter", StressModel.counterCount)] {
                for index in 0..<count {
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    object.setValue("\(index)", forKey: "name")
                }
            }
            try context.save()
        }
    }

    func close() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}

extension NSManagedObjectContext {
    func all(_ entity: String, _ format: String? = nil, _ arguments: Any...) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        return try fetch(request)
    }

    func one(_ entity: String, named name: String) throws -> NSManagedObject {
        let found = try all(entity, "name == %@", name)
        guard found.count == 1 else { throw StressFailure("\(found.count) of \(entity) are called \(name)") }
        return found[0]
    }
}

/// SplitMix64.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
