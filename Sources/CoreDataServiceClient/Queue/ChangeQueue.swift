import CoreData
import CoreDataJSON
import Foundation

/// The durable queue of changes that the service does not have yet.
///
/// ```
///  save without a connection ──▶ entry, with the bytes and the idempotency key of its request
///  entry ──▶ sent: applied, its versions go into later entries of the same objects ──▶ deleted
///        └─▶ refused: kept with the reason, until the app discards it or has it sent again
/// ```
/// An entry whose request was sent at least once keeps its bytes, so that a repeated request is recognised by its key.
final class ChangeQueue: Sendable {
    private let context: NSManagedObjectContext
    private let store: NSPersistentStore

    /// One save, or one large value.
    struct Entry: Sendable {
        var order: Int64
        /// The idempotency key of its request.
        var key: UUID
        /// The entry's identity: the key may change, when a conflict was resolved.
        var origin: UUID
        var account: String
        var date: Date
        var content: Content
        /// Whether the request may have reached the service.
        var isAttempted = false
        /// The reason why the service refused it.
        var refusal: ServiceFailure?

        enum Content: Sendable {
            case changes(ChangeList)
            /// The bytes of a large value; nil removes it.
            case value(entity: String, id: UUID, property: String, Data?)
        }
    }

    init(at url: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [NSSQLitePragmasOption: ["synchronous": "FULL"] as NSDictionary])
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

    func close() throws { try context.persistentStoreCoordinator?.remove(store) }

    private static func makeModel() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "Entry"
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = [
            CacheModel.attribute("order", .integer64AttributeType), CacheModel.attribute("key", .UUIDAttributeType),
            CacheModel.attribute("origin", .UUIDAttributeType),
            CacheModel.attribute("account", .stringAttributeType), CacheModel.attribute("date", .dateAttributeType),
            CacheModel.attribute("kind", .stringAttributeType), CacheModel.attribute("body", .binaryDataAttributeType),
            CacheModel.attribute("path", .stringAttributeType),
            CacheModel.attribute("isAttempted", .booleanAttributeType),
            CacheModel.attribute("refusal", .stringAttributeType),
        ]
        entity.uniquenessConstraints = [["order"], ["origin"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    private func perform<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try context.performAndWait {
            defer { context.reset() }
            let result = try body(context)
            if context.hasChanges { try context.save() }
            return result
        }
    }

    // MARK: Entries

    /// The entries of an account, in their order; of all accounts for nil.
    func entries(of account: String?) throws -> [Entry] {
        try perform { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
            if let account { request.predicate = NSPredicate(format: "account == %@", account) }
            request.sortDescriptors = [NSSortDescriptor(key: "order", ascending: true)]
            return try context.fetch(request).compactMap(Self.entry)
        }
    }

    /// Adds changes at the end.
    ///
    /// - Returns: their entry.
    @discardableResult
    func add(
        _ content: Entry.Content, key: UUID, account: String, isAttempted: Bool, date: Date = Date()
    ) throws -> Entry {
        try perform { context in
            let last = NSFetchRequest<NSManagedObject>(entityName: "Entry")
            last.sortDescriptors = [NSSortDescriptor(key: "order", ascending: false)]
            last.fetchLimit = 1
            let order = (try context.fetch(last).first?.value(forKey: "order") as? Int64 ?? 0) + 1
            let entry = Entry(
                order: order, key: key, origin: key, account: account, date: date, content: content,
                isAttempted: isAttempted)
            let object = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
            Self.set(entry, object)
            return entry
        }
    }

    /// Writes entries as they are now, and deletes others: together.
    func update(_ entries: [Entry], deleting deleted: [UUID] = []) throws {
        try perform { context in
            for entry in entries { if let object = try Self.object(entry.origin, context) { Self.set(entry, object) } }
            for origin in deleted { if let object = try Self.object(origin, context) { context.delete(object) } }
        }
    }

    private static func object(_ origin: UUID, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Entry")
        request.predicate = NSPredicate(format: "origin == %@", origin as NSUUID)
        return try context.fetch(request).first
    }

    // MARK: Objects

    private static func set(_ entry: Entry, _ object: NSManagedObject) {
        object.setValue(entry.order, forKey: "order")
        object.setValue(entry.key, forKey: "key")
        object.setValue(entry.origin, forKey: "origin")
        object.setValue(entry.account, forKey: "account")
        object.setValue(entry.date, forKey: "date")
        object.setValue(entry.isAttempted, forKey: "isAttempted")
        object.setValue(entry.refusal.map { JSONWriter.text($0.json) }, forKey: "refusal")
        switch entry.content {
        case .changes(let list):
            object.setValue("changes", forKey: "kind")
            object.setValue(list.body, forKey: "body")
        case .value(let entity, let id, let property, let bytes):
            object.setValue("value", forKey: "kind")
            object.setValue("\(entity)/\(id.uuidString)/\(property)", forKey: "path")
            object.setValue(bytes, forKey: "body")
        }
    }

    private static func entry(_ object: NSManagedObject) -> Entry? {
        guard let key = object.value(forKey: "key") as? UUID, let origin = object.value(forKey: "origin") as? UUID,
            let account = object.value(forKey: "account") as? String
        else { return nil }
        let body = object.value(forKey: "body") as? Data
        let content: Entry.Content
        if object.value(forKey: "kind") as? String == "value" {
            let parts = (object.value(forKey: "path") as? String ?? "").split(separator: "/").map(String.init)
            guard parts.count == 3, let id = UUID(uuidString: parts[1]) else { return nil }
            content = .value(entity: parts[0], id: id, property: parts[2], body)
        } else {
            guard let body, let list = ChangeList(body: body) else { return nil }
            content = .changes(list)
        }
        return Entry(
            order: object.value(forKey: "order") as? Int64 ?? 0, key: key, origin: origin, account: account,
            date: object.value(forKey: "date") as? Date ?? Date(), content: content,
            isAttempted: object.value(forKey: "isAttempted") as? Bool ?? false,
            refusal: (object.value(forKey: "refusal") as? String)
                .flatMap { try? JSONParser.parse(Array($0.utf8)) }.map(ServiceFailure.init))
    }
}

extension ServiceFailure {
    /// The failure as a queue keeps it.
    fileprivate var json: JSONValue {
        .members([
            ("status", .integer(status)), ("type", .string(type)), ("message", .string(message)),
            ("entity", entity.map { .string($0) }), ("property", property.map { .string($0) }),
            ("code", code.map { .integer($0) }),
        ])
    }

    fileprivate init(_ json: JSONValue) {
        self.init(
            status: json["status"]?.integer ?? 0, type: json["type"]?.string ?? "",
            message: json["message"]?.string ?? "", entity: json["entity"]?.string,
            property: json["property"]?.string, code: json["code"]?.integer)
    }
}
