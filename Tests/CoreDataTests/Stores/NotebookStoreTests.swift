import CoreDataModel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// A store of notes in memory that others may write to, and that tells what it was told and asked.
final class NotebookStore: NSIncrementalStore, @unchecked Sendable {
    // Safe because the notes have a lock.

    static let type = "Notebook"

    struct Notes {
        var texts: [Int: (text: String, version: UInt64)] = [:]
        var asked: [Int] = []
        var registered: [Int: Int] = [:]
    }

    /// By the path of the store.
    static let notes = Mutex<[String: Notes]>([:])

    private func with<R: Sendable>(_ body: (inout Notes) throws -> sending R) rethrows -> R {
        try Self.notes.withLock { try body(&$0[url?.path ?? "", default: Notes()]) }
    }

    private func number(_ id: NSManagedObjectID) -> Int { referenceObject(for: id) as? Int ?? -1 }

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: "notebook"] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let request = request as? NSSaveChangesRequest {
            let changed = (request.insertedObjects ?? []).union(request.updatedObjects ?? [])
            for object in changed {
                let (key, text) = (number(object.objectID), object.value(forKey: "text") as? String ?? "")
                with { $0.texts[key] = (text, ($0.texts[key]?.version ?? 0) + 1) }
            }
            for object in request.deletedObjects ?? [] {
                let key = number(object.objectID)
                with { $0.texts[key] = nil }
            }
            return [Any]()
        }
        guard let request = request as? AnyFetchRequest, let entity = request.entity else { return [Any]() }
        let keys = with { $0.texts.keys.sorted() }
        return keys.map { newObjectID(for: entity, referenceObject: $0) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let key = number(objectID)
        let found = with { notes in
            notes.asked.append(key)
            return notes.texts[key].map { ($0.text, $0.version) }
        }
        guard let found else {
            throw CocoaError(CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError))
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: ["text": found.0], version: found.1)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let first = with { ($0.texts.keys.max() ?? 0) + 1 }
        return array.enumerated().map { newObjectID(for: $1.entity, referenceObject: first + $0) }
    }

    override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
        let keys = objectIDs.map(number)
        with { notes in for key in keys { notes.registered[key, default: 0] += 1 } }
    }

    override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
        let keys = objectIDs.map(number)
        with { notes in for key in keys { notes.registered[key, default: 0] -= 1 } }
    }
}

/// What an incremental store is told and asked while others write to what it shows.
@Suite struct NotebookStoreTests {
    private let url = URL(fileURLWithPath: "/notebook/\(UUID().uuidString)")
    private let coordinator: NSPersistentStoreCoordinator

