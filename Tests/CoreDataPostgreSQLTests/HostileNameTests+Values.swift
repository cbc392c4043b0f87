import CoreData
import CoreDataModel
import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

// Values that look like something else stay values.
extension HostileNameTests {
    @Test(arguments: ["plain_texts", "escaped_texts"]) func valuesAreOnlyValues(role: String) throws {
        let server = try PostgreSQLServer.shared
        try Self.makeRoles(server)
        let url = server.url(schema: Notes.newSchema("h"), user: role)
        let notes = try Notes(url, [NSPersistentHistoryTrackingKey: true])
        for (number, text) in Self.hostile.enumerated() {
            // One by one, and many at once, which travel in another way.
            let context = notes.newContext()
            context.transactionAuthor = text
            context.name = text
            try context.performAndWait {
                for copy in 0..<(number % 2 == 0 ? 1 : 9) {
                    Notes.insert(text, in: context, data: Data(text.utf8))
                        .setValue(copy, forKey: "count")
                }
                try context.save()
                for operation in ["==", "BEGINSWITH", "ENDSWITH", "CONTAINS", "IN", "LIKE[c]", "==[cd]"] {
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    let constant: Any = operation == "IN" ? [text, "'", "\\"] : text
                    if operation == "LIKE[c]", text.contains(where: { "*?\\".contains($0) }) { continue }
                    request.predicate = NSPredicate(
                        format: "name \(operation) %@ AND count == 0", argumentArray: [constant])
                    let found = try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
                    #expect(found.contains(text), "\(text) \(operation)")
                    #expect(found.count < Self.hostile.count, "\(text) \(operation)")
                }
                let update = NSBatchUpdateRequest(entityName: "Note")
                update.predicate = NSPredicate(format: "name == %@", argumentArray: [text])
                update.propertiesToUpdate = ["name": text + "\\'", "count": 1]
                update.resultType = .updatedObjectsCountResultType
                let result = try context.execute(update) as? NSBatchUpdateResult
                #expect(result?.result as? Int == (number % 2 == 0 ? 1 : 9), "\(text)")
                let delete = NSBatchDeleteRequest(
                    fetchRequest: {
                        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
                        request.predicate = NSPredicate(
                            format: "name == %@ AND count == 1", argumentArray: [text + "\\'"])
                        return request
                    }())
                delete.resultType = .resultTypeCount
                #expect(
                    (try context.execute(delete) as? NSBatchDeleteResult)?.result as? Int
                        == (number % 2 == 0 ? 1 : 9), "\(text)")
                let history = NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
                let transactions =
                    (try context.execute(history) as? NSPersistentHistoryResult)?.result
                    as? [NSPersistentHistoryTransaction]
                #expect(transactions?.contains { $0.author == text && $0.contextName == text } == true, "\(text)")
            }
            let store = try #require(notes.coordinator.persistentStores.first)
            var metadata: [String: Any] = notes.coordinator.metadata(for: store)
            metadata[text] = text
            try NSPersistentStoreCoordinator.setMetadata(metadata, type: .postgreSQL, at: url)
            let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
            #expect(read[text] as? String == text, "\(text)")
        }
        #expect(try notes.contents().isEmpty)
    }
}
