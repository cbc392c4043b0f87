import CoreData
import Foundation
import Synchronization
import Testing

/// Authors and books that lie in the program's memory, called what the test likes.
private final class RowsStore: NSIncrementalStore, @unchecked Sendable {
    static let type = "Rows"

    /// What there is, and how the store misbehaves; tests run one after the other.
    struct Contents {
        var identifier = UUID().uuidString
        /// Names or titles by reference.
        var authors: [AnyHashable: String] = [:]
        var failsToSave = false
        /// What it answers where a relationship leads.
        var answer: Any = NSNull()
        /// The IDs that new objects get.
        var given: [NSManagedObjectID]?
    }

    nonisolated(unsafe) static var contents = Contents()

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: Self.contents.identifier]
    }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        guard let save = request as? NSSaveChangesRequest else {
            guard let entity = (request as? any AnyRequest)?.requested, entity.name == "Author", let context else {
                return [NSManagedObject]()
            }
            return Self.contents.authors.keys.map {
                context.object(with: newObjectID(for: entity, referenceObject: $0))
            }
        }
        if Self.contents.failsToSave { throw CocoaError(.fileWriteOutOfSpace) }
        for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) where object.entity.name == "Author"
        {
            let reference = referenceObject(for: object.objectID) as? AnyHashable
            if let reference { Self.contents.authors[reference] = object.value(forKey: "name") as? String }
        }
        for object in save.deletedObjects ?? [] {
            if let reference = referenceObject(for: object.objectID) as? AnyHashable {
                Self.contents.authors[reference] = nil
            }
        }
        return []
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        guard let name = (referenceObject(for: objectID) as? AnyHashable).flatMap({ Self.contents.authors[$0] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["name": name, "title": name], version: 1)
    }

    override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any { Self.contents.answer }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        Self.contents.given ?? array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
    }
}

/// A fetch request, whatever it gives.
private protocol AnyRequest { var requested: NSEntityDescription? { get } }
extension NSFetchRequest: AnyRequest { fileprivate var requested: NSEntityDescription? { entity } }

/// Has its authors in another order each time.
private final class ShuffledStore: NSAtomicStore, @unchecked Sendable {
    static let type = "Shuffled"
    nonisolated(unsafe) static var identifier = UUID().uuidString

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: Self.identifier]
    }

    override func load() throws {
        guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Author"] else { return }
        for number in (0..<10).shuffled() {
            let id = objectID(for: entity, withReferenceObject: "reference \(number)")
            let node = NSAtomicStoreCacheNode(objectID: id)
            node.setValue("name \(number)", forKey: "name")
            addCacheNodes([node])
        }
    }

    override func save() throws {}

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { "reference 3" }
}

/// What the program's own stores call their objects is what IDs mean, in every coordinator.
@Suite(.serialized) struct RowReferenceTests {
    init() {
        RowsStore.contents = RowsStore.Contents()
        ShuffledStore.identifier = UUID().uuidString
        NSPersistentStoreCoordinator.registerStoreClass(RowsStore.self, forStoreType: RowsStore.type)
        NSPersistentStoreCoordinator.registerStoreClass(ShuffledStore.self, forStoreType: ShuffledStore.type)
    }

