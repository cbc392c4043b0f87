import CoreData
import CoreDataPermissions
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer

/// Short ways to write models in code.
enum ModelMaking {
    /// The UUID with that text.
    static func uuid(_ text: String) -> UUID { UUID(uuidString: text) ?? UUID() }

    static func entity(
        _ name: String, info: [String: String] = [:], _ properties: NSPropertyDescription...
    )
        -> NSEntityDescription
    {
        let entity = NSEntityDescription()
        entity.name = name
        entity.userInfo = info
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, info: [String: String] = [:],
        default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.defaultValue = value
        attribute.userInfo = info
        return attribute
    }

    /// Adds a relationship and its inverse.
    @discardableResult
    static func relate(
        _ entity: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverseName: String,
        toMany: Bool = false, delete: NSDeleteRule = .nullifyDeleteRule, inverseToOne: Bool = false,
        ordered: Bool = false
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        func make(_ name: String, _ destination: NSEntityDescription, _ count: Int) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = count
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
        let relationship = make(name, destination, toMany ? 0 : 1)
        let inverse = make(inverseName, entity, inverseToOne ? 1 : 0)
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        inverse.deleteRule = delete
        inverse.isOrdered = ordered
        entity.properties.append(relationship)
        destination.properties.append(inverse)
        return (relationship, inverse)
    }
}

/// Households with lists, and items on them.
///
///     List: name, household, owner, isPublic, secret (read: owner)      items, ordered, cascade ⇄ Item.list
///     Item: name, price (read, update: role:owner), rank                unit ⇄ Unit.items, tags ⇄ Tag.items
///     Unit: name          Tag: name           Entry (abstract): title    Note: Entry, author    Memo: Entry, team
enum Groceries {
    static let ann = ModelMaking.uuid("A0000000-0000-0000-0000-000000000001")
    static let ben = ModelMaking.uuid("B0000000-0000-0000-0000-000000000002")
    static let home = ModelMaking.uuid("10000000-0000-0000-0000-000000000001")
    static let office = ModelMaking.uuid("20000000-0000-0000-0000-000000000002")

    /// In the household `home`, with the role.
    static func member(_ role: String = "editor") -> Accessor { Accessor(account: ann, groups: [home: role]) }
    static let stranger = Accessor(account: ben, groups: [office: "owner"])

    static func model() -> NSManagedObjectModel {
        typealias M = ModelMaking
        let list = M.entity(
            "List",
            info: [
                "allow.group": "household", "allow.owner": "owner", "allow.read": "group, isPublic == YES",
                "allow.create": "group", "allow.update": "role:owner, role:editor", "allow.delete": "role:owner, owner",
            ], M.attribute("name"), M.attribute("household", .UUIDAttributeType),
            M.attribute("owner", .UUIDAttributeType),
            M.attribute("isPublic", .booleanAttributeType, default: NSNumber(value: false)),
            M.attribute("secret", info: ["allow.read": "owner", "allow.update": "owner"]))
        let item = M.entity(
            "Item",
            info: [
                "allow.group": "list.household", "allow.read": "group", "allow.create": "role:owner, role:editor",
                "allow.update": "role:owner, role:editor", "allow.delete": "role:owner, role:editor",
            ], M.attribute("name"), M.attribute("rank", .integer32AttributeType, default: NSNumber(value: 0)),
            M.attribute(
                "price", .integer32AttributeType, info: ["allow.read": "role:owner", "allow.update": "role:owner"]))
        let unit = M.entity(
            "Unit", info: ["allow.read": "anyone", "allow.delete": "signedIn", "allow.update": "signedIn"],
            M.attribute("name"))
        let tag = M.entity("Tag", info: ["allow.read": "anyone"], M.attribute("name"))
        let entry = M.entity("Entry", M.attribute("title"))
        entry.isAbstract = true
        let note = M.entity(
            "Note",
            info: [
                "allow.owner": "author", "allow.read": "owner", "allow.create": "owner", "allow.update": "owner",
                "allow.delete": "owner",
            ], M.attribute("author", .UUIDAttributeType))
        let memo = M.entity(
            "Memo", info: ["allow.group": "team", "allow.read": "group"], M.attribute("team", .UUIDAttributeType))
        entry.subentities = [note, memo]
        M.relate(item, "list", list, "items", delete: .cascadeDeleteRule, ordered: true)
        M.relate(item, "unit", unit, "items")
        let (_, items) = M.relate(item, "tags", tag, "items", toMany: true)
        items.userInfo = ["allow.update": "signedIn"]
        let model = NSManagedObjectModel()
        model.entities = [list, item, unit, tag, entry, note, memo]
        return model
    }
}

