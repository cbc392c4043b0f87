import CoreData
import CoreDataSync
import Foundation
import Measuring

// A store of items, each in one of some aisles. The classes have the accessors that generated classes have.

final class Item: NSManagedObject {
    private static let keys = (
        PropertyKey<String>("name"), PropertyKey<Double>("quantity"), PropertyKey<Int64>("priority"),
        PropertyKey<Bool>("isBought"), PropertyKey<Date?>("added"), PropertyKey<Aisle?>("aisle")
    )
    var name: String {
        get { self[Self.keys.0] }
        set { self[Self.keys.0] = newValue }
    }
    var quantity: Double {
        get { self[Self.keys.1] }
        set { self[Self.keys.1] = newValue }
    }
    var priority: Int64 {
        get { self[Self.keys.2] }
        set { self[Self.keys.2] = newValue }
    }
    var isBought: Bool {
        get { self[Self.keys.3] }
        set { self[Self.keys.3] = newValue }
    }
    var added: Date? {
        get { self[Self.keys.4] }
        set { self[Self.keys.4] = newValue }
    }
    var aisle: Aisle? {
        get { self[Self.keys.5] }
        set { self[Self.keys.5] = newValue }
    }
}

final class Aisle: NSManagedObject {
    private static let nameKey = PropertyKey<String>("name")
    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

/// The values of an item: the same ones in every run.
struct Sample {
    let name: String
    let quantity: Double
    let priority: Int64
    let isBought: Bool
    let added: Date
    let aisle: Int

    init(_ number: Int) {
        let mixed = (number &* 7_919) % 100_003
        (name, quantity, priority) = ("Item number \(mixed)", Double(mixed % 97) + 0.5, Int64(mixed % 10))
        (isBought, aisle) = (mixed % 3 == 0, mixed % Groceries.aisles)
        added = Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(mixed))
    }
}

/// One device's store.
struct Groceries: @unchecked Sendable {
    // Safe because containers may be used by any thread.
    let container: NSPersistentContainer

    static let aisles = 20
    /// The exchanged properties of an item.
    static let properties = 6
    // Safe because nothing changes the model after it was made.
    nonisolated(unsafe) private static let model = makeModel()

    var url: URL { container.persistentStoreDescriptions[0].url ?? URL(fileURLWithPath: "/") }
    var sidecar: URL { URL(fileURLWithPath: url.path + "-sync") }

    init(_ folder: URL, _ name: String) throws {
        container = NSPersistentContainer(name: "Groceries", managedObjectModel: Self.model)
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent(name + ".sqlite"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
    }

    /// Closes the files.
    func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func makeModel() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType, _ value: Any? = nil) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.defaultValue) = (name, type, value)
            return attribute
        }
        func entity(_ name: String, _ type: NSManagedObject.Type) -> NSEntityDescription {
            let entity = NSEntityDescription()
            (entity.name, entity.managedObjectClassName) = (name, String(reflecting: type))
            return entity
        }
        func relationship(
            _ name: String, to destination: NSEntityDescription, _ count: Int
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, destination, count)
            relationship.deleteRule = .nullifyDeleteRule
            return relationship
        }
        let (item, aisle) = (entity("Item", Item.self), entity("Aisle", Aisle.self))
        let (toOne, toMany) = (relationship("aisle", to: aisle, 1), relationship("items", to: item, 0))
        (toOne.inverseRelationship, toMany.inverseRelationship) = (toMany, toOne)
        item.properties = [
            attribute("name", .stringAttributeType, ""), attribute("quantity", .doubleAttributeType, 1.0),
            attribute("priority", .integer64AttributeType, 0), attribute("isBought", .booleanAttributeType, false),
            attribute("added", .dateAttributeType), toOne,
        ]
        aisle.properties = [attribute("name", .stringAttributeType, ""), toMany]
        let model = NSManagedObjectModel()
        model.entities = [item, aisle]
        return model
    }

    // MARK: Contents

    func insertAisles() throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<Self.aisles { Aisle(context: context).name = "Aisle \(100 + number)" }
            try context.save()
        }
    }

    func aisles(_ context: NSManagedObjectContext) throws -> [Aisle] {
        let request = NSFetchRequest<Aisle>(entityName: "Aisle")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    /// Inserts items in one save.
    func insertItems(_ count: Int) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let aisles = try aisles(context)
            for number in 0..<count {
                let (item, sample) = (Item(context: context), Sample(number))
                (item.name, item.quantity, item.priority) = (sample.name, sample.quantity, sample.priority)
                (item.isBought, item.added, item.aisle) = (sample.isBought, sample.added, aisles[sample.aisle])
            }
            try context.save()
        }
    }

    /// Inserts the same items by one request.
    func insertItemsByRequest(_ count: Int) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let aisles = try aisles(context).map(\.objectID)
            var number = 0
            let request = NSBatchInsertRequest(entityName: "Item") { (dictionary: NSMutableDictionary) in
                guard number < count else { return true }
                let sample = Sample(number)
                dictionary["name"] = sample.name
                dictionary["quantity"] = sample.quantity
                dictionary["priority"] = sample.priority
                dictionary["isBought"] = sample.isBought
                dictionary["added"] = sample.added
                dictionary["aisle"] = aisles[sample.aisle]
                number += 1
                return false
            }
            try context.execute(request)
        }
    }

    /// Fetches all items and reads their values.
    func readItems() throws -> Digest {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var digest = Digest()
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.returnsObjectsAsFaults = false
            for item in try context.fetch(request) {
                digest.rows += 1
                digest.number += item.quantity + Double(item.priority) + (item.isBought ? 1 : 0)
                digest.number += item.added?.timeIntervalSinceReferenceDate ?? 0
                digest.bytes += item.name.utf8.count + (item.aisle == nil ? 0 : 1)
            }
            return digest
        }
    }

    /// What a store has after ``insertItems(_:)``.
    static func digest(_ count: Int) -> Digest {
        var digest = Digest()
        for number in 0..<count {
            let sample = Sample(number)
            digest.rows += 1
            digest.number += sample.quantity + Double(sample.priority) + (sample.isBought ? 1 : 0)
            digest.number += sample.added.timeIntervalSinceReferenceDate
            digest.bytes += sample.name.utf8.count + 1
        }
        return digest
    }

    func check(_ count: Int, _ text: String) throws {
        let (found, expected) = (try readItems(), Self.digest(count))
        guard found.rows == expected.rows, found.bytes == expected.bytes,
            abs(found.number - expected.number) < 1
        else { throw MeasuringFailure("\(text): the store has [\(found)] and should have [\(expected)].") }
    }

    // MARK: Synchronisation

    /// Exchanges once, from a new start of the program on, and notes when each step began.
    func exchange(_ place: any SyncPlace) async throws -> StepTimes {
        let times = StepTimes()
        let sync = try Sync(container, to: place, device: url.lastPathComponent)
        try await sync.start { times.note($0) }
        times.end()
        await sync.stop()
        return times
    }
}
