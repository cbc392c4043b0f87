import CoreData

/// Holds notes in order, and other folders.
public class Folder: NSManagedObject {
    @NSManaged public var name: String
    @NSManaged public var colour: String?
    @NSManaged public var notes: NSOrderedSet
    @NSManaged public var parent: Folder?
    @NSManaged public var children: Set<Folder>

    /// The names from the outermost folder to this one.
    public var path: String { (parent.map { $0.path + "/" } ?? "") + name }
}

// The methods that Xcode writes for an ordered to-many relationship.
extension Folder {
    @NSManaged public func insertIntoNotes(_ value: Note, at idx: Int)

    @NSManaged public func removeFromNotes(at idx: Int)

    @NSManaged public func insertIntoNotes(_ values: [Note], at indexes: NSIndexSet)

    @NSManaged public func removeFromNotes(at indexes: NSIndexSet)

    @NSManaged public func replaceNotes(at idx: Int, with value: Note)

    @NSManaged public func replaceNotes(at indexes: NSIndexSet, with values: [Note])

    @NSManaged public func addToNotes(_ value: Note)

    @NSManaged public func removeFromNotes(_ value: Note)

    @NSManaged public func addToNotes(_ values: NSOrderedSet)

    @NSManaged public func removeFromNotes(_ values: NSOrderedSet)
}

// The names of such methods before Swift 3.
extension Folder {
    @NSManaged public func insertObject(_ value: Note, inNotesAtIndex idx: Int)

    @NSManaged public func insertNotes(_ values: [Note], atIndexes indexes: NSIndexSet)

    @NSManaged public func removeObjectFromNotesAtIndex(_ idx: Int)

    @NSManaged public func removeNotesAtIndexes(_ indexes: NSIndexSet)

    @NSManaged public func replaceObjectInNotesAtIndex(_ idx: Int, withObject value: Note)

    @NSManaged public func replaceNotesAtIndexes(_ indexes: NSIndexSet, withNotes values: [Note])

    @NSManaged public func addNotesObject(_ value: Note)

    @NSManaged public func removeNotes(_ values: NSOrderedSet)
}
