import CoreData
import Foundation
import TestSupport
import Testing

/// T5, O2: the history that Apple's Core Data wrote tells of the same objects after a lightweight migration.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct MigratedHistoryTests {
    private static var options: [AnyHashable: Any] {
        [
            NSPersistentHistoryTrackingKey: NSNumber(value: true), NSMigratePersistentStoresAutomaticallyOption: true,
            NSInferMappingModelAutomaticallyOption: true,
        ]
    }

    private func open<R>(
        _ url: URL, _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: Self.options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    /// A line for each change.
    private func history(_ context: NSManagedObjectContext) throws -> [String] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try #require(try context.execute(request) as? NSPersistentHistoryResult)
        let transactions = try #require(result.result as? [NSPersistentHistoryTransaction])
        return transactions.flatMap { transaction in
            (transaction.changes ?? []).map { change in
                let id = change.changedObjectID
                let names = (change.updatedProperties ?? []).map(\.name).sorted().joined(separator: ",")
                return
                    "\(transaction.transactionNumber) \(transaction.timestamp.timeIntervalSinceReferenceDate) \(change.changeID) \(change.changeType.rawValue) \(id.entity.name ?? "") \(id.uriRepresentation().lastPathComponent) \(names)"
            }
        }
    }

    @Test("T5, O2: entities that are renamed, renumbered and removed, and properties that were updated")
    func applesHistory() throws {
        let url = try Fixtures.temporaryCopy("sample-model-2/SampleModel2_V2.sqlite")
        let old = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        for entity in old.entities { entity.managedObjectClassName = nil }
        let new = try #require(old.copy() as? NSManagedObjectModel)
        let before = try open(url, old) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let book = try #require(try context.fetch(request).first)
            book.setValue("Another title", forKey: "title")
            try context.save()
            return try history(context)
        }
        #expect(before.count == 127)
        #expect(
            before.last?.contains(" 1 Book ") == true && before.last?.hasSuffix(" title") == true, "\(before.suffix(1))"
        )
        // Numbers of entities shift; one is renamed, one goes.
        let first = NSEntityDescription()
        first.name = "Aardvark"
        new.entities = [first] + new.entities.filter { $0.name != "Feedback" }
        let page = try #require(new.entitiesByName["Page"])
        (page.name, page.renamingIdentifier) = ("Leaf", "Page")
        let title = try #require(new.entitiesByName["Book"]?.attributesByName["title"])
        (title.name, title.renamingIdentifier) = ("aName", "title")
        let after = try open(url, new) { try history($0) }
        let expected = before.filter { !$0.contains(" Feedback ") }.map { line in
            line.replacing(" Page ", with: " Leaf ").replacing(/title$/, with: "aName")
        }
        #expect(expected.count == 124)
        #expect(after == expected)
        // It goes on from there.
        try open(url, new) { context in
            _ = NSEntityDescription.insertNewObject(forEntityName: "Aardvark", into: context)
            try context.save()
            let lines = try history(context)
            #expect(lines.count == 125 && lines.last?.contains(" 0 Aardvark ") == true, "\(lines.suffix(1))")
        }
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: new).isPassed)
    }
}
