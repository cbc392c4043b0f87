import Foundation
import Synchronization

@testable import CoreData

/// Authors and books in memory, which counts what it is asked for: `Author` 1… with `books`, `Book` 1… with `author` and `size`.
class ShelfStore: NSIncrementalStore, @unchecked Sendable {
    // Safe because the shelves have a lock.

    struct Book {
        var title: String
        var author: Int?
        var size: [String: Int] = [:]
        var version: UInt64 = 1
    }

    struct Shelf {
        var authors: [Int: String] = [:]
        var books: [Int: Book] = [:]
        /// The objects that were asked for one by one, and together, such as `Book 1`.
        var single: [String] = []
        var together: [[String]] = []
        var relationships: [String] = []
        /// Whether nodes of books leave out the author, who is asked for then.
        var leavesOutAuthors = false
        var failsToRelate = false
        /// The relationships of several objects that were asked for together.
        var related: [[String]] = []
        /// Whether the last fetch was of the class that code for Apple's framework casts it to.
        var wasCast: Bool?
        var metadata: [String: any Sendable]?
        var metadataWrites = 0
    }

    /// By the path of the store.
    static let shelves = Mutex<[String: Shelf]>([:])
    class var type: String { "Shelf" }

    final func with<R: Sendable>(_ body: (inout Shelf) throws -> sending R) rethrows -> R {
        try Self.shelves.withLock { try body(&$0[url?.path ?? "", default: Shelf()]) }
    }

    fileprivate func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? -1 }
    private func name(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "") \(number(id))" }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: url?.path ?? ""] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest {
            save(request)
            return [Any]()
        }
        let fetch = request as? NSFetchRequest<any NSFetchRequestResult>
        with { $0.wasCast = fetch != nil }
        guard let fetch, let entity = fetch.entity else { return [Any]() }
        let keys = with { entity.name == "Book" ? $0.books.keys.sorted() : $0.authors.keys.sorted() }
        if fetch.resultType == .countResultType { return [NSNumber(value: keys.count)] }
        return keys.map { newObjectID(for: entity, referenceObject: $0) }
    }

    private func save(_ request: NSSaveChangesRequest) {
        if request.insertedObjects == nil, request.deletedObjects == nil { with { $0.metadataWrites += 1 } }
        for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
            let key = number(object.objectID)
            if object.entity.name == "Author" {
                let name = object.value(forKey: "name") as? String ?? ""
                with { $0.authors[key] = name }
                continue
            }
            let author = (object.value(forKey: "author") as? NSManagedObject).map { number($0.objectID) }
            let title = object.value(forKey: "title") as? String ?? ""
            let hasSize = object.entity.propertiesByName["size"] != nil
            let size = Self.numbers(hasSize ? object.value(forKey: "size") : nil)
            with { shelf in
                let version = (shelf.books[key]?.version ?? 0) + 1
                shelf.books[key] = Book(title: title, author: author, size: size, version: version)
            }
        }
        for object in request.deletedObjects ?? [] {
            let key = number(object.objectID)
            with { if object.entity.name == "Book" { $0.books[key] = nil } else { $0.authors[key] = nil } }
        }
    }

    /// The elements of a composite attribute.
    static func numbers(_ value: Any?) -> [String: Int] {
        (value as? [String: Any] ?? [:]).compactMapValues { ($0 as? NSNumber)?.intValue }
    }

    fileprivate func node(_ id: NSManagedObjectID) -> NSIncrementalStoreNode? {
        let key = number(id)
        if id.entity.name == "Author" {
            return with { $0.authors[key] }.map {
                NSIncrementalStoreNode(objectID: id, withValues: ["name": $0], version: 1)
            }
        }
        guard let book = with({ $0.books[key] }) else { return nil }
        var values: [String: Any] = ["title": book.title, "author": NSNull()]
        if !book.size.isEmpty { values["size"] = book.size }
        if with({ $0.leavesOutAuthors }) {
            values["author"] = nil
        } else if let author = book.author, let entity = id.entity.relationshipsByName["author"]?.destinationEntity {
            values["author"] = newObjectID(for: entity, referenceObject: author)
        }
        return NSIncrementalStoreNode(objectID: id, withValues: values, version: book.version)
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let name = name(objectID)
        with { $0.single.append(name) }
        guard let node = node(objectID) else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return node
    }

    fileprivate func nodes(_ ids: [NSManagedObjectID]) -> [NSIncrementalStoreNode] {
        let names = ids.map(name)
        with { $0.together.append(names) }
        return ids.reversed().compactMap(node)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let (key, name) = (number(objectID), name(objectID))
        with { $0.relationships.append("\(name).\(relationship.name)") }
        if with({ $0.failsToRelate }) { throw CocoaError(.fileReadUnknown) }
        return destinations(relationship, key)
    }

    private func destinations(_ relationship: NSRelationshipDescription, _ key: Int) -> Any {
        guard let entity = relationship.destinationEntity else { return NSNull() }
        if relationship.name == "author" {
            return with { $0.books[key]?.author }.map { newObjectID(for: entity, referenceObject: $0) } ?? NSNull()
        }
        return with { $0.books.filter { $0.value.author == key }.keys.sorted() }
            .map { newObjectID(for: entity, referenceObject: $0) }
    }

    fileprivate func values(_ relationship: NSRelationshipDescription, _ ids: [NSManagedObjectID]) -> [Any] {
        let names = ids.map { "\(name($0)).\(relationship.name)" }
        with { $0.related.append(names) }
        return ids.map { destinations(relationship, number($0)) }
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let first = with { max($0.books.keys.max() ?? 0, $0.authors.keys.max() ?? 0) + 1 }
        return array.enumerated().map { newObjectID(for: $1.entity, referenceObject: first + $0) }
    }
}

/// The same, which reads many objects at once.
final class BatchShelfStore: ShelfStore, BatchReadingIncrementalStore, @unchecked Sendable {
    override class var type: String { "BatchShelf" }

    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode] { nodes(objectIDs) }
}

/// The same, which tells relationships of many objects at once, too; of all but the last where that is a mistake.
final class RelatingShelfStore: ShelfStore, BatchReadingIncrementalStore, @unchecked Sendable {
    override class var type: String { "RelatingShelf" }

    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode] { nodes(objectIDs) }

    func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]? {
        let values = values(relationship, objectIDs)
        return with { $0.failsToRelate } ? Array(values.dropLast()) : values
    }
}

/// The same, which answers with the node of another object.
final class MistakenShelfStore: ShelfStore, @unchecked Sendable {
    override class var type: String { "MistakenShelf" }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let other = newObjectID(for: objectID.entity, referenceObject: number(objectID) % 3 + 1)
        return try super.newValuesForObject(with: other, with: context)
    }
}

/// The same, which keeps its metadata itself.
final class KeepingShelfStore: ShelfStore, @unchecked Sendable {
    override class var type: String { "KeepingShelf" }

    override var metadata: [String: Any]! {
        get { with { $0.metadata } ?? [NSStoreTypeKey: Self.type, NSStoreUUIDKey: "kept"] }
        set {
            let texts = (newValue ?? [:]).compactMapValues { $0 as? String }
            with { $0.metadata = texts }
        }
    }

    override func loadMetadata() throws {}
}
