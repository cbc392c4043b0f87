import CoreData
import CoreDataToolkit
import Foundation

/// The model and the store that `--demo` shows: Grocery Dude's model and a store with generated objects.
struct Demo {
    /// The numbers of objects.
    static let counts = ["Item": 400, "Unit": 6, "LocationAtHome": 8, "LocationAtShop": 12]

    let model: URL
    let store: URL

    /// Makes both in a folder.
    init(in folder: URL) async throws {
        model = folder.appendingPathComponent("Groceries.xcdatamodeld")
        store = folder.appendingPathComponent("Groceries.sqlite")
        let version = model.appendingPathComponent("Groceries.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(PackageResources.contents).write(to: version.appendingPathComponent("contents"))
        guard let managedModel = NSManagedObjectModel(contentsOf: model) else { throw CocoaError(.fileReadCorruptFile) }
        // Studio knows no classes; the names of the model's would be looked for in vain.
        for entity in managedModel.entities { entity.managedObjectClassName = "NSManagedObject" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: managedModel)
        let added = try coordinator.addPersistentStore(
            type: .sqlite, at: store, options: [NSPersistentHistoryTrackingKey: true])
        try await TestDataGenerator(coordinator, seed: 7).generate(Self.counts)
        try coordinator.remove(added)
    }

    /// Makes both in a temporary folder of their own.
    static func make() async throws -> Demo {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("coredata-studio-\(UUID().uuidString)")
        return try await Demo(in: folder)
    }
}