    init() throws {
        NSPersistentStoreCoordinator.registerStoreClass(NotebookStore.self, forStoreType: NotebookStore.type)
        var document = ModelDocument()
        document.entities = [entity("Note", attribute("text"))]
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel(document: document))
        try coordinator.addPersistentStore(ofType: NotebookStore.type, configurationName: nil, at: url)
    }

    private func write(_ key: Int, _ text: String?) {
        NotebookStore.notes.withLock { all in
            let version = (all[url.path]?.texts[key]?.version ?? 0) + 1
            all[url.path, default: .init()].texts[key] = text.map { ($0, version) }
        }
    }

    private var asked: [Int] {
        NotebookStore.notes.withLock { all in
            defer { all[url.path]?.asked = [] }
            return all[url.path]?.asked ?? []
        }
    }

    /// The keys of the objects that contexts know, with how many do.
    private var registered: [Int: Int] {
        NotebookStore.notes.withLock { $0[url.path]?.registered.filter { $0.value != 0 } ?? [:] }
    }

    private func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func notes(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).sorted {
            $0.objectID.primaryKey < $1.objectID.primaryKey
        }
    }

    private func text(_ note: NSManagedObject) -> String? { note.value(forKey: "text") as? String }

    @Test("a refresh asks the store again, and shows what another has written", arguments: [true, false])
    func refresh(merging: Bool) throws {
        write(1, "one")
        let context = context()
        try context.performAndWait {
            let note = try #require(try notes(context).first)
            #expect(text(note) == "one")
            write(1, "uno")
            #expect(text(note) == "one")
            _ = asked
            context.refresh(note, mergeChanges: merging)
            #expect(text(note) == "uno")
            #expect(asked == [1])
            #expect(text(note) == "uno")
            #expect(asked == [])
            // What was set here stays on top of what another has written, where that is asked for.
            write(1, "eins")
            note.setValue("mine", forKey: "text")
            context.refresh(note, mergeChanges: merging)
            #expect(text(note) == (merging ? "mine" : "eins"))
        }
    }

    @Test("refreshAllObjects() shows what others have written, changed and deleted")
    func refreshAll() throws {
        for (key, text) in [(1, "one"), (2, "two"), (3, "three")] { write(key, text) }
        let context = context()
        try context.performAndWait {
            let found = try notes(context)
            #expect(found.map(text) == ["one", "two", "three"])
            write(1, "uno")
            write(2, nil)
            context.refreshAllObjects()
            #expect(found.map(text) == ["uno", nil, "three"])
        }
    }

    @Test("what no context knows any more is asked for again by the next fetch")
    func newContexts() throws {
        write(1, "one")
        func read() throws -> String? {
            let context = context()
            return try context.performAndWait { try notes(context).first.flatMap { text($0) } }
        }
        #expect(try read() == "one")
        write(1, "uno")
        #expect(try read() == "uno")
    }

    @Test("an object that was changed elsewhere is a conflict, also after another context has refreshed it")
    func conflicts() throws {
        write(1, "one")
        let (first, second) = (context(), context())
        try first.performAndWait {
            let note = try #require(try notes(first).first)
            #expect(text(note) == "one")
            write(1, "uno")
            try second.performAndWait {
                let other = try #require(try notes(second).first)
                second.refresh(other, mergeChanges: false)
                #expect(text(other) == "uno")
            }
            note.setValue("mine", forKey: "text")
            let error = try #require(throws: CocoaError.self) { try first.save() }
            #expect(error.errorCode == NSManagedObjectMergeError)
            first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try first.save()
        }
        #expect(NotebookStore.notes.withLock { $0[url.path]?.texts[1]?.text } == "mine")
    }

    @Test("the store is told of each object that a context knows, and when it does no more")
    func registrations() throws {
        for (key, text) in [(1, "one"), (2, "two")] { write(key, text) }
        let (first, second) = (context(), context())
        try first.performAndWait {
            var found = try notes(first)
            #expect(registered == [1: 1, 2: 1])
            try second.performAndWait { () throws in
                _ = try second.existingObject(with: found[0].objectID)
                let held = try notes(second)
                #expect(registered == [1: 2, 2: 2])
                second.reset()
                withExtendedLifetime(held) {}
            }
            #expect(registered == [1: 1, 2: 1])
            // A new one is the store's from its save on.
            var new: NSManagedObject? = NSEntityDescription.insertNewObject(forEntityName: "Note", into: first)
            new?.setValue("three", forKey: "text")
            #expect(registered == [1: 1, 2: 1])
            try first.save()
            #expect(registered == [1: 1, 2: 1, 3: 1])
            first.delete(found[1])
            try first.save()
            #expect(registered == [1: 1, 3: 1])
            found = []
            new = nil
            first.processPendingChanges()
        }
        #expect(registered == [:])
    }

    @Test("objects of a child context are its parent's business")
    func children() throws {
        write(1, "one")
        let parent = context()
        let child = NSManagedObjectContext(.privateQueue)
        child.parent = parent
        try child.performAndWait { () throws in
            #expect(try notes(child).map(text) == ["one"])
            #expect(registered.values.allSatisfy { $0 == 1 })
        }
    }
}
