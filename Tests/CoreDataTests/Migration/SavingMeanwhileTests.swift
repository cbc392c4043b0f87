import CoreDataModel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Does something, as others would, when the first object of a mapping is made.
final class SavingMeanwhilePolicy: NSEntityMigrationPolicy {
    static let action = Mutex<(@Sendable () throws -> Void)?>(nil)

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try Self.action.withLock { $0 }?()
    }
}

/// T9: a store that is migrated object by object and put in the old one's place has what others saved meanwhile.
@Suite(.serialized) struct SavingMeanwhileTests: @unchecked Sendable {
    // Safe because the models are frozen by their first use.

    private let versions: [NSManagedObjectModel]
    private let url: URL

    init() throws {
        versions = try [["title"], ["title", "note"]].map { names in
            var book = EntityElement(name: "Book")
            book.properties = names.map { attribute($0) }
            var document = ModelDocument()
            document.entities = [book, entity("Tag", attribute("name"))]
            return try NSManagedObjectModel(document: document)
        }
        url = try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite")
    }

    /// Counts one more.
    private func next(_ count: borrowing Mutex<Int>) -> Int {
        count.withLock { number in
            number += 1
            return number
        }
    }

    private func makeStore(_ type: NSPersistentStore.StoreType = .sqlite, _ options: [AnyHashable: Any]? = nil) throws {
        try story(versions[0], type, options) { context in
            for number in 0..<40 {
                NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                    .setValue("Book \(number)", forKey: "title")
            }
            try context.save()
        }
    }

    private func story<R>(
        _ model: NSManagedObjectModel, _ type: NSPersistentStore.StoreType = .sqlite,
        _ options: [AnyHashable: Any]? = nil, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func count(
        _ entity: String, _ model: NSManagedObjectModel, _ type: NSPersistentStore.StoreType = .sqlite
    )
        throws -> Int
    {
        try story(model, type) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: entity)) }
    }

    private func addTag(_ type: NSPersistentStore.StoreType = .sqlite) throws {
        try story(versions[0], type) { context in
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("new", forKey: "name")
            try context.save()
        }
    }

    private func migrate(
        _ type: NSPersistentStore.StoreType = .sqlite, _ action: @escaping @Sendable () throws -> Void
    ) throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: versions[0], destinationModel: versions[1])
        mapping.entityMappings.first { $0.destinationEntityName == "Book" }?.entityMigrationPolicyClassName =
            "SavingMeanwhilePolicy"
        SavingMeanwhilePolicy.action.withLock { $0 = action }
        defer { SavingMeanwhilePolicy.action.withLock { $0 = nil } }
        try MappedMigration(mapping, from: versions[0], to: versions[1], type: type.rawValue).run(at: url, options: nil)
    }

    @Test("T9: another program saves while the objects are read")
    func anotherProgram() throws {
        try makeStore()
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("HistoryWriter")
        let count = Mutex(0)
        let url = url
        try migrate { [self] in
            guard next(count) == 1 else { return }
            let process = Process()
            process.executableURL = program
            process.arguments = [url.path, "1"]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(count.withLock { $0 } == 2)
        #expect(try self.count("Tag", versions[1]) == 1)
        #expect(try self.count("Book", versions[1]) == 40)
    }

    @Test("T9: whatever the type and the journal of the store", arguments: ["WAL", "DELETE", "XML", "Binary"])
    func types(kind: String) throws {
        let type = ["XML", "Binary"].contains(kind) ? NSPersistentStore.StoreType(rawValue: kind) : .sqlite
        let options = kind == "DELETE" ? [NSSQLitePragmasOption: ["journal_mode": "DELETE"]] : nil
        try makeStore(type, options)
        let count = Mutex(0)
        try migrate(type) { [self] in
            guard next(count) == 1 else { return }
            try story(versions[0], type, options) { context in
                NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("new", forKey: "name")
                try context.save()
            }
        }
        #expect(try self.count("Tag", versions[1], type) == 1)
        #expect(try self.count("Book", versions[1], type) == 40)
        #expect(count.withLock { $0 } == 2)
    }

    @Test("T9: where nobody saves the objects are read once")
    func nobody() throws {
        try makeStore()
        let count = Mutex(0)
        try migrate { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 1)
        #expect(try self.count("Book", versions[1]) == 40)
    }

    @Test("T9, 134090: who saves each time has his saves, and the store stays of its version")
    func eachTime() throws {
        try makeStore()
        let error = try #require(throws: CocoaError.self) { try migrate { [self] in try addTag() } }
        #expect(error.errorCode == NSPersistentStoreTimeoutError)
        #expect(error.localizedDescription.contains(url.path), "\(error)")
        #expect(try count("Tag", versions[0]) == 10)
        let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(names.filter { $0.hasPrefix(".migrating") } == [])
    }

    @Test("T9, 134090: a store that somebody has open is left as it is")
    func open() throws {
        try makeStore()
        try story(versions[0]) { context in
            let error = try #require(throws: CocoaError.self) { try migrate {} }
            #expect(error.errorCode == NSPersistentStoreTimeoutError)
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 40)
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("new", forKey: "name")
            try context.save()
        }
        try migrate {}
        #expect(try count("Tag", versions[1]) == 1)
    }
}