    private func add(_ type: String, to coordinator: NSPersistentStoreCoordinator) throws {
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil,
            at: type == RowsStore.type ? nil : URL(fileURLWithPath: "/dev/null"))
    }

    private func stack(_ type: String = RowsStore.type) throws -> NSPersistentStoreCoordinator {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try add(type, to: coordinator)
        return coordinator
    }

    private func id(
        _ reference: Any, _ coordinator: NSPersistentStoreCoordinator, _ entity: String = "Author"
    ) throws -> NSManagedObjectID {
        let store = try #require(coordinator.persistentStores.first as? RowsStore)
        let entity = try #require(coordinator.managedObjectModel.entitiesByName[entity])
        return store.newObjectID(for: entity, referenceObject: reference)
    }

    private func name(_ id: NSManagedObjectID, _ coordinator: NSPersistentStoreCoordinator) throws -> String? {
        try FileStack.story(coordinator) { $0.object(with: id).value(forKey: "name") as? String }
    }

    @Test func anIDMeansTheSameInEveryCoordinator() throws {
        RowsStore.contents.authors = ["r1": "One", "r2": "Two"]
        let (first, second) = (try stack(), try stack())
        let (one, two) = (try id("r1", first), try id("r2", second))
        #expect(one != two)
        #expect(try one == id("r1", second) && one.hash == id("r1", second).hash)
        #expect(try name(one, second) == "One" && name(two, first) == "Two")
        try FileStack.story(second) { context in
            context.object(with: one).setValue("Uno", forKey: "name")
            try context.save()
        }
        #expect(RowsStore.contents.authors == ["r1": "Uno", "r2": "Two"])
        // Unknown so far to the other.
        RowsStore.contents.authors["r3"] = "Three"
        #expect(try name(id("r3", first), second) == "Three")
    }

    @Test func anIDMeansTheSameWhenTheStoreIsAddedAgain() throws {
        RowsStore.contents.authors = ["r1": "One", "r2": "Two"]
        let coordinator = try stack()
        let one = try id("r1", coordinator)
        try coordinator.remove(coordinator.persistentStores[0])
        try add(RowsStore.type, to: coordinator)
        #expect(try name(id("r2", coordinator), coordinator) == "Two")
        #expect(try name(one, coordinator) == "One")
    }

    @Test func anAtomicStoreMayLoadItsNodesInAnyOrder() throws {
        let (first, second) = (try stack(ShuffledStore.type), try stack(ShuffledStore.type))
        let named = try FileStack.story(first) { context in
            try context.all(Author.self, "Author").map { ($0.objectID, $0.name) }
        }
        #expect(named.count == 10)
        for (id, expected) in named { #expect(try name(id, second) == expected) }
    }

    @Test func deletionsOfAnotherCoordinatorAreMerged() throws {
        RowsStore.contents.authors = ["r1": "One", "r2": "Two", "r3": "Three"]
        let (first, second) = (try stack(), try stack())
        let reading = NSManagedObjectContext(.privateQueue)
        reading.persistentStoreCoordinator = first
        // In another order than the other coordinator meets them.
        let (three, one) = try reading.performAndWait { () throws in
            (reading.object(with: try id("r3", first)), reading.object(with: try id("r1", first)))
        }
        let deleted = try FileStack.story(second) { context in
            let saves = NotificationSaves(context)
            context.delete(context.object(with: try id("r1", second)))
            try context.save()
            return try #require(saves.last)
        }
        reading.performAndWait {
            reading.mergeChanges(fromContextDidSave: deleted)
            #expect(one.managedObjectContext == nil || one.isDeleted)
            #expect(three.value(forKey: "name") as? String == "Three")
        }
    }

    @Test(
        "A reference comes back from its URI, and no other has that",
        arguments: [
            7, -7, "7", "007", "+7", "-7", "milk/1", "p7", "é", "%37", "%2F", " ", "a b", "1.5", 1.5,
            "00000000-0000-0000-0000-000000000001",
        ] as [any Hashable & Sendable])
    func references(_ reference: any Hashable & Sendable) throws {
        let others: [Any] = [7, "7", "007", "+7", "7 ", "milk", 1.5, "%37"]
        let first = try stack()
        let made = try id(reference, first)
        let uri = made.uriRepresentation()
        let second = try stack()
        let read = try #require(second.managedObjectID(forURIRepresentation: uri))
        #expect(read == made && read.uriRepresentation() == uri)
        #expect(try id(reference, second) == made)
        let store = try #require(second.persistentStores.first as? RowsStore)
        #expect("\(store.referenceObject(for: read))" == "\(reference)")
        for other in others where "\(type(of: other)) \(other)" != "\(type(of: reference)) \(reference)" {
            #expect(try id(other, first).uriRepresentation() != uri, "\(other)")
        }
    }

    @Test(
        "A reference comes back from its URI in a program that has not met it",
        arguments: ["7", "007", "+7", "%37", "a/b"])
    func unknownReferences(_ reference: String) throws {
        RowsStore.contents.authors = [reference: "right", 7: "wrong", reference + "'": "wrong"]
        let uri = try id(reference, stack()).uriRepresentation()
        // Nobody has the store or an ID of it any more.
        let coordinator = try stack()
        _ = try id(7, coordinator)
        let read = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
        #expect(try name(read, coordinator) == "right")
    }

    @Test("A save that such a store refuses writes nothing to a file either", arguments: ["0", "F"])
    func savesOfSeveralStores(_ first: String) throws {
        let model = Library.model()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
        let (authors, tags) = (model.entitiesByName["Author"], model.entitiesByName["Tag"])
        for entity in model.entities { entity.properties.removeAll { $0 is NSRelationshipDescription } }
        model.setEntities([try #require(authors)], forConfigurationName: "rows")
        model.setEntities([try #require(tags)], forConfigurationName: "file")
        // Stores are written in the order of their UUIDs, among others.
        RowsStore.contents.identifier = first + RowsStore.contents.identifier.dropFirst()
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(ofType: RowsStore.type, configurationName: "rows", at: nil)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "file", at: file)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            for entity in ["Author", "Tag"] {
                NSEntityDescription.insertNewObject(forEntityName: entity, into: context).setValue("n", forKey: "name")
            }
            RowsStore.contents.failsToSave = true
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.code == .fileWriteOutOfSpace)
            #expect(context.insertedObjects.count == 2)
            let count = NSFetchRequest<NSManagedObject>(entityName: "Tag")
            #expect(try FileStack.story(coordinator) { try $0.count(for: count) } == 0)
            RowsStore.contents.failsToSave = false
            try context.save()
            #expect(try FileStack.story(coordinator) { try $0.count(for: count) } == 1)
            #expect(RowsStore.contents.authors.count == 1)
        }
    }

    @Test("Where a relationship leads has to be told by IDs of its entity")
    func wrongAnswers() throws {
        RowsStore.contents.authors = ["r1": "One"]
        let coordinator = try stack()
        let (author, book) = (try id("r1", coordinator), try id("b1", coordinator, "Book"))
        for (answer, isRight) in [
            (NSNull(), true), ([NSManagedObjectID](), true), ([book], true), (NSSet(object: book), true),
            (["garbage"], false), ("garbage", false), ([author], false), ([book, 7] as [Any], false),
        ] as [(Any, Bool)] {
            RowsStore.contents.answer = answer
            try FileStack.story(coordinator) { context in
                let object = context.object(with: author)
                _ = object.value(forKey: "books")
                object.setValue("changed", forKey: "name")
                let saved = Result { try context.save() }
                let code = (saved.failure as? CocoaError)?.errorCode
                #expect(code == (isRight ? nil : NSPersistentStoreOperationError), "\(answer)")
            }
        }
    }

    @Test("A new object cannot have the ID of another")
    func idsThatAreTaken() throws {
        RowsStore.contents.authors = ["r1": "One"]
        let coordinator = try stack()
        try FileStack.story(coordinator) { context in
            let one = context.object(with: try id("r1", coordinator))
            #expect(one.value(forKey: "name") as? String == "One")
            RowsStore.contents.given = [one.objectID]
            Author(context: context).name = "New"
            let error = try #require(throws: CocoaError.self) { try context.save() }
            #expect(error.errorCode == NSPersistentStoreOperationError)
            #expect(RowsStore.contents.authors == ["r1": "One"])
            RowsStore.contents.given = nil
            try context.save()
            #expect(RowsStore.contents.authors.values.sorted() == ["New", "One"])
        }
        let atomic = try stack(ShuffledStore.type)
        try FileStack.story(atomic) { context in
            Author(context: context).name = "New"
            #expect(throws: CocoaError.self) { try context.save() }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
