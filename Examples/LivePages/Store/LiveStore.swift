import CoreData
import CoreDataToolkit
import Foundation

/// A store and the context that pages show, on the main actor as in an app with windows.
///
/// The stack merges what imports and other processes save.
@MainActor package final class LiveStore: LiveContext {
    package let stack: CoreDataStack
    /// The store's file.
    package let url: URL
    /// How often changes that the store did not have yet were rolled back.
    var lossCount = 0
    /// Called when changes that the store did not have yet were rolled back: what lists show is fetched again.
    package var onRollback: (@MainActor () -> Void)?
    /// How long ``settle()`` waits for another process that is writing to the store.
    package var patience = BusyStore.patience

    package var store: NSPersistentStore? { stack.store }

    /// Opens the store, or makes it.
    package init(
        model: NSManagedObjectModel, at url: URL, author: String, versions: MigrationVersions? = nil,
        progress: ProgressHandler? = nil
    ) async throws {
        self.url = url
        var options = CoreDataStack.Options()
        options.author = author
        options.undo = false
        options.versions = versions
        // What a statement waits for, pages wait for, too; see ``settle()``. Servers know no pragmas.
        if url.isFileURL { options.pragmas["busy_timeout"] = BusyStore.statementTimeout }
        stack = try await CoreDataStack.setUp(
            model: model, storeURL: url, options: options, migrationProgress: progress)
        super.init(stack.viewContext)
    }

    override func save() throws { try saveStack() }

    /// Closes the store; what is saved is saved.
    package func close() {
        for store in stack.coordinator.persistentStores { try? stack.coordinator.remove(store) }
    }
}

/// What works with a ``LiveStore``, as if it were one.
@MainActor package protocol LiveStoreOwner: AnyObject {
    var live: LiveStore { get }
}

extension LiveStoreOwner {
    package var stack: CoreDataStack { live.stack }
    package var view: NSManagedObjectContext { live.view }
    package var store: NSPersistentStore? { live.store }
    package var url: URL { live.url }

    /// Does something as one step that can be undone, and saves it; see ``LiveStore/perform(_:_:)``.
    @discardableResult
    package func perform<Result>(_ name: String, _ body: () throws -> Result) throws -> (result: Result, step: Int?) {
        try live.perform(name, body)
    }

    /// The object of that entity and number; `nil` where there is none (any more).
    ///
    /// Entities that inherit from one parent share a table and its numbers: the number of an object of another entity counts as none.
    package func object<Object: NSManagedObject>(_ type: Object.Type, _ entityName: String, _ number: Int) -> Object? {
        guard number > 0, let identifier = store?.identifier, let entity = stack.model.entitiesByName[entityName],
            let uri = URL(string: "x-coredata://\(identifier)/\(entityName)/p\(number)"),
            let id = stack.coordinator.managedObjectID(forURIRepresentation: uri),
            let object = try? view.existingObject(with: id), object.entity.isKindOf(entity: entity)
        else { return nil }
        return object as? Object
    }

    /// Large bytes that an object has, read for one answer: memory does not keep them.
    package func passing<Object: NSManagedObject>(_ object: Object?, _ read: (Object) -> Data?) -> Data? {
        guard let object else { return nil }
        let data = read(object)
        if !object.hasChanges { try? Faulter.fault(object) }
        return data
    }

    package func count(_ entityName: String, _ format: String? = nil) -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.predicate = format.map { NSPredicate(format: $0) }
        return (try? view.count(for: request)) ?? 0
    }
}

extension NSManagedObject {
    /// The number that stands for the object in addresses; its entity is told by the path.
    package var number: Int { Int(objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0 }
}

extension [NSSortDescriptor] {
    /// As people sort: "Aisle 2" before "Aisle 10", whatever the case. Names that are the same to them stand in one order all
    /// the same.
    package static func byName(_ key: String) -> [NSSortDescriptor] {
        [
            NSSortDescriptor(key: key, ascending: true, selector: NSSelectorFromString("localizedStandardCompare:")),
            NSSortDescriptor(key: key, ascending: true),
        ]
    }
}

extension String {
    /// Without blanks and line ends around it.
    package var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }

    /// Whether it has more characters than that, or too many marks on them: a character may have any number of marks.
    package func isLonger(than most: Int) -> Bool { count > most || unicodeScalars.count > 4 * most }

    /// For a query.
    package var percentEncoded: String {
        addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
    }
}
