import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQLDriver

/// Connections that the server has ended while nothing was asked of them are replaced, whatever is asked for next.
@Suite struct EndedConnectionTests {
    private static func makeModel() -> NSManagedObjectModel {
        let (tag, item) = (NSEntityDescription(), NSEntityDescription())
        (tag.name, item.name) = ("Tag", "Item")
        func pair(_ name: String) -> (NSRelationshipDescription, NSRelationshipDescription) {
            let (members, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
            (members.name, members.destinationEntity, members.maxCount) = (name, item, 0)
            (owner.name, owner.destinationEntity, owner.maxCount) = (name + "Tag", tag, 1)
            (members.inverseRelationship, owner.inverseRelationship) = (owner, members)
            (members.deleteRule, owner.deleteRule) = (.nullifyDeleteRule, .nullifyDeleteRule)
            return (members, owner)
        }
        let (first, second) = (pair("items"), pair("others"))
        tag.properties = [first.0, second.0, attribute("name", .stringAttributeType)]
        item.properties = [first.1, second.1, attribute("name", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [tag, item]
        return model
    }

    @Test(arguments: ["", "&pool=1", "&pooler=transaction"])
    func deletionsAfterConnectionsHaveEnded(_ mode: String) throws {
        guard let server = PostgreSQLServer.shared else { return }
        PostgreSQLStore.register()
        let schema = Notes.newSchema("e")
        let plain = server.url(schema: schema)
        let url = server.url(schema: schema, "\(mode)&application_name=\(schema)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(plain)))
        defer { other.close() }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 0..<12 {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("\(number)", forKey: "name")
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(tag, forKey: number % 2 == 0 ? "itemsTag" : "othersTag")
            }
            try context.save()
        }
        for number in 0..<12 {
            let reader = NSManagedObjectContext(.privateQueue)
            reader.persistentStoreCoordinator = coordinator
            try reader.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
                request.predicate = NSPredicate(format: "name == %@", "\(number)")
                let tag = try #require(try reader.fetch(request).first)
                reader.delete(tag)
                try other.rows(
                    "SELECT CAST(pg_terminate_backend(pid) AS INTEGER) FROM pg_stat_activity WHERE application_name = $1::TEXT",
                    [.text(schema)])
                Thread.sleep(forTimeInterval: 0.1)
                do { try reader.save() } catch { Issue.record("\(number): \(error)") }
            }
        }
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = coordinator
        let counts = try reader.performAndWait {
            try ["Tag", "Item"].map { try reader.count(for: NSFetchRequest<NSManagedObject>(entityName: $0)) }
        }
        #expect(counts == [0, 12])
    }
}
