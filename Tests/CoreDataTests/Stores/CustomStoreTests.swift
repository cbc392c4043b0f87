import CoreData
import Foundation
import Testing

/// An atomic store of the program's own: a property list.
private final class PlistStore: NSAtomicStore, @unchecked Sendable {
    static let type = "Plist"
    nonisolated(unsafe) static var failsToSave = false
    nonisolated(unsafe) static var removed = 0

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: "4B0F5331-DE87-4D61-9947-8A976CCEB627"]
    }

    override func load() throws {
        guard let url, let data = try? Data(contentsOf: url) else { return }
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        guard let objects = list as? [[String: Any]] else { throw CocoaError(.fileReadCorruptFile) }
        let model = persistentStoreCoordinator?.managedObjectModel
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for object in objects {
            guard let entity = model?.entitiesByName[object["entity"] as? String ?? ""],
                let name = object["id"] as? String
            else { continue }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: name))
            node.setValue(object["name"] ?? object["title"], forKey: entity.name == "Author" ? "name" : "title")
            nodes[name] = node
        }
        for object in objects {
            guard let author = nodes[object["author"] as? String ?? ""] else { continue }
            nodes[object["id"] as? String ?? ""]?.setValue(author, forKey: "author")
        }
        addCacheNodes(Set(nodes.values))
    }

    override func save() throws {
        if Self.failsToSave { throw CocoaError(.fileWriteOutOfSpace) }
        let objects = cacheNodes().map { node -> [String: Any] in
            var object: [String: Any] = [
                "entity": node.objectID.entity.name ?? "", "id": "\(referenceObject(for: node.objectID))",
            ]
            for key in ["name", "title"] { object[key] = node.value(forKey: key) }
            let author = node.value(forKey: "author") as? NSAtomicStoreCacheNode
            object["author"] = author.map { "\(referenceObject(for: $0.objectID))" }
            return object
        }
        guard let url else { return }
        try PropertyListSerialization.data(fromPropertyList: objects, format: .xml, options: 0).write(to: url)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any { "new/" + UUID().uuidString }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) { Self.removed += cacheNodes.count }
}

/// Keeps its metadata beside its objects, and so knows them when it has loaded those.
private final class LateStore: NSAtomicStore, @unchecked Sendable {
    static let type = "Late"

    override func load() throws {
        guard let url, let data = try? Data(contentsOf: url) else {
            metadata = ["app": "new"]
            return
        }
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil)
        let content = list as? [String: Any] ?? [:]
        metadata = content["metadata"] as? [String: Any]
        for name in content["tags"] as? [String] ?? [] {
            guard let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName["Tag"] else { continue }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: name))
            node.setValue(name, forKey: "name")
            addCacheNodes([node])
        }
    }

    override func save() throws {
        let tags = cacheNodes().compactMap { $0.value(forKey: "name") as? String }
        guard let url else { return }
        try PropertyListSerialization.data(
            fromPropertyList: ["metadata": metadata ?? [:], "tags": tags], format: .xml, options: 0
        ).write(to: url)
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        managedObject.value(forKey: "name") as? String ?? ""
    }
}

