import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Both sides of the relationships that batch requests set, on a server. Does nothing where none is installed.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct BatchRelationshipTests {
    private static func model() -> NSManagedObjectModel {
        let node = NSEntityDescription()
        node.name = "Node"
        node.properties = [attribute("name", .stringAttributeType)]
        func relate(_ key: String, _ inverse: String, isOrderedToMany: Bool) {
            let made = (key == inverse ? [key] : [key, inverse]).map { key in
                let relationship = NSRelationshipDescription()
                (relationship.name, relationship.destinationEntity) = (key, node)
                (relationship.maxCount, relationship.deleteRule) = (1, .nullifyDeleteRule)
                return relationship
            }
            if isOrderedToMany { (made[0].maxCount, made[0].isOrdered) = (0, true) }
            made[0].inverseRelationship = made.last
            made.last?.inverseRelationship = made[0]
            node.properties += made
        }
        relate("spouse", "spouse", isOrderedToMany: false)
        relate("pupil", "teacher", isOrderedToMany: false)
        relate("items", "shelf", isOrderedToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [node]
        return model
    }

    private func nodes(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    private func oneSided(_ context: NSManagedObjectContext) throws -> [String] {
        try nodes(context).flatMap { node in
            [("spouse", "spouse"), ("pupil", "teacher"), ("teacher", "pupil")].compactMap { key, inverse in
                guard let other = node.value(forKey: key) as? NSManagedObject else { return nil }
                return other.value(forKey: inverse) as? NSManagedObject == node ? nil : "\(key) of \(node)"
            }
        }
    }

    @Test func bothSidesAreSetAndNewMembersComeLast() throws {
        PostgreSQLStore.register()
        let schema = "b" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        let url = try PostgreSQLServer.shared.url(schema: schema)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            try context.execute(
                NSBatchInsertRequest(entityName: "Node", objects: (0..<6).map { ["name": "n\($0)"] }))
            let shelf = try #require(try nodes(context).first)
            var names: [String] = []
            var numbers = SeededNumbers(seed: 7)
            for step in 0..<40 {
                let all = try nodes(context)
                func end() -> Any { numbers.chance(4) ? NSNull() : numbers.pick(all).objectID }
                if numbers.chance(2) {
                    names += ["s\(step) b", "s\(step) a"]
                    try context.execute(
                        NSBatchInsertRequest(
                            entityName: "Node",
                            objects: names.suffix(2).map {
                                ["name": $0, "spouse": end(), "teacher": end(), "shelf": shelf.objectID]
                            }))
                } else {
                    let update = NSBatchUpdateRequest(entityName: "Node")
                    update.predicate = NSPredicate(
                        format: "name == %@", numbers.pick(all).value(forKey: "name") as? String ?? "")
                    update.propertiesToUpdate = [numbers.pick(["spouse", "teacher", "pupil"]): end()]
                    try context.execute(update)
                }
                context.refreshAllObjects()
                #expect(try oneSided(context) == [], "step \(step)")
            }
            let items = (shelf.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(items.map { $0.value(forKey: "name") as? String } == names)
            let update = NSBatchUpdateRequest(entityName: "Node")
            update.predicate = NSPredicate(format: "name BEGINSWITH 'n'")
            update.propertiesToUpdate = ["shelf": shelf.objectID]
            try context.execute(update)
            context.refreshAllObjects()
            let more = (shelf.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            #expect(more.dropLast(6).map { $0.value(forKey: "name") as? String } == names)
            #expect(
                more.suffix(6).compactMap { $0.value(forKey: "name") as? String }.sorted() == (0..<6).map { "n\($0)" })
        }
        try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
    }
}
