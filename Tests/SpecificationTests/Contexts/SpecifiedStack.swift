import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Synchronization
import Testing

@testable import CoreData

/// A coordinator with one empty store, and contexts.
final class SpecifiedStack {
    let coordinator: NSPersistentStoreCoordinator
    /// The store's rows.
    let rows: SpecifiedSource

    init(_ store: SpecifiedStore, _ model: NSManagedObjectModel) throws {
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        if let opened = try store.attach?(coordinator) {
            rows = SpecifiedSource(opened, model: coordinator.compiledModel)
            return
        }
        let opened = try store.make(coordinator.compiledModel)
        rows = SpecifiedSource(opened, model: coordinator.compiledModel)
        try coordinator.addStore(on: opened.source, type: store.name)
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Runs the story on the queue of a context of its own.
    @discardableResult
    func story<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
        let context = newContext()
        return try context.performAndWait { try body(context) }
    }
}

extension SpecifiedStore {
    /// Runs a test on contexts above an empty store.
    func checkContexts(
        _ document: ModelDocument? = nil, rules: [(String, String, NSDeleteRule)] = [],
        _ body: (SpecifiedStack) throws -> Void
    ) throws {
        try requireInstalled()
        let model = try document.map { try NSManagedObjectModel(document: $0) } ?? Self.libraryModel(rules)
        let stack = try SpecifiedStack(self, model)
        defer { stack.rows.opened.remove() }
        try body(stack)
    }

    /// The model of the library with these rules for deletion. Tests share it, as they only read it.
    private static func libraryModel(_ rules: [(String, String, NSDeleteRule)]) throws -> NSManagedObjectModel {
        try libraryModels.withLock { models in
            let key = rules.map { "\($0.0).\($0.1) \($0.2.rawValue)" }
            if let known = models[key] { return known }
            let model = try NSManagedObjectModel(document: StoreTestSupport.document(Library.entities))
            for (entity, relationship, rule) in rules {
                model.entitiesByName[entity]?.relationshipsByName[relationship]?.deleteRule = rule
            }
            models[key] = model
            return model
        }
    }

    private static let libraryModels = Mutex<[[String]: NSManagedObjectModel]>([:])
}

extension NSManagedObjectContext {
    func insert(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (name, value) in values { object.setValue(value, forKey: name) }
        return object
    }

    /// What a request finds, sorted by `"name"` or `"-name"`.
    func all(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by sorts: String...,
        offset: Int = 0, limit: Int = 0
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        request.sortDescriptors = sorts.map {
            NSSortDescriptor(key: String($0.drop { $0 == "-" }), ascending: !$0.hasPrefix("-"))
        }
        request.fetchOffset = offset
        request.fetchLimit = limit
        // What others write after the fetch shows in faults of such a store: a story is about what was read.
        let stores = persistentStoreCoordinator?.persistentStores ?? []
        request.returnsObjectsAsFaults = !stores.contains { $0 is NSIncrementalStore }
        return try fetch(request)
    }

    func names(
        _ entity: String, _ format: String? = nil, _ arguments: [Any] = [], by sort: String = "name",
        offset: Int = 0, limit: Int = 0
    ) throws -> [String] {
        try all(entity, format, arguments, by: sort, offset: offset, limit: limit).map { $0.text("name") }
    }

    func one(_ entity: String, _ format: String? = nil, _ arguments: Any...) throws -> NSManagedObject {
        try #require(try all(entity, format, arguments).first, "\(entity) \(format ?? "")")
    }
}

extension NSManagedObject {
    func text(_ key: String) -> String { value(forKey: key) as? String ?? "nil" }

    func object(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }

    /// A to-many's members by a text of theirs: in their order, or sorted where they have none.
    func names(of key: String, by name: String = "name") -> [String] {
        if let ordered = value(forKey: key) as? NSOrderedSet {
            return ordered.compactMap { ($0 as? NSManagedObject)?.text(name) }
        }
        let members = value(forKey: key) as? Set<NSManagedObject> ?? []
        return members.map { $0.text(name) }.sorted()
    }
}
