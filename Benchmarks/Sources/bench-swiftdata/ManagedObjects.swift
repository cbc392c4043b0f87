import CoreData

// With the accessors that generated classes have.

final class ManagedNote: NSManagedObject {
    var title: String {
        get { self[NoteKeys.title] }
        set { self[NoteKeys.title] = newValue }
    }
    var stars: Int64 {
        get { self[NoteKeys.stars] }
        set { self[NoteKeys.stars] = newValue }
    }
    var weight: Double {
        get { self[NoteKeys.weight] }
        set { self[NoteKeys.weight] = newValue }
    }
    var isDone: Bool {
        get { self[NoteKeys.isDone] }
        set { self[NoteKeys.isDone] = newValue }
    }
    var folder: ManagedFolder? {
        get { self[NoteKeys.folder] }
        set { self[NoteKeys.folder] = newValue }
    }
}

private enum NoteKeys {
    static let title = PropertyKey<String>("title")
    static let stars = PropertyKey<Int64>("stars")
    static let weight = PropertyKey<Double>("weight")
    static let isDone = PropertyKey<Bool>("isDone")
    static let folder = PropertyKey<ManagedFolder?>("folder")
}

final class ManagedFolder: NSManagedObject {
    private static let nameKey = PropertyKey<String>("name")
    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

final class ManagedEntry: NSManagedObject {
    private static let titleKey = PropertyKey<String>("title")
    private static let moodKey = PropertyKey<Mood>("mood")
    var title: String {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }
    var mood: Mood {
        get { self[Self.moodKey] }
        set { self[Self.moodKey] = newValue }
    }
}

/// The model that the schema of ``Note``, ``Folder`` and ``Entry`` makes, but for the enumeration, which is a number here, with the classes above.
enum ManagedModel {
    static func make() -> NSManagedObjectModel {
        let note = entity("Note", ManagedNote.self)
        let folder = entity("Folder", ManagedFolder.self)
        let entry = entity("Entry", ManagedEntry.self)
        let toOne = relationship("folder", to: folder, maxCount: 1)
        let toMany = relationship("notes", to: note, maxCount: 0)
        toOne.inverseRelationship = toMany
        toMany.inverseRelationship = toOne
        note.properties = [
            attribute("title", .stringAttributeType), attribute("stars", .integer64AttributeType, 0),
            attribute("weight", .doubleAttributeType, 1.0), attribute("isDone", .booleanAttributeType, false), toOne,
        ]
        folder.properties = [attribute("name", .stringAttributeType), toMany]
        entry.properties = [attribute("title", .stringAttributeType), attribute("mood", .integer64AttributeType, 0)]
        let model = NSManagedObjectModel()
        model.entities = [note, folder, entry]
        return model
    }

    private static func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = String(reflecting: type)
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, _ value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.defaultValue = value
        attribute.isOptional = false
        return attribute
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, maxCount: Int
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = maxCount
        relationship.deleteRule = .nullifyDeleteRule
        relationship.isOptional = true
        return relationship
    }
}
