import CoreDataModel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// An atomic store of the program's own that keeps its metadata: a property list of `metadata` and `objects`.
final class ListStore: NSAtomicStore, @unchecked Sendable {
    // Safe because one thread at a time has it.

    static let type = "List"
    static let failsToSave = Mutex(false)

    private func list() -> [String: Any] {
        guard let url, let data = try? Data(contentsOf: url) else { return [:] }
        return (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [String: Any]
            ?? [:]
    }

    override func loadMetadata() throws {
        metadata = list()["metadata"] as? [String: Any] ?? [NSStoreTypeKey: Self.type, NSStoreUUIDKey: "list"]
    }

    override func load() throws {
        let objects = list()["objects"] as? [[String: Any]] ?? []
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for object in objects {
            guard let name = object["entity"] as? String, let id = object["id"] as? String,
                let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[name]
            else { throw CocoaError(.fileReadCorruptFile) }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: id))
            for key in entity.attributesByName.keys { node.setValue(object[key], forKey: key) }
            nodes[id] = node
        }
        for object in objects {
            guard let node = nodes[object["id"] as? String ?? ""] else { continue }
            for (key, relationship) in node.objectID.entity.relationshipsByName {
                let ids = object[key] as? [String] ?? []
                let members = ids.compactMap { nodes[$0] }
                node.setValue(
                    relationship.isToMany
                        ? (relationship.isOrdered ? NSOrderedSet(array: members) : Set(members) as Any)
                        : members.first as Any?,
                    forKey: key)
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func save() throws {
        let objects = cacheNodes().map { node -> [String: Any] in
            var object: [String: Any] = [
                "entity": node.objectID.entity.name ?? "", "id": referenceObject(for: node.objectID),
            ]
            for key in node.objectID.entity.attributesByName.keys { object[key] = node.value(forKey: key) }
            for (key, relationship) in node.objectID.entity.relationshipsByName {
                let members: [NSAtomicStoreCacheNode] =
                    switch node.value(forKey: key) {
                    case let one as NSAtomicStoreCacheNode: [one]
                    case let many as Set<NSAtomicStoreCacheNode>: Array(many)
                    case let many as NSOrderedSet: many.compactMap { $0 as? NSAtomicStoreCacheNode }
                    default: []
                    }
                let ids = members.map { "\(referenceObject(for: $0.objectID))" }
                object[key] = relationship.isOrdered ? ids : ids.sorted()
            }
            return object
        }
        guard let url else { return }
        if Self.failsToSave.withLock({ $0 }) {
            try Data("half".utf8).write(to: url)
            throw CocoaError(.fileWriteOutOfSpace)
        }
        try PropertyListSerialization.data(
            fromPropertyList: ["metadata": metadata ?? [:], "objects": objects], format: .xml, options: 0
        ).write(to: url)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }
}

/// T2, T5: an atomic store of the program's own class, of an older version of the model.
@Suite(.serialized) struct MigratedCustomStoreTests {
    private let url: URL
    private let versions: [NSManagedObjectModel]

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.type)
        let folder = try Fixtures.temporaryFolder()
        url = folder.appendingPathComponent("Library.list")
        let documents = [
            model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: true)),
                entity("Book", attribute("title"), toOne("author", "Author", inverse: "books")),
                entity("Comic", parent: "Book", attribute("colour")), entity("Loan", attribute("day"))),
            model(
                entity(
                    "Author", attribute("name"),
                    toMany("works", "Work", inverse: "author", ordered: true)
                        .with { $0.renamingIdentifier = "books" }),
                entity(
                    "Work", attribute("name").with { $0.renamingIdentifier = "title" },
                    attribute("isbn", default: "none"),
                    toOne("author", "Author", inverse: "works")
                ).with { $0.renamingIdentifier = "Book" },
                entity("Comic", parent: "Work", attribute("colour"))),
        ]
        let file = folder.appendingPathComponent("Library.momd")
        let names = ["Library", "Library 2"]
        try ModelCompilation(
            of: ModelVersions(
                name: "Library",
                versions: zip(names, documents).map { ModelVersions.Version(name: $0, document: $1) },
                currentName: "Library 2"), isFolder: true
        ).write(to: file)
        versions = try names.map { try NSManagedObjectModel.load(contentsOf: file, version: $0) }
    }

    private func open<R>(
        _ version: Int, migrates: Bool = false, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[version])
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: migrates),
            NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
        ]
        let store = try coordinator.addPersistentStore(
            ofType: ListStore.type, configurationName: nil, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    /// The last parts of the URIs of the books, in their order.
    private func fill() throws -> [String] {
        try open(0) { context in
            func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let author = insert("Author", ["name": "Ann"])
            let books = [insert("Book", ["title": "One"]), insert("Comic", ["title": "Two", "colour": "red"])]
            _ = insert("Loan", ["day": "Monday"])
            author.setValue(NSOrderedSet(array: books.reversed()), forKey: "books")
            try context.save()
            return books.map { $0.objectID.uriRepresentation().lastPathComponent }
        }
    }

    @Test("T5: it is migrated by an inferred mapping, and its objects keep their references")
    func migration() throws {
        let names = try fill()
        let refused = try #require(throws: CocoaError.self) { try open(1) { _ in } }
        #expect(refused.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        for migrates in [true, false] {
            try open(1, migrates: migrates) { context in
                let author = try #require(
                    try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first)
                let works = try #require(author.value(forKey: "works") as? NSOrderedSet).compactMap {
                    $0 as? NSManagedObject
                }
                #expect(works.map { $0.value(forKey: "name") as? String } == ["Two", "One"])
                #expect(works.map(\.entity.name) == ["Comic", "Work"])
                #expect(works.first?.value(forKey: "colour") as? String == "red")
                #expect(works.allSatisfy { $0.value(forKey: "isbn") as? String == "none" })
                #expect(works.reversed().map { $0.objectID.uriRepresentation().lastPathComponent } == names)
                works.first?.setValue("Two again", forKey: "name")
                works.first?.setValue("Two", forKey: "name")
                try context.save()
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(left.sorted() == ["Library.list", "Library.momd"])
    }

    @Test("T9: where it cannot be written the file is as it was")
    func failure() throws {
        _ = try fill()
        let before = try Data(contentsOf: url)
        ListStore.failsToSave.withLock { $0 = true }
        defer { ListStore.failsToSave.withLock { $0 = false } }
        let error = try #require(throws: CocoaError.self) { try open(1, migrates: true) { _ in } }
        #expect(error.code == .fileWriteOutOfSpace)
        #expect(try Data(contentsOf: url) == before)
        ListStore.failsToSave.withLock { $0 = false }
        try open(1, migrates: true) { context throws in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Work")) == 2)
        }
    }
}
