import CoreData
import Foundation

/// The model of the sidecar, made in code: see `docs/decisions/sync.md`.
enum SidecarModel {
    /// Grows when a newer version of the framework keeps something that this one cannot read.
    ///
    /// 2: an entry without a row has the negative of its former place. 3: blocks of entries.
    static let format: Int64 = 3

    // Safe because nothing changes them after they were made.
    nonisolated(unsafe) static let shared = make(hasBlocks: true)
    /// Of sidecars of format 2, which are read without being migrated.
    nonisolated(unsafe) static let withoutBlocks = make(hasBlocks: false)

    private static func make(hasBlocks: Bool) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            entity(
                // Writing keeps the identifier unique: a constraint would cost a statement for every 32 rows.
                "Entry", EntryObject.self, unique: nil, indexes: [["identifier"], ["place"]],
                [
                    attribute("identifier", .UUIDAttributeType), attribute("place", .integer64AttributeType),
                    attribute("content", .binaryDataAttributeType),
                ]),
            entity(
                "Parked", ParkedObject.self, unique: "identifier", indexes: [["waitsFor"]],
                [
                    attribute("identifier", .UUIDAttributeType), attribute("state", .binaryDataAttributeType),
                    attribute("waitsFor", .UUIDAttributeType, optional: true),
                    attribute("reason", .stringAttributeType),
                ]),
            entity(
                "Outgoing", OutgoingObject.self, unique: "name", indexes: [["number"]],
                [
                    attribute("name", .stringAttributeType), attribute("number", .integer64AttributeType),
                    attribute("bytes", .binaryDataAttributeType, external: true),
                ]),
            entity(
                "Peer", PeerObject.self, unique: "device", indexes: [],
                [
                    attribute("device", .UUIDAttributeType), attribute("name", .stringAttributeType),
                    attribute("received", .binaryDataAttributeType), attribute("hello", .integer64AttributeType),
                    attribute("lease", .integer64AttributeType), attribute("seen", .integer64AttributeType),
                    attribute("hasLeft", .booleanAttributeType),
                ]),
            entity(
                "Conflict", ConflictObject.self, unique: "serial", indexes: [["date"]],
                [
                    attribute("serial", .UUIDAttributeType), attribute("identifier", .UUIDAttributeType),
                    attribute("entityName", .stringAttributeType), attribute("property", .stringAttributeType),
                    attribute("losing", .binaryDataAttributeType), attribute("winning", .binaryDataAttributeType),
                    attribute("date", .integer64AttributeType), attribute("reason", .stringAttributeType),
                ]),
            entity(
                "Settings", SettingsObject.self, unique: nil, indexes: [],
                [
                    attribute("format", .integer64AttributeType), attribute("content", .binaryDataAttributeType),
                    attribute("names", .binaryDataAttributeType),
                ]),
            entity(
                "Redo", RedoObject.self, unique: nil, indexes: [],
                [attribute("number", .integer64AttributeType), attribute("bytes", .binaryDataAttributeType)]),
        ]
        guard hasBlocks else { return model }
        model.entities.append(
            entity(
                "Block", BlockObject.self, unique: nil, indexes: [["firstID"]],
                [
                    attribute("firstID", .UUIDAttributeType), attribute("lastID", .UUIDAttributeType),
                    attribute("firstPlace", .integer64AttributeType), attribute("lastPlace", .integer64AttributeType),
                    attribute("entries", .integer64AttributeType), attribute("bytes", .binaryDataAttributeType),
                ]))
        return model
    }

    private static func entity(
        _ name: String, _ type: NSManagedObject.Type, unique: String?, indexes: [[String]],
        _ properties: [NSAttributeDescription]
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = NSStringFromClass(type)
        entity.properties = properties
        if let unique { entity.uniquenessConstraints = [[unique]] }
        entity.indexes = indexes.map { names in
            let elements = names.compactMap { name in
                properties.first { $0.name == name }.map {
                    NSFetchIndexElementDescription(property: $0, collationType: .binary)
                }
            }
            return NSFetchIndexDescription(name: "by" + names.joined(), elements: elements)
        }
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = false, external: Bool = false
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.allowsExternalBinaryDataStorage = external
        return attribute
    }
}
