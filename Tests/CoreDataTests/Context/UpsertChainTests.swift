import CoreData
import Foundation
import Testing

/// I10: a new object whose unique values several rows have becomes one of them, through the others.
@Suite struct UpsertChainTests {
    private static func makeModel() -> NSManagedObjectModel {
        let vault = NSEntityDescription()
        vault.name = "Vault"
        vault.properties = ["code", "owner", "place", "note"].map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            return attribute
        }
        vault.uniquenessConstraints = [["code"], ["owner"], ["place"]]
        let model = NSManagedObjectModel()
        model.entities = [vault]
        return model
    }

    private static func insert(_ values: [String], _ context: NSManagedObjectContext) -> NSManagedObject {
        let vault = NSEntityDescription.insertNewObject(forEntityName: "Vault", into: context)
        vault.setValuesForKeys(["code": values[0], "owner": values[1], "place": values[2]])
        return vault
    }

    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func allValuesAreThoseOfTheNewObject(policy: NSMergePolicy) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy
        try context.performAndWait {
            let rows = [["A", "Ann", "1"], ["B", "Ben", "2"], ["C", "Cleo", "3"]].map { Self.insert($0, context) }
            rows.forEach { $0.setValue("old", forKey: "note") }
            try context.save()
            // Each value is that of another row, and so is known to be set when the last row is met.
            let new = Self.insert(["A", "Ben", "3"], context)
            let id = new.objectID
            try context.save()
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Vault"))
            let values = found.map { vault in
                ["code", "owner", "place", "note"].map { vault.value(forKey: $0) as? String }
            }
            #expect(values == [["A", "Ben", "3", "old"]])
            // The temporary ID leads to the row that remains.
            #expect(context.registeredObject(for: id) === found.first)
        }
    }
}
