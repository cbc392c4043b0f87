import CoreData
import Foundation

/// One batch request on many rows, and how much memory the process has taken at most, in kilobytes: before it and after it.
///
///     BatchProgram <store> insert|objects|rows|update|delete|cascade <count> history|plain
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let count = Int(arguments[3]) else {
        FileHandle.standardError.write(
            Data("usage: BatchProgram <store> insert|objects|rows|update|delete|cascade <count> history|plain\n".utf8))
        exit(2)
    }
    let coordinator = try NSPersistentStoreCoordinator(validating: model())
    try coordinator.addPersistentStore(
        type: .sqlite, at: URL(fileURLWithPath: arguments[1]),
        options: [
            NSPersistentHistoryTrackingKey: NSNumber(value: arguments[4] == "history"),
            // What SQLite keeps of the file is bounded by this, whatever a request does.
            NSSQLitePragmasOption: ["cache_size": "-200"],
        ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
        // The first request of a process makes what the others use.
        try step("update", 0, context)
        let before = peak()
        let start = Date()
        try step(arguments[2], count, context)
        print("\(before) \(peak()) \(Int(-start.timeIntervalSinceNow * 1000))")
    }
}

func step(_ name: String, _ count: Int, _ context: NSManagedObjectContext) throws {
    switch name {
    case "insert":
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        try context.save()
        let id = owner.objectID
        var number = 0
        let request = NSBatchInsertRequest(
            entityName: "Item",
            dictionaryHandler: { row in
                if number == count { return true }
                row["name"] = "item \(number)"
                row["price"] = number % 1000
                row["owner"] = id
                number += 1
                return false
            })
        request.resultType = .count
        try check(context.execute(request) as? NSBatchInsertResult, count) { $0.result }
    case "objects", "rows":
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        try context.save()
        var number = 0
        let request: NSBatchInsertRequest
        if name == "objects" {
            request = NSBatchInsertRequest(
                entityName: "Item",
                managedObjectHandler: { object in
                    guard let item = object as? Item, number < count else { return true }
                    item.name = "item \(number)"
                    item.price = Int64(number % 1000)
                    item.owner = owner
                    number += 1
                    return false
                })
        } else {
            let id = owner.persistentID
            request = try NSBatchInsertRequest(\Item.name, \.price, \.owner?.persistentID) {
                guard number < count else { return nil }
                number += 1
                return ("item \(number)", Int64(number % 1000), id)
            }
        }
        request.resultType = .count
        try check(context.execute(request) as? NSBatchInsertResult, count) { $0.result }
    case "update":
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.predicate = NSPredicate(format: count == 0 ? "price < 0" : "price >= 0")
        request.propertiesToUpdate = ["price": NSExpression(format: "price + 1")]
        request.resultType = .updatedObjectsCountResultType
        try check(context.execute(request) as? NSBatchUpdateResult, count) { $0.result }
    default:
        let entity = name == "delete" ? "Item" : "Owner"
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: entity))
        request.resultType = .resultTypeCount
        try check(context.execute(request) as? NSBatchDeleteResult, name == "delete" ? count : count + 1) { $0.result }
    }
}

final class Item: NSManagedObject {
    static let nameKey = PropertyKey<String?>("name")
    static let priceKey = PropertyKey<Int64>("price")
    static let ownerKey = PropertyKey<NSManagedObject?>("owner")
    var name: String? {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
    var price: Int64 {
        get { self[Self.priceKey] }
        set { self[Self.priceKey] = newValue }
    }
    var owner: NSManagedObject? {
        get { self[Self.ownerKey] }
        set { self[Self.ownerKey] = newValue }
    }
}

struct Unexpected: Error { var result: String }

func check<Result>(_ result: Result?, _ count: Int, _ value: (Result) -> Any?) throws {
    let found = result.flatMap(value) as? Int
    guard found == count || count == 0 else { throw Unexpected(result: "\(found ?? -1) instead of \(count)") }
}

/// `VmHWM`, the most memory that the process has taken.
func peak() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
}

func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }
    func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
    }
    let (item, owner) = (entity("Item"), entity("Owner"))
    let (toOwner, toItems) = (NSRelationshipDescription(), NSRelationshipDescription())
    (toOwner.name, toOwner.destinationEntity, toOwner.maxCount) = ("owner", owner, 1)
    (toItems.name, toItems.destinationEntity, toItems.maxCount) = ("items", item, 0)
    (toOwner.inverseRelationship, toItems.inverseRelationship) = (toItems, toOwner)
    (toOwner.deleteRule, toItems.deleteRule) = (.nullifyDeleteRule, .cascadeDeleteRule)
    let name = attribute("name", .stringAttributeType)
    name.preservesValueInHistoryOnDeletion = true
    item.managedObjectClassName = NSStringFromClass(Item.self)
    item.properties = [name, attribute("price", .integer64AttributeType), toOwner]
    owner.properties = [toItems]
    let model = NSManagedObjectModel()
    model.entities = [item, owner]
    return model
}

do { try run() } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
