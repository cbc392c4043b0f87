import CoreData
import Foundation

@objc(Shelf)
@objcMembers
public final class Shelf: NSManagedObject {
    @NSManaged public var name: String?
    @NSManaged public var books: NSOrderedSet
}

// MARK: Generated accessors for books

extension Shelf {
    @objc(insertObject:inBooksAtIndex:)
    @NSManaged public func insertIntoBooks(_ value: Book, at idx: Int)

    @objc(removeObjectFromBooksAtIndex:)
    @NSManaged public func removeFromBooks(at idx: Int)

    @objc(replaceObjectInBooksAtIndex:withObject:)
    @NSManaged public func replaceBooks(at idx: Int, with value: Book)

    @objc(addBooksObject:)
    @NSManaged public func addToBooks(_ value: Book)

    @objc(removeBooksObject:)
    @NSManaged public func removeFromBooks(_ value: Book)

    @objc(addBooks:)
    @NSManaged public func addToBooks(_ values: NSOrderedSet)
}

// The names of such methods before Swift 3.
extension Shelf {
    @NSManaged public func insertObject(_ value: Book, inBooksAtIndex idx: Int)

    @NSManaged public func insertBooks(_ values: [Book], atIndexes indexes: NSIndexSet)

    @NSManaged public func removeObjectFromBooksAtIndex(_ idx: Int)

    @NSManaged public func removeBooksAtIndexes(_ indexes: NSIndexSet)

    @NSManaged public func replaceObjectInBooksAtIndex(_ idx: Int, withObject value: Book)

    @NSManaged public func replaceBooksAtIndexes(_ indexes: NSIndexSet, withBooks values: [Book])

    @NSManaged public func addBooksObject(_ value: Book)

    @NSManaged public func removeBooks(_ values: NSOrderedSet)

    @objc(addBooks:)
    @NSManaged public func append(_ values: NSOrderedSet)
}