/// The stores on which tests run.
enum TestedStore: String, CaseIterable, CustomStringConvertible {
    case file
    case memory
    case postgreSQL

    var description: String { rawValue }

    static var available: [TestedStore] { PostgreSQLServer.isInstalled ? allCases : [.file, .memory] }
}

/// A coordinator with a store, an unrestricted context, and rules.
final class Shop {
    let coordinator: NSPersistentStoreCoordinator
    let rules: AccessRules
    /// Sees everything.
    let all: NSManagedObjectContext
    private let folder: URL

    init(
        _ kind: TestedStore = .file, model: NSManagedObjectModel = Groceries.model(), history: Bool = false,
        rules build: (inout AccessRules.Builder) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("permissions-\(UUID().uuidString)")
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        let options: [AnyHashable: Any]? = history ? [NSPersistentHistoryTrackingKey: true] : nil
        switch kind {
        case .file:
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.appendingPathComponent("Shop.sqlite"),
                options: options)
        case .memory:
            try coordinator.addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: options)
        case .postgreSQL:
            PostgreSQLStore.register()
            let schema = "p" + UUID().uuidString.filter { $0 != "-" }.lowercased()
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil,
                at: try PostgreSQLServer.shared.url(schema: schema), options: options)
        }
        rules = try AccessRules(model, build)
        all = NSManagedObjectContext(.privateQueue)
        all.persistentStoreCoordinator = coordinator
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A new context that acts as the accessor.
    func context(_ accessor: Accessor) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try context.restrict(to: rules, as: accessor) }
        return context
    }

    /// Runs the story in a context of the accessor.
    @discardableResult
    func story<R>(_ accessor: Accessor, _ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let context = try context(accessor)
        return try context.performAndWait { try body(context) }
    }

    /// Runs the story without restriction.
    @discardableResult
    func unrestricted<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try all.performAndWait { try body(all) }
    }

    /// Two households with a list each, and an item on each; a public list of the office; a unit and a tag for all.
    func fill() throws {
        try unrestricted { context in
            let unit = context.make("Unit", ["name": "kg"])
            let tag = context.make("Tag", ["name": "fresh"])
            for (name, household, owner, isPublic) in [
                ("Home", Groceries.home, Groceries.ann, false), ("Office", Groceries.office, Groceries.ben, false),
                ("Party", Groceries.office, Groceries.ben, true),
            ] {
                let list = context.make(
                    "List",
                    [
                        "name": name, "household": household, "owner": owner, "isPublic": isPublic,
                        "secret": "\(name) secret",
                    ])
                let item = context.make(
                    "Item", ["name": "\(name) milk", "price": name.count, "rank": 1, "list": list, "unit": unit])
                item.mutableSetValue(forKey: "tags").add(tag)
            }
            for (title, author) in [("Ann's", Groceries.ann), ("Ben's", Groceries.ben)] {
                context.make("Note", ["title": title, "author": author])
            }
            context.make("Memo", ["title": "Home memo", "team": Groceries.home])
            context.make("Memo", ["title": "Office memo", "team": Groceries.office])
            try context.save()
            context.reset()
        }
    }
}

extension NSManagedObjectContext {
    @discardableResult
    func make(_ entity: String, _ values: [String: Any?] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func request(_ entity: String, _ format: String? = nil, _ arguments: Any...) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        return request
    }

    /// The names of the objects that a fetch finds, sorted.
    func names(_ entity: String, _ format: String? = nil, _ arguments: Any..., key: String = "name") throws -> [String]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        return try fetch(request).compactMap { $0.value(forKey: key) as? String }.sorted()
    }

    func one(_ entity: String, _ name: String, key: String = "name") throws -> NSManagedObject? {
        try fetch(request(entity, "%K == %@", key, name)).first
    }
}
