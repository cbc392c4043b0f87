import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// A store of notes on a server, for stories about what becomes of saves.
struct Notes {
    let coordinator: NSPersistentStoreCoordinator

    static func makeModel() -> NSManagedObjectModel {
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [
            attribute("name", .stringAttributeType), attribute("count", .integer64AttributeType),
            attribute("data", .binaryDataAttributeType),
        ]
        let model = NSManagedObjectModel()
        model.entities = [note]
        return model
    }

    init(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws {
        PostgreSQLStore.register()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
    }

    /// What is below the coordinator.
    var engine: StoreEngine {
        get throws {
            let store = try #require(coordinator.persistentStores.first)
            return try #require(coordinator.attachedStore(of: store)?.source as? StoreEngine)
        }
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @discardableResult
    static func insert(_ name: String, in context: NSManagedObjectContext, data: Data? = nil) -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue(name, forKey: "name")
        note.setValue(0, forKey: "count")
        note.setValue(data, forKey: "data")
        return note
    }

    /// The names of all notes, in order, and what each counts.
    func contents() throws -> [(name: String, count: Int)] {
        let context = newContext()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map {
                ($0.value(forKey: "name") as? String ?? "", $0.value(forKey: "count") as? Int ?? -1)
            }
        }
    }

    static func newSchema(_ letter: Character) -> String {
        "\(letter)" + UUID().uuidString.filter { $0 != "-" }.lowercased()
    }

    /// What threads have been told of their saves.
    final class Ledger: @unchecked Sendable {
        // Safe because the lock guards what changes.
        private let lock = NSLock()
        private var savedNames: [String] = []
        private var refusedNames: [String] = []
        private var unknownNames: [String] = []
        private var counts: [String: Int] = [:]
        private var mayCount: [String: Int] = [:]

        func saved(_ name: String) { lock.withLock { savedNames.append(name) } }
        func counted(_ name: String) { lock.withLock { counts[name, default: 0] += 1 } }

        func failed(_ name: String, _ error: any Error) {
            let isUnknown = (error as? CocoaError)?.code.rawValue == NSPersistentStoreIncompleteSaveError
            lock.withLock {
                if isUnknown { unknownNames.append(name) } else { refusedNames.append(name) }
            }
        }

        func countFailed(_ name: String, _ error: any Error) {
            guard (error as? CocoaError)?.code.rawValue == NSPersistentStoreIncompleteSaveError else { return }
            lock.withLock { mayCount[name, default: 0] += 1 }
        }

        var summary: (saved: Int, refused: Int, unknown: Int) {
            lock.withLock { (savedNames.count, refusedNames.count, unknownNames.count) }
        }

        /// What is in the store and must not be, or must be and is not.
        func mistakes(_ contents: [(name: String, count: Int)]) -> [String] {
            lock.withLock {
                var mistakes: [String] = []
                let found = Dictionary(grouping: contents, by: \.name)
                for (name, notes) in found where notes.count > 1 {
                    mistakes.append("\(name) is there \(notes.count) times")
                }
                for name in savedNames where found[name] == nil {
                    mistakes.append("\(name) was saved and is not there")
                }
                for name in refusedNames where found[name] != nil {
                    mistakes.append("\(name) was refused and is there")
                }
                let known = Set(savedNames).union(refusedNames).union(unknownNames)
                for name in found.keys where !known.contains(name) { mistakes.append("nobody has saved \(name)") }
                for (name, count) in counts {
                    let actual = found[name]?.first?.count ?? -1
                    if actual < count || actual > count + (mayCount[name] ?? 0) {
                        mistakes.append("\(name) was counted \(count) times, and says \(actual)")
                    }
                }
                return mistakes
            }
        }
    }

    /// Inserts notes and counts on one of them, until told to end: each save may fail, and the ledger is told what came of it.
    func write(_ writer: String, _ ledger: Ledger, while goesOn: () -> Bool) {
        let context = newContext()
        context.performAndWait {
            let counter = Self.insert("\(writer) counter", in: context)
            do {
                try context.save()
                ledger.saved("\(writer) counter")
            } catch { return ledger.failed("\(writer) counter", error) }
            var number = 0
            while goesOn() {
                number += 1
                let name = "\(writer) \(number)"
                Self.insert(name, in: context)
                do {
                    try context.save()
                    ledger.saved(name)
                } catch {
                    ledger.failed(name, error)
                    context.rollback()
                }
                do {
                    counter.setValue((counter.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
                    try context.save()
                    ledger.counted("\(writer) counter")
                } catch {
                    ledger.countFailed("\(writer) counter", error)
                    context.rollback()
                    context.refreshAllObjects()
                }
            }
        }
    }
}

extension PostgreSQLConnection {
    /// Ends the sessions of an application, and waits until they have ended; returns how many there were.
    @discardableResult
    func endSessions(of application: String) throws -> Int {
        func numbers(_ sql: String) throws -> Set<String> {
            Set(
                try rows("\(sql) FROM pg_stat_activity WHERE application_name = $1::TEXT", [.text(application)])
                    .map { "\($0[0])" })
        }
        let ended = try numbers("SELECT CAST(pid AS TEXT), CAST(pg_terminate_backend(pid) AS INTEGER)")
        try Polling.wait(for: "the end of \(ended.count) sessions") {
            try numbers("SELECT CAST(pid AS TEXT)").isDisjoint(with: ended)
        }
        return ended.count
    }
}
