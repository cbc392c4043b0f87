import CoreData
import Foundation
import GroceriesInSwiftData
import SwiftData
import Testing

/// The models in SwiftData and the model file of the target `Groceries` describe the same store.
@Suite final class GroceriesInSwiftDataTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("groceries-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private var store: URL { folder.appendingPathComponent("Groceries.sqlite") }

    private func swiftData() throws -> ModelContainer {
        try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: store))
    }

    /// The model of the target `Groceries`, whose classes are not part of these tests.
    private static func model() throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Groceries/Groceries.xcdatamodeld")
        let model = try #require(NSManagedObjectModel(contentsOf: url))
        for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
        return model
    }

    private func coreData() throws -> NSManagedObjectContext {
        let container = NSPersistentContainer(name: "Groceries", managedObjectModel: try Self.model())
        let description = NSPersistentStoreDescription(url: store)
        // A migration would hide that the models differ.
        description.shouldMigrateStoreAutomatically = false
        // SwiftData records the history of each store.
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container.newBackgroundContext()
    }

    // MARK: What each side writes and reads

    private func write(_ name: String, unit: String, _ container: ModelContainer) throws {
        let context = ModelContext(container)
        let item = Item(name: name)
        item.unit = GroceriesInSwiftData.Unit(name: unit)
        context.insert(item)
        try context.save()
    }

    private func write(_ name: String, unit: String, _ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue(name, forKey: "name")
            let kept = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
            kept.setValue(unit, forKey: "name")
            item.setValue(kept, forKey: "unit")
            try context.save()
        }
    }

    /// Each item as `Milk true l 1`: its name, whether it is listed, its unit and the number of items of that.
    private func items(_ container: ModelContainer) throws -> [String] {
        try ModelContext(container).fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.name)])).map {
            "\($0.name ?? "") \($0.listed) \($0.unit?.name ?? "") \($0.unit?.items?.count ?? 0)"
        }
    }

    private func items(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait {
            context.refreshAllObjects()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { item in
                let unit = item.value(forKey: "unit") as? NSManagedObject
                let count = (unit?.value(forKey: "items") as? Set<NSManagedObject>)?.count ?? 0
                let listed = item.value(forKey: "listed") as? Bool ?? false
                let name = item.value(forKey: "name") as? String ?? ""
                return "\(name) \(listed) \(unit?.value(forKey: "name") as? String ?? "") \(count)"
            }
        }
    }

    // MARK: Tests

    @Test func bothModelsHaveTheSameVersionHashes() throws {
        let container = try swiftData()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: store)
        let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(Set(hashes.keys) == ["Item", "Unit"])
        #expect(try hashes == Self.model().entityVersionHashesByName)
        withExtendedLifetime(container) {}
    }

    @Test func coreDataReadsWhatSwiftDataWrote() throws {
        try write("Milk", unit: "l", swiftData())
        #expect(try items(coreData()) == ["Milk true l 1"])
    }

    @Test func swiftDataReadsWhatCoreDataWrote() throws {
        try write("Milk", unit: "l", coreData())
        #expect(try items(swiftData()) == ["Milk true l 1"])
    }

    @Test func bothAreOpenAtOnce() throws {
        let (container, context) = (try swiftData(), try coreData())
        try write("Milk", unit: "l", container)
        try write("Bread", unit: "pc", context)
        try write("Oil", unit: "ml", container)
        let all = ["Bread true pc 1", "Milk true l 1", "Oil true ml 1"]
        #expect(try items(container) == all)
        #expect(try items(context) == all)
    }

    @Test func neitherDeletesAUnitThatItemsHave() throws {
        let (container, context) = (try swiftData(), try coreData())
        try write("Milk", unit: "l", container)
        let models = ModelContext(container)
        for unit in try models.fetch(FetchDescriptor<GroceriesInSwiftData.Unit>()) { models.delete(unit) }
        #expect(throws: (any Error).self) { try models.save() }
        try context.performAndWait {
            for unit in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit")) { context.delete(unit) }
            #expect(throws: (any Error).self) { try context.save() }
        }
        #expect(try items(swiftData()) == ["Milk true l 1"])
    }

    /// The function that the README shows.
    @Test func exampleOfTheReadmeFindsWhatItSaved() throws {
        let container = try swiftData()
        #expect(try addMilk(to: container) == ["Milk"])
        try write("Bread", unit: "pc", container)
        #expect(try addMilk(to: container) == ["Milk", "Milk"])
    }
}
