import CoreData

/// Folders with entries, once in no order and once in order.
enum FolderModel {
    static func make() -> NSManagedObjectModel {
        let folder = entity("Folder")
        let entry = entity("Entry")
        let (entries, entryFolder) = pair("entries", of: folder, "folder", of: entry)
        let (ordered, entryOrderedFolder) = pair("orderedEntries", of: folder, "orderedFolder", of: entry)
        ordered.isOrdered = true
        let number = NSAttributeDescription()
        number.name = "number"
        number.attributeType = .integer64AttributeType
        folder.properties = [entries, ordered]
        entry.properties = [number, entryFolder, entryOrderedFolder]
        let model = NSManagedObjectModel()
        model.entities = [folder, entry]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "benchmarks.\(name)"
        return entity
    }

    private static func pair(
        _ toMany: String, of folder: NSEntityDescription, _ toOne: String, of entry: NSEntityDescription
    ) -> (toMany: NSRelationshipDescription, toOne: NSRelationshipDescription) {
        let many = NSRelationshipDescription()
        many.name = toMany
        many.destinationEntity = entry
        many.maxCount = 0
        many.deleteRule = .nullifyDeleteRule
        let one = NSRelationshipDescription()
        one.name = toOne
        one.destinationEntity = folder
        one.maxCount = 1
        one.deleteRule = .nullifyDeleteRule
        many.inverseRelationship = one
        one.inverseRelationship = many
        return (many, one)
    }
}

final class Folder: NSManagedObject {
    static let entriesKey = PropertyKey<Set<Entry>>("entries")
    static let orderedEntriesKey = PropertyKey<[Entry]>("orderedEntries")
    var entries: Set<Entry> {
        get { self[Self.entriesKey] }
        set { self[Self.entriesKey] = newValue }
    }
    var orderedEntries: [Entry] {
        get { self[Self.orderedEntriesKey] }
        set { self[Self.orderedEntriesKey] = newValue }
    }
}

final class Entry: NSManagedObject {
    private static let numberKey = PropertyKey<Int64>("number")
    var number: Int64 {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }
}
