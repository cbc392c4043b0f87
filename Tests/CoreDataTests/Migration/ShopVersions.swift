import CoreDataModel
import Foundation
import TestSupport

@testable import CoreData

/// Two versions of a model, of which the newer one has more, and stores of them; for stories of programs of both versions.
struct ShopVersions {
    let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    static let old = model(entity("Item", attribute("name")))
    static let new = model(
        entity("Item", attribute("name"), attribute("price"), toOne("unit", "Unit", inverse: "items")),
        entity("Unit", attribute("name"), toMany("items", "Item", inverse: "unit"))
    ).with { $0.versionIdentifiers = ["2.0"] }
    /// What the older program would drop of a store of the newer version.
    static let losses = ["Item.price", "Item.unit", "Unit"]

    static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    var url: URL { folder.appendingPathComponent("Shop.sqlite") }

    /// The model as a program has it that has these versions, the last of them its current one.
    func program(_ documents: ModelDocument..., named program: String) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.load(contentsOf: file(documents, named: program))
    }

    func file(_ documents: [ModelDocument], named program: String) throws -> URL {
        let versions = documents.enumerated().map { index, document in
            ModelVersions.Version(name: index == 0 ? "Shop" : "Shop \(index + 1)", document: document)
        }
        let url = folder.appendingPathComponent(program).appendingPathComponent("Shop.momd")
        try ModelCompilation(
            of: ModelVersions(name: "Shop", versions: versions, currentName: versions.last?.name ?? ""),
            isFolder: true
        ).write(to: url)
        return url
    }

    /// The model as a program makes it in code.
    static func code(_ document: ModelDocument) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(document: document)
    }

    @discardableResult
    func open<R>(
        _ model: NSManagedObjectModel, _ options: [AnyHashable: Any] = automatic, at other: URL? = nil,
        type: NSPersistentStore.StoreType = .sqlite, _ body: (NSManagedObjectContext) throws -> R = { _ in }
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, at: other ?? url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    /// Adds an item with all that the model has for it.
    func fill(_ model: NSManagedObjectModel, at other: URL? = nil) throws {
        try open(model, at: other) { context in
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            item.setValue("Tea", forKey: "name")
            if item.entity.propertiesByName["price"] != nil {
                item.setValue("3", forKey: "price")
                let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
                unit.setValue("box", forKey: "name")
                item.setValue(unit, forKey: "unit")
            }
            try context.save()
        }
    }

    /// `Tea 3 box` for each item of the newer version.
    func contents(at other: URL? = nil) throws -> [String] {
        try open(Self.code(Self.new), [:], at: other) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map { item in
                let unit = item.value(forKey: "unit") as? NSManagedObject
                return [item.value(forKey: "name"), item.value(forKey: "price"), unit?.value(forKey: "name")]
                    .map { $0 as? String ?? "-" }.joined(separator: " ")
            }
        }
    }
}
