import CoreData
import Foundation
import LivePagesTesting

@testable import coredata_studio

/// A Studio on a port of its own, with a store of its own.
struct RunningStudio: Sendable {
    /// The address with the token.
    let address: String
    let store: URL

    func page(_ path: String) -> String {
        String(address.prefix { $0 != "?" }.dropLast()) + path
    }

    /// Runs the test with a server, and ends it.
    static func run(
        _ arguments: [String] = [], _ test: @escaping @Sendable (RunningStudio) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("studio-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Shop.sqlite")
        try ShopStore.make(at: store)
        let server = try StudioServer(StudioArguments([store.path, "--port", "0"] + arguments))
        let (addresses, address) = AsyncStream<String>.makeStream()
        let running = Task {
            defer { address.finish() }
            try await server.run(stopsAtSignals: false) { address.yield($0) }
        }
        defer { running.cancel() }
        guard let found = await addresses.first(where: { _ in true }) else { return try await running.value }
        try await test(RunningStudio(address: found, store: store))
        running.cancel()
        _ = await running.result
    }
}

/// Items with a unit each.
enum ShopStore {
    private static func model() -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let (item, unit) = (NSEntityDescription(), NSEntityDescription())
        (item.name, unit.name) = ("Item", "Unit")
        let (toUnit, toItems) = (NSRelationshipDescription(), NSRelationshipDescription())
        (toUnit.name, toUnit.destinationEntity, toUnit.maxCount, toUnit.isOptional) = ("unit", unit, 1, true)
        (toItems.name, toItems.destinationEntity, toItems.maxCount, toItems.isOptional) = ("items", item, 0, true)
        (toUnit.inverseRelationship, toItems.inverseRelationship) = (toItems, toUnit)
        item.properties = [
            attribute("name", .stringAttributeType), attribute("price", .decimalAttributeType),
            attribute("count", .integer32AttributeType), attribute("bought", .dateAttributeType),
            attribute("picture", .binaryDataAttributeType), toUnit,
        ]
        unit.properties = [attribute("name", .stringAttributeType), toItems]
        let model = NSManagedObjectModel()
        model.entities = [item, unit]
        return model
    }

    static func make(at url: URL) throws {
        try change(url) { context in
            let units = ["kg", "litre"].map { name in
                let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
                unit.setValue(name, forKey: "name")
                return unit
            }
            for index in 0..<120 {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(String(format: "item %03d", index), forKey: "name")
                item.setValue(index, forKey: "count")
                item.setValue(NSDecimalNumber(value: index % 7), forKey: "price")
                item.setValue(Date(timeIntervalSinceReferenceDate: Double(index) * 86_400), forKey: "bought")
                item.setValue(units[index % 2], forKey: "unit")
            }
        }
    }

    private static func change(_ url: URL, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            try context.save()
        }
        try coordinator.remove(store)
    }
}
