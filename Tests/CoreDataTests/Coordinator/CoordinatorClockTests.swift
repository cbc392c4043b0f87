import CoreDataModel
import CoreDataPrimitives
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Stores and contexts take the time of day from the coordinator's clock.
@Suite struct CoordinatorClockTests {
    /// A clock that goes on when it is told to.
    private final class Hand: Sendable {
        private let seconds = Mutex(800_000_000.0)

        var clock: StoreClock { StoreClock { self.seconds.withLock { $0 } } }
        var date: Date { Date(timeIntervalSinceReferenceDate: clock.now) }

        func advance(by more: Double) { seconds.withLock { $0 += more } }
    }

    private let folder: URL
    private let hand = Hand()
    private let context = NSManagedObjectContext(.privateQueue)
    private let document = model(
        entity("Note", attribute("text"), attribute("due", .date), derived("saved", .date, "now()")))

    init() throws { folder = try Fixtures.temporaryFolder() }

    private func open(_ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any] = [:]) throws {
        let coordinator = try NSPersistentStoreCoordinator(validating: NSManagedObjectModel(document: document))
        coordinator.clock = hand.clock
        try coordinator.addPersistentStore(
            ofType: type.rawValue, configurationName: nil, at: folder.appendingPathComponent("store"), options: options)
        context.persistentStoreCoordinator = coordinator
    }

    private func addNote(due: Date? = nil) throws {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(due, forKey: "due")
        try context.save()
        context.reset()
    }

    @Test(arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
    func predicatesAndDerivedAttributesGoByTheClock(type: NSPersistentStore.StoreType) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try open(type)
        try context.performAndWait {
            let saved = hand.date
            try addNote(due: saved.addingTimeInterval(50))
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try context.fetch(request).map { $0.value(forKey: "saved") as? Date } == [saved])
            request.predicate = NSPredicate(format: "due < now()")
            #expect(try context.count(for: request) == 0)
            hand.advance(by: 100)
            #expect(try context.count(for: request) == 1)
        }
    }

    @Test func unsavedObjectsAreMatchedByTheClock() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try open(.sqlite)
        try context.performAndWait {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            note.setValue(hand.date.addingTimeInterval(50), forKey: "due")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "due < now()")
            let before = try context.fetch(request)
            #expect(before.isEmpty)
            hand.advance(by: 100)
            let after = try context.fetch(request)
            #expect(after == [note])
        }
    }

    @Test func aHistoryIsDatedAndPurgedByTheClock() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try open(.sqlite, [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
        let coordinator = try #require(context.persistentStoreCoordinator)
        try context.performAndWait {
            var dates: [Date] = []
            for _ in 0..<2 {
                try addNote()
                dates.append(hand.date)
                hand.advance(by: 100)
            }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.map(\.timestamp) == dates)
            // Of the two, which are 200 and 100 seconds old.
            #expect(try coordinator.purgeHistory(olderThan: 150).deletedTransactions == 1)
        }
    }
}
