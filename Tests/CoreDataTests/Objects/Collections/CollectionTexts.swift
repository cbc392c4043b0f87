import CoreData
import Foundation

/// What a collection's method gave, as text, so that a relationship's can be held beside a plain one's.
enum CollectionTexts {
    static func text(_ any: Any?) -> String {
        switch any {
        case nil: "nil"
        case let object as NSManagedObject:
            (object.value(forKey: object.entity.name == "Book" || object.entity.name == "Chapter" ? "title" : "name")
                as? String) ?? "?"
        case let set as NSSet: "{" + set.map(text).sorted().joined(separator: " ") + "}"
        case let set as NSOrderedSet: "<" + set.array.map(text).joined(separator: " ") + ">"
        case let array as [Any]: "[" + array.map(text).joined(separator: " ") + "]"
        case let number as NSNumber: String(format: "%g", number.doubleValue)
        case let indexes as IndexSet: indexes.map(String.init).joined(separator: ",")
        case let any?: String(describing: any)
        }
    }

    /// The members in any order, for methods whose order is not defined.
    static func unordered(_ members: some Sequence) -> String { members.map(text).sorted().joined(separator: " ") }
}

extension LibraryStack {
    func books(_ titles: [String], in context: NSManagedObjectContext) -> [Book] {
        titles.map { title in
            let book = Book(context: context)
            book.title = title
            return book
        }
    }

    func chapters(_ titles: [String], in context: NSManagedObjectContext) -> [Chapter] {
        titles.map { title in
            let chapter = Chapter(context: context)
            chapter.title = title
            return chapter
        }
    }
}