/// Stores of classes that the program has written.
@Suite(.serialized) struct CustomStoreTests {
    private func stack(_ url: URL) throws -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator.registerStoreClass(PlistStore.self, forStoreType: PlistStore.type)
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        try coordinator.addPersistentStore(ofType: PlistStore.type, configurationName: nil, at: url)
        return coordinator
    }

    private func url() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).plist")
    }

    @Test("The missing folder of an atomic store is made by the first save that writes a file there")
    func theMissingFolderIsMade() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("folder-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("inner/Library.plist")
        func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }
        let coordinator = try stack(url)
        #expect(!exists(folder), "nothing is saved yet")
        func save() throws {
            try FileStack.story(coordinator) { context in
                Author(context: context).name = "Jane"
                try context.save()
            }
        }
        PlistStore.failsToSave = true
        defer { PlistStore.failsToSave = false }
        #expect(throws: CocoaError.self) { try save() }
        #expect(!exists(folder), "nothing was written")
        PlistStore.failsToSave = false
        try save()
        #expect(exists(url))
        let names = try FileStack.story(try stack(url)) { try $0.all(Author.self, "Author").map(\.name) }
        #expect(names == ["Jane"])
    }

    @Test("What a store's metadata lack they get, though they are set as it loads; another model is then 134100")
    func metadataThatAreSetByLoadAreComplete() throws {
        NSPersistentStoreCoordinator.registerStoreClass(LateStore.self, forStoreType: LateStore.type)
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        func coordinator(_ model: NSManagedObjectModel) throws -> NSPersistentStoreCoordinator {
            let coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(ofType: LateStore.type, configurationName: nil, at: url)
            return coordinator
        }
        let first = try coordinator(Library.model())
        let store = first.persistentStores[0]
        let metadata: [String: Any] = store.metadata
        #expect(metadata["app"] as? String == "new" && metadata[NSStoreTypeKey] as? String == LateStore.type)
        #expect(metadata[NSStoreUUIDKey] as? String == store.identifier && store.identifier.isEmpty == false)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes == first.managedObjectModel.entityVersionHashesByName)
        let uri = try FileStack.story(first) { context in
            let tag = Tag(context: context)
            tag.name = "novel"
            try context.save()
            return tag.objectID.uriRepresentation()
        }
        try first.remove(store)
        let second = try coordinator(Library.model())
        #expect(second.persistentStores[0].identifier == store.identifier)
        try FileStack.story(second) { context in
            let tags = try context.all(Tag.self, "Tag")
            #expect(tags.map(\.name) == ["novel"] && tags[0].objectID.uriRepresentation() == uri)
            let id = try #require(second.managedObjectID(forURIRepresentation: uri))
            #expect(try context.existingObject(with: id) === tags[0])
        }
        let other = Library.model()
        other.entitiesByName["Tag"]?.properties.append(Library.attribute("color", .stringAttributeType))
        let error = try #require(throws: CocoaError.self) { _ = try coordinator(other) }
        #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
    }

    @Test func aClassIsRegisteredAndTakenAway() throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(ofType: "Gone", configurationName: nil, at: url())
        }
        NSPersistentStoreCoordinator.registerStoreClass(PlistStore.self, forStoreType: "Gone")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Gone"] != nil)
        NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "Gone")
        #expect(NSPersistentStoreCoordinator.registeredStoreTypes["Gone"] == nil)
    }

    @Test func anAtomicStoreIsLoadedSavedAndLoadedAgain() throws {
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        let first = try stack(url)
        let uri = try FileStack.story(first) { context throws in
            let author = Author(context: context)
            author.name = "Jane"
            for title in ["Emma", "Persuasion"] {
                let book = Book(context: context)
                book.title = title
                book.author = author
            }
            try context.save()
            return author.objectID.uriRepresentation()
        }
        #expect(uri.absoluteString.contains("/Author/pnew%2F"))
        let second = try stack(url)
        #expect(second.persistentStores[0].type == PlistStore.type)
        try FileStack.story(second) { context throws in
            let books = try context.all(Book.self, "Book", "author.name == %@", "Jane")
            #expect(books.compactMap(\.title).sorted() == ["Emma", "Persuasion"])
            let id = try #require(second.managedObjectID(forURIRepresentation: uri))
            let author = try #require(try context.existingObject(with: id) as? Author)
            #expect(author.books == Set(books))
            books[0].title = "Sanditon"
            context.delete(books[1])
            PlistStore.removed = 0
            try context.save()
            #expect(PlistStore.removed == 1)
        }
        try FileStack.story(try stack(url)) { context throws in
            #expect(try context.all(Book.self, "Book").map(\.title) == ["Sanditon"])
            #expect(try context.all(Author.self, "Author").first?.books.count == 1)
        }
    }

    @Test func aSaveThatFailsLeavesNodesAndFileAsTheyWere() throws {
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = try stack(url)
        try FileStack.story(coordinator) { context throws in
            let book = Book(context: context)
            book.title = "Emma"
            try context.save()
            let before = try Data(contentsOf: url)
            book.title = "Changed"
            Book(context: context).title = "New"
            PlistStore.failsToSave = true
            let error = try #require(throws: CocoaError.self) { try context.save() }
            PlistStore.failsToSave = false
            #expect(error.code == .fileWriteOutOfSpace)
            #expect(try Data(contentsOf: url) == before)
            let store = try #require(coordinator.persistentStores[0] as? PlistStore)
            #expect(store.cacheNodes().compactMap { $0.value(forKey: "title") as? String } == ["Emma"])
            try context.save()
            #expect(store.cacheNodes().count == 2)
        }
    }

    @Test func contextsAreCheckedForConflicts() throws {
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = try stack(url)
        try FileStack.story(coordinator) { first throws in
            let book = Book(context: first)
            book.title = "Emma"
            try first.save()
            try FileStack.story(coordinator) { second throws in
                try #require(try second.all(Book.self, "Book").first).title = "There"
                try second.save()
            }
            book.title = "Here"
            let error = try #require(throws: CocoaError.self) { try first.save() }
            #expect(error.errorCode == NSManagedObjectMergeError)
        }
    }

    @Test func rowsMoveFromAnAtomicStoreToOthers() throws {
        let url = url()
        defer { try? FileManager.default.removeItem(at: url) }
        let coordinator = try stack(url)
        try FileStack.story(coordinator) { context throws in
            let book = Book(context: context)
            book.title = "Emma"
            book.author = Author(context: context)
            book.author?.name = "Jane"
            try context.save()
        }
        let other = url.appendingPathExtension("xml")
        defer { try? FileManager.default.removeItem(at: other) }
        try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: other, type: .xml)
        try FileStack.story(coordinator) { context throws in
            #expect(try context.all(Book.self, "Book", "author.name == 'Jane'").map(\.title) == ["Emma"])
        }
    }
}
