import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

/// Batch updates to what a server cannot work out, or cannot keep, as on a file.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct BatchUpdateTests {
    private static func makeModel() -> NSManagedObjectModel {
        let (item, special) = (NSEntityDescription(), NSEntityDescription())
        (item.name, special.name) = ("Item", "Special")
        item.properties = [
            attribute("name", .stringAttributeType), attribute("count", .integer64AttributeType),
            attribute("small", .integer16AttributeType), attribute("price", .doubleAttributeType),
            attribute("sum", .decimalAttributeType), attribute("day", .dateAttributeType),
            attribute("isOut", .booleanAttributeType), attribute("link", .URIAttributeType),
        ]
        special.properties = [attribute("extra", .stringAttributeType)]
        item.subentities = [special]
        let model = NSManagedObjectModel()
        model.entities = [item, special]
        return model
    }

    private struct Place {
        let context: NSManagedObjectContext
        let isServer: Bool
    }

    /// The same objects in a file and on a server.
    private func places(_ options: [AnyHashable: Any] = [:]) throws -> [Place] {
        let server = try PostgreSQLServer.shared
        PostgreSQLStore.register()
        let file = try Fixtures.temporaryFolder().appendingPathComponent("Store.sqlite")
        return try [file, server.url(schema: Notes.newSchema("u"))].map { url in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
            try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for index in 0..<1200 {
                    let entity = index % 3 == 0 ? "Special" : "Item"
                    let item = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    item.setValue("Straße \(index)", forKey: "name")
                    item.setValue(index == 5 ? nil : index, forKey: "count")
                    item.setValue(index % 7, forKey: "small")
                    item.setValue(Double(index) / 4, forKey: "price")
                    if index % 3 == 0 { item.setValue("extra \(index)", forKey: "extra") }
                }
                try context.save()
                context.reset()
            }
            return Place(context: context, isServer: !url.isFileURL)
        }
    }

    private func update(
        _ context: NSManagedObjectContext, _ properties: [String: Any], where format: String = "TRUEPREDICATE"
    ) throws -> Int {
        let request = NSBatchUpdateRequest(entityName: "Item")
        request.predicate = NSPredicate(format: format)
        request.propertiesToUpdate = properties
        request.resultType = .updatedObjectsCountResultType
        return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int ?? -1
    }

    private func contents(_ context: NSManagedObjectContext) throws -> [String] {
        context.reset()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        return try context.fetch(request).map { item in
            let values = ["name", "count", "small", "price", "sum", "isOut", "link"].map {
                "\(item.value(forKey: $0) ?? "-")"
            }
            let extra = item.entity.name == "Special" ? item.value(forKey: "extra") as? String : nil
            return "\(item.entity.name ?? "") \(values) \(extra ?? "-")"
        }.sorted()
    }

    @Test func whatAServerCannotWorkOutIsWorkedOutInMemory() throws {
        let steps: [(properties: [String: Any], format: String)] = [
            (["name": NSExpression(format: "uppercase:(name)"), "isOut": true], "count < 700"),
            (["count": NSExpression(format: "count / 7"), "price": NSExpression(format: "price / 3")], "small > 1"),
            (["small": NSExpression(format: "modulus:by:(count, 5)")], "name ENDSWITH[c] '3'"),
            (["name": NSExpression(format: "lowercase:(name)")], "name LIKE '*1?'"),
            (
                ["count": NSExpression(format: "price * 2.5"), "price": NSExpression(format: "sqrt:(price)")],
                "small == 3"
            ),
            (["price": NSExpression(format: "price / 0")], "small == 6"),
        ]
        var found: [[String]] = []
        for place in try places() {
            try place.context.performAndWait {
                var counts: [String] = []
                for step in steps {
                    counts.append(String(try update(place.context, step.properties, where: step.format)))
                }
                found.append(counts + (try contents(place.context)))
            }
        }
        try #require(found.count == 2)
        #expect(found[0] == found[1])
        #expect(found[1].prefix(2) == ["699", "856"])
    }

    @Test func aHistoryHasWhatWasWorkedOutInMemory() throws {
        for place in try places([NSPersistentHistoryTrackingKey: true]) {
            try place.context.performAndWait {
                #expect(
                    try update(place.context, ["count": NSExpression(format: "count / 2")], where: "count < 600") == 599
                )
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                let result = try place.context.execute(request) as? NSPersistentHistoryResult
                let last = (result?.result as? [NSPersistentHistoryTransaction])?.last
                #expect(last?.changes?.count == 599)
                #expect(last?.changes?.first?.updatedProperties?.map(\.name) == ["count"])
            }
        }
    }

    @Test func whatDoesNotFitIsRefusedByNameAndNothingIsChanged() throws {
        let far = Date(timeIntervalSinceReferenceDate: 1e13)
        for place in try places() {
            try place.context.performAndWait {
                let before = try contents(place.context)
                var refused: [(properties: [String: Any], words: [String])] = [
                    (["small": NSExpression(format: "(count + 40000) / 1")], ["'small'", "'Item'", "too large"]),
                    (["count": NSExpression(format: "9223372036854775807 * (count + 2)")], ["'count'", "'Item'"]),
                ]
                if place.isServer {
                    refused += [
                        (["day": far], ["'day'", "'Item'", "294275 AD"]),
                        (["name": "a\0b"], ["'name'", "'Item'", "U+0000"]),
                        (["name": NSExpression(forConstantValue: "a\0b")], ["'name'", "'Item'", "U+0000"]),
                    ]
                }
                for (properties, words) in refused {
                    let error = #expect(throws: CocoaError.self) { try update(place.context, properties) }
                    let text = error?.localizedDescription ?? ""
                    #expect(words.allSatisfy(text.contains) && !text.contains("CD"), "\(text)")
                }
                #expect(try contents(place.context) == before)
            }
        }
    }

    @Test func aBatchInsertOfWhatIsNotKeptNamesTheAttribute() throws {
        for place in try places() where place.isServer {
            place.context.performAndWait {
                for (key, value) in [("name", "a\0b"), ("day", Date(timeIntervalSinceReferenceDate: 1e13))]
                    as [(String, Any)]
                {
                    let request = NSBatchInsertRequest(entityName: "Item", objects: [[key: value]])
                    let error = #expect(throws: CocoaError.self) { try place.context.execute(request) }
                    let text = error?.localizedDescription ?? ""
                    #expect(text.contains("'\(key)'") && text.contains("'Item'"), "\(text)")
                }
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: place.context)
                item.setValue("a\0b", forKey: "name")
                let error = #expect(throws: CocoaError.self) { try place.context.save() }
                let text = error?.localizedDescription ?? ""
                #expect(text.contains("'name'") && text.contains("'Item'") && text.contains("U+0000"), "\(text)")
                #expect(!text.contains("SQLite"), "\(text)")
            }
        }
    }
}
