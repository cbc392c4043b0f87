import CoreData
import Foundation

/// Stores of one type in a folder of their own, with the library's model.
final class FileStack {
    let folder: URL
    let url: URL
    let type: NSPersistentStore.StoreType
    private(set) var coordinator: NSPersistentStoreCoordinator
    private let model: NSManagedObjectModel

    init(_ type: NSPersistentStore.StoreType, model: NSManagedObjectModel = Library.model()) throws {
        self.type = type
        self.model = model
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("Library.\(type.rawValue.lowercased())")
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: type, at: url)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// Closes the store and opens it again with another coordinator.
    func reopen(_ options: [AnyHashable: Any]? = nil) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        coordinator = try newCoordinator(options)
    }

    /// Another coordinator with the same file.
    func newCoordinator(_ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator {
        let other = try NSPersistentStoreCoordinator(validating: model)
        try other.addPersistentStore(type: type, at: url, options: options)
        return other
    }

    /// Runs the story on a context of its own.
    @discardableResult
    func story<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try Self.story(coordinator, body)
    }

    @discardableResult
    static func story<R>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    func bytes() throws -> Data { try Data(contentsOf: url) }

    /// Some of everything that a store can hold.
    static func fill(_ context: NSManagedObjectContext) throws {
        let author = Author(context: context)
        author.name = "Jane \"Ann\" <Austen> & Söhne\r\n\t\u{1F600}"
        let tags = ["novel", "tab\tand\u{0}control\u{1B}", ""].map { name in
            let tag = Tag(context: context)
            tag.name = name
            return tag
        }
        var books: [Book] = []
        for (index, title) in ["Emma", " Persuasion ", "]]>", "\u{FFFE}"].enumerated() {
            let book = Book(context: context)
            book.title = title
            book.pages = [0, 1, 480, .max][index]
            book.price = index == 3 ? nil : Decimal(string: "12345678901234567890.0123456789")
            book.published = Date(timeIntervalSinceReferenceDate: [0, -1.5, 123_456_789.123456789, 1e-9][index])
            book.rating = [Double](arrayLiteral: 0, -0.1, .infinity, .leastNonzeroMagnitude)[index]
            book.isLent = index.isMultiple(of: 2)
            book.identifier = index == 0 ? nil : UUID()
            book.website = URL(string: "https://example.org/a?b=c&d=\(index)")
            book.cover = index == 0 ? nil : Data((0..<(index * 100)).map { UInt8(truncatingIfNeeded: $0) })
            book.isbn = "\(index)"
            book.author = index == 3 ? nil : author
            book.tags = Set(tags.prefix(index))
            book.chapters = (0..<index).map { number in
                let chapter = Chapter(context: context)
                chapter.title = "Chapter \(index - number)"
                return chapter
            }
            books.append(book)
        }
        books[0].sequels = [books[2], books[1], books[3]]
        books[3].sequels = [books[0]]
        let reader = Reader(context: context)
        reader.name = "Reader"
        let loan = Loan(context: context)
        loan.reader = reader
        loan.book = books[1]
        try context.save()
    }

    /// Everything in the library, in words; without what differs between stores.
    static func picture(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        try story(coordinator) { context in
            var lines: [String] = []
            let names = coordinator.managedObjectModel.entities.filter { !$0.isAbstract }.compactMap(\.name).sorted()
            for name in names {
                for object in try context.all(NSManagedObject.self, name) where object.entity.name == name {
                    lines.append(line(object))
                }
            }
            return lines.sorted()
        }
    }

    private static func line(_ object: NSManagedObject) -> String {
        let attributes = object.entity.attributesByName.keys.sorted().map { key in
            "\(key)=\(object.value(forKey: key).map { text($0) } ?? "nil")"
        }
        let relationships = object.entity.relationshipsByName.keys.sorted().map { key -> String in
            switch object.value(forKey: key) {
            case let one as NSManagedObject: return "\(key)→\(label(one))"
            case let many as NSOrderedSet:
                return "\(key)→[\(many.compactMap { ($0 as? NSManagedObject).map(label) }.joined(separator: ","))]"
            case let many as Set<NSManagedObject>: return "\(key)→{\(many.map(label).sorted().joined(separator: ","))}"
            default: return "\(key)→nil"
            }
        }
        return "\(object.entity.name ?? ""): " + (attributes + relationships).joined(separator: "; ")
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        default: "\(value)"
        }
    }

    private static func label(_ object: NSManagedObject) -> String {
        let key = ["title", "name"].first { object.entity.attributesByName[$0] != nil }
        return key.flatMap { object.value(forKey: $0) as? String } ?? object.entity.name ?? ""
    }
}
