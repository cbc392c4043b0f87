import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Connections that the server has ended are replaced, whatever is asked for next; and what was asked for while they ended is asked for again.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct EndedConnectionTests {
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

    @Test(arguments: Trials.some(of: ["", "&pool=1", "&pooler=transaction"]))
    func deletionsAfterConnectionsHaveEnded(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
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
                try other.endSessions(of: schema)
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

    /// What befalls the next packet from either side.
    private static let fates: [(isFromServer: Bool, fate: PacketRelay.Fate)] = [
        (false, .cut(after: 0)), (false, .cut(after: 10)), (false, .silence(0.05)), (false, .late(0.02)),
        (true, .cut(after: 0)), (true, .cut(after: 10)), (true, .cut(after: 60)),
    ]

    @Test(arguments: Trials.some(of: ["", "&pool=1", "&pooler=transaction", "&engine=cockroachdb"], atLeast: 2))
    func whatIsReadWhileConnectionsEndIsReadAgain(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        let relay = try PacketRelay(to: server) { trap.fate($0) }
        let schema = Notes.newSchema("e")
        PostgreSQLStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(
            type: .postgreSQL, at: server.url(schema: schema, folder: relay.folder, mode))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for number in 0..<4 {
                let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                tag.setValue("\(number)", forKey: "name")
                for name in ["a", "b", "c"] {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue(name, forKey: "name")
                    item.setValue(tag, forKey: "itemsTag")
                }
            }
            try context.save()
        }
        /// What a new context reads, with the trap set from a certain point on.
        func read(_ body: (NSManagedObjectContext, _ set: () -> Void) throws -> Int) throws {
            for (isFromServer, fate) in Self.fates {
                let reader = NSManagedObjectContext(.privateQueue)
                reader.persistentStoreCoordinator = coordinator
                reader.stalenessInterval = 0
                let expected = try reader.performAndWait { try body(reader) {} }
                reader.performAndWait { reader.reset() }
                let found = try reader.performAndWait {
                    try body(reader) { trap.set(fate) { $0.isFromServer == isFromServer } }
                }
                #expect(found == expected && expected > 0)
                #expect(trap.hasSprung, "\(isFromServer) \(fate)")
            }
        }
        let tags = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        try read { reader, set in
            set()
            return try reader.fetch(tags).count
        }
        try read { reader, set in
            set()
            return try reader.count(for: tags)
        }
        try read { reader, set in
            let tag = try #require(try reader.fetch(tags).first)
            set()
            return (tag.value(forKey: "items") as? Set<NSManagedObject>)?.count ?? 0
        }
        try read { reader, set in
            let tag = try #require(try reader.fetch(tags).first)
            reader.refresh(tag, mergeChanges: false)
            set()
            return try (reader.existingObject(with: tag.objectID).value(forKey: "name") as? String)?.count ?? 0
        }
        try read { reader, set in
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["name"]
            request.propertiesToGroupBy = ["name"]
            set()
            return try reader.fetch(request).count
        }
        try read { reader, set in
            // The deletion reads the members of what it deletes.
            let tag = try #require(try reader.fetch(tags).first)
            reader.delete(tag)
            set()
            reader.processPendingChanges()
            defer { reader.rollback() }
            return reader.updatedObjects.count
        }
    }

    @Test(arguments: Trials.some(of: ["", "&pooler=transaction", "&engine=yugabytedb", "&engine=cockroachdb"]))
    func whatBatchesWriteWhileConnectionsEndIsWrittenOnce(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        let relay = try PacketRelay(to: server) { trap.fate($0) }
        let schema = Notes.newSchema("e")
        let notes = try Notes(server.url(schema: schema, folder: relay.folder, mode))
        let context = notes.newContext()
        let batches: [() throws -> Int?] = [
            {
                let request = NSBatchInsertRequest(
                    entityName: "Note", objects: (0..<3).map { ["name": "\($0)", "count": 0] })
                request.resultType = .count
                return (try context.execute(request) as? NSBatchInsertResult)?.result as? Int
            },
            {
                let request = NSBatchUpdateRequest(entityName: "Note")
                request.propertiesToUpdate = [
                    "count": NSExpression(format: "count + 1")
                ]
                request.resultType = .updatedObjectsCountResultType
                return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int
            },
            {
                let request = NSBatchDeleteRequest(
                    fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Note"))
                request.resultType = .resultTypeCount
                return (try context.execute(request) as? NSBatchDeleteResult)?.result as? Int
            },
        ]
        for (isFromServer, fate) in Self.fates {
            for batch in batches.indices {
                let count = try context.performAndWait {
                    trap.set(fate) { $0.isFromServer == isFromServer }
                    return try batches[batch]()
                }
                #expect(count == 3 && trap.hasSprung, "\(batch), \(isFromServer) \(fate)")
                if batch == 1 {
                    #expect(try notes.contents().map(\.count) == [1, 1, 1], "\(isFromServer) \(fate)")
                }
            }
            #expect(try notes.contents().isEmpty)
        }
    }

    /// Somebody ends sessions all the time, while several threads read, and one of them has all rows count on.
    @Test(arguments: Trials.some(of: ["", "&pool=2", "&pooler=transaction", "&engine=cockroachdb"], atLeast: 2))
    func answersAreRightWhileSessionsEnd(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let schema = Notes.newSchema("e")
        let notes = try Notes(server.url(schema: schema, "\(mode)&application_name=\(schema)"))
        let context = notes.newContext()
        let names = (0..<200).map { String(format: "%03d", $0) }
        try context.performAndWait {
            for name in names { Notes.insert(name, in: context) }
            try context.save()
        }
        // Safe because one thread alone uses it until all are through.
        nonisolated(unsafe) let other = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema))))
        defer { other.close() }
        let isOver = Atomic<Bool>(false)
        let rounds = Atomic<Int>(0)
        let updates = Mutex((done: 0, failed: 0))
        let wrong = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            if thread == 0 {
                while !isOver.load(ordering: .relaxed) {
                    _ = try? other.rows(
                        """
                        SELECT CAST(pg_terminate_backend(pid) AS INTEGER) FROM pg_stat_activity
                            WHERE application_name = $1::TEXT ORDER BY random() LIMIT 1
                        """, [.text(schema)])
                    // Others are to do something in between, however slow the machine is.
                    let before = rounds.load(ordering: .relaxed)
                    repeat {
                        Thread.sleep(forTimeInterval: 0.03)
                    } while rounds.load(ordering: .relaxed) < before + 2
                        && !isOver.load(ordering: .relaxed)
                }
                return
            }
            var numbers = SeededNumbers(seed: UInt64(thread))
            let context = notes.newContext()
            context.stalenessInterval = 0
            context.performAndWait {
                for round in 0..<40 {
                    defer { rounds.add(1, ordering: .relaxed) }
                    let low = numbers.below(150)
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                    request.predicate = NSPredicate(format: "name >= %@ AND name < %@", names[low], names[low + 40])
                    // What fails says so, where three connections have ended, one after the other; it is never wrong.
                    if thread > 1 {
                        guard let found = try? context.fetch(request), let count = try? context.count(for: request),
                            let texts = try? found.map({
                                try context.existingObject(with: $0.objectID).value(forKey: "name") as? String
                            })
                        else { continue }
                        if count != 40 || texts.compactMap({ $0 }).sorted() != Array(names[low..<low + 40]) {
                            wrong.withLock { $0.append("\(thread) \(round): \(count) \(texts)") }
                        }
                    } else {
                        let update = NSBatchUpdateRequest(entityName: "Note")
                        update.propertiesToUpdate = ["count": NSExpression(format: "count + 1")]
                        let isDone = (try? context.execute(update)) != nil
                        updates.withLock { if isDone { $0.done += 1 } else { $0.failed += 1 } }
                    }
                }
            }
            if thread == 1 { isOver.store(true, ordering: .relaxed) }
        }
        #expect(wrong.withLock { $0 } == [])
        let counts = Set(try Notes(server.url(schema: schema)).contents().map(\.count))
        let (done, failed) = updates.withLock { $0 }
        #expect(
            counts.count == 1 && counts.allSatisfy { (done...done + failed).contains($0) },
            "\(counts) \(done) \(failed)")
        #expect(done > 30)
    }
}
