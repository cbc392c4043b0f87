import CoreData
import Foundation

/// The model of a replica: the served model, and what the hub keeps of each object.
///
/// ```
/// HubLink    the values on which replica and served store agreed last, by object
/// HubTurn    changes that are about to be written into the served store
/// HubNotice  a refused change that the devices are to be told
/// HubState   one row
/// ```
/// They are rows of the replica so that they change in the transaction of the objects. Devices do not get them. What no
/// rule opens does not enter the replica: the account's devices exchange it among each other.
enum HubReplicaModel {
    static func make(of model: NSManagedObjectModel, _ served: ServedModel) throws -> NSManagedObjectModel {
        guard let copy = model.copy() as? NSManagedObjectModel else {
            throw StoreOpening.Failure(description: "The model cannot be copied for synchronisation.")
        }
        let own = [
            entity(
                "HubLink",
                [
                    ("root", .stringAttributeType), ("identifier", .UUIDAttributeType),
                    ("base", .binaryDataAttributeType),
                ],
                optional: [("global", .UUIDAttributeType)]),
            entity("HubTurn", [("key", .stringAttributeType), ("content", .binaryDataAttributeType)]),
            entity("HubNotice", [("number", .integer64AttributeType), ("content", .binaryDataAttributeType)]),
            entity("HubState", [], optional: [("lastPass", .dateAttributeType)]),
        ]
        own[0].uniquenessConstraints = [["root", "identifier"]]
        for entity in own where copy.entitiesByName[entity.name ?? ""] != nil {
            throw StoreOpening.Failure(
                description: "Synchronisation needs the name \(entity.name ?? "") for itself: rename the entity.")
        }
        for entity in copy.entities where !isServed(entity, served) {
            entity.userInfo = (entity.userInfo ?? [:]).merging(["sync.ignore": "YES"]) { $1 }
        }
        copy.entities += own
        return copy
    }

    /// Whether a rule opens the entity, or one below it.
    private static func isServed(_ entity: NSEntityDescription, _ served: ServedModel) -> Bool {
        served.entities[entity.name ?? ""] != nil || entity.subentities.contains { isServed($0, served) }
    }

    private typealias Attribute = (name: String, type: NSAttributeType)

    private static func entity(
        _ name: String, _ required: [Attribute], optional: [Attribute] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.userInfo = ["sync.ignore": "YES"]
        entity.properties = [(required, false), (optional, true)].flatMap { list, isOptional in
            list.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, isOptional)
                return attribute
            }
        }
        return entity
    }
}
