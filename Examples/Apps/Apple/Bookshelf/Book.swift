import CoreData
import UIKit

/// How a book is bound.
@objc public enum Binding: Int16 {
    case paperback
    case hardback
}

@objc(Book)
public class Book: NSManagedObject {
    @NSManaged public var title: String
    @NSManaged public var pages: Int32
    @NSManaged public var binding: Binding
    @NSManaged public var colour: Colour?
    @NSManaged public var addedOn: Date?
    @NSManaged public var shelf: Shelf?

    /// Not stored: how often the object was asked for its summary.
    @objc public dynamic var timesSummarised = 0

    @objc
    override private init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    /// A book with a title, in a context.
    public init(title: String, pages: Int32, in context: NSManagedObjectContext) {
        super.init(entity: Book.entity(), insertInto: context)
        self.title = title
        self.pages = pages
    }

    @objc public func summary() -> String {
        timesSummarised += 1
        return "\(title), \(pages) pages"
    }
}

extension Book {
    @NSManaged private var primitiveAddedOn: Date?

    /// Every new book has a date, without being marked as changed for it.
    override public func awakeFromInsert() {
        super.awakeFromInsert()
        primitiveAddedOn = Date()
    }

    /// The books with more pages than that, by title as people sort.
    @nonobjc public class func longerThan(_ pages: Int32) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "%K > %d", #keyPath(Book.pages), pages)
        request.sortDescriptors = [
            NSSortDescriptor(
                key: #keyPath(Book.title), ascending: true,
                selector: #selector(NSString.localizedStandardCompare(_:)))
        ]
        return request
    }

    /// The books of a shelf, found by a property of the shelf.
    public static func onShelf(named name: String) -> NSFetchRequest<Book> {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.predicate = NSPredicate(format: "%K == %@", #keyPath(Book.shelf.name), name)
        request.sortDescriptors = [NSSortDescriptor(key: NSStringFromSelector(#selector(getter: Book.title)), ascending: true)]
        return request
    }
}
