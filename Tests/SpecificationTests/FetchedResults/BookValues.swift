import CoreData
import Foundation

/// What lists of books look at, as a context and as the store have it, for messages.
enum BookValues {
    static func text(_ context: NSManagedObjectContext, _ other: NSManagedObjectContext) throws -> String {
        let stored = try other.performAndWait {
            other.reset()
            return try lines(other)
        }
        return "here:\n\(try lines(context))\nstored:\n\(stored)"
    }

    private static func lines(_ context: NSManagedObjectContext) throws -> String {
        try context.all("Book", by: "code").map { book in
            let tags = (book.value(forKey: "tags") as? NSOrderedSet)?.compactMap {
                ($0 as? NSManagedObject)?.value(forKey: "heft").map { "\($0)" } ?? "nil"
            }
            let values = ["title", "pages", "shelf"].map { book.value(forKey: $0).map { "\($0)" } ?? "nil" }
            let author = book.object("author").map { "\($0.text("name")) \($0.value(forKey: "rating") ?? "nil")" }
            let id = book.objectID.uriRepresentation().lastPathComponent.suffix(6)
            return "\(id)\(book.hasChanges ? "*" : "") \(values) \(author ?? "nil") \(tags ?? [])"
        }.joined(separator: "\n")
    }
}
