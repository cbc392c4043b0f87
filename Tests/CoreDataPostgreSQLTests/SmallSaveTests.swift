import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// Saves of a few rows, whose statements go to the server as one, and the commit with them.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct SmallSaveTests {
    private static let modes = ["", "&pooler=transaction"]

    private struct Opened {
        let notes: Notes
        let context: NSManagedObjectContext
        let engine: StoreEngine
        let recorder = SQLRecorder()

        init(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws {
            notes = try Notes(url, options)
            context = notes.newContext()
            engine = try notes.engine
            engine.database.addObserver(recorder)
        }

        /// Two notes that were saved together a few times, so that their statements go together.
        func makeTwo() throws -> (NSManagedObject, NSManagedObject) {
            let (a, b) = (Notes.insert("a", in: context), Notes.insert("b", in: context))
            try context.save()
            for _ in 0..<4 { try count(a, b) }
            #expect(recorder.statements.contains { $0.hasPrefix("WITH \"s1\" AS (INSERT INTO \"_commits\"") })
            recorder.removeAll()
            return (a, b)
        }

        func count(_ objects: NSManagedObject...) throws {
            for object in objects { object.setValue((object.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count") }
            try context.save()
        }
    }

    private static func locks(_ sql: String) -> Bool { sql.hasPrefix("SELECT pg_advisory_xact_lock_shared(") }

    private static func newURL(_ mode: String) throws -> URL {
        try PostgreSQLServer.shared.url(schema: Notes.newSchema("s"), mode)
    }

    private static func execute(_ sql: String, _ url: URL) throws {
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        try database.write { try $0.execute(sql) }
    }

    @Test(arguments: modes)
    func statementsThatComeAgainGoTogether(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try opened.context.performAndWait {
            let (a, _) = try opened.makeTwo()
            for _ in 0..<3 { try opened.count(a) }
            opened.recorder.removeAll()
            try opened.count(a)
        }
        let statements = opened.recorder.statements.filter {
            !$0.hasPrefix("SELECT set_config") && !$0.contains("($1::BIGINT)")
        }
        try #require(statements.count == 4, "\(statements)")
        #expect(statements[0] == (mode.isEmpty ? ServerText.begin : ServerText.beginWriting))
        #expect(Self.locks(statements[1]))
        #expect(statements[2].hasPrefix("WITH \"s1\" AS (INSERT INTO \"_commits\""))
        #expect(statements[2].contains("\"s2\" AS (UPDATE \"Note\" SET \"_version\" = $4"))
        #expect(statements[3] == ServerText.commit)
        #expect(try opened.notes.contents().map(\.count) == [8, 4])
    }

    /// SEM-G40 and following: what others have changed or deleted is told row by row, and nothing is written.
    @Test(arguments: modes, [false, true])
    func whatOthersHaveDoneIsAConflict(_ mode: String, deletes: Bool) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        let other = try Opened(url)
        try opened.context.performAndWait {
            let (a, b) = try opened.makeTwo()
            try other.context.performAndWait {
                let theirs = try other.context.existingObject(with: b.objectID)
                if deletes {
                    other.context.delete(theirs)
                } else {
                    theirs.setValue(100, forKey: "count")
                }
                try other.context.save()
            }
            let error = #expect(throws: CocoaError.self) { try opened.count(a, b) }
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
            let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            #expect(conflicts?.map(\.sourceObject.objectID) == [b.objectID])
            #expect(conflicts?.first?.persistedSnapshot?["count"] as? Int == (deletes ? nil : 100))
            #expect(try opened.notes.contents().map(\.count) == (deletes ? [4] : [4, 100]))
            // What stands in the way is overwritten by policy, and the next saves go together again.
            opened.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try opened.context.save()
            #expect(try opened.notes.contents().map(\.count) == [5, 5])
            for _ in 0..<3 { try opened.count(a) }
            #expect(try opened.notes.contents().first?.count == 8)
        }
    }

    /// A value that the server refuses is named as ever, and the other rows of the save are not written.
    @Test(arguments: modes)
    func whatTheServerRefusesIsNamed(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try Self.execute("ALTER TABLE \"Note\" ADD CHECK (\"count\" <> 13)", url)
        try opened.context.performAndWait {
            let (a, b) = try opened.makeTwo()
            a.setValue(1, forKey: "count")
            b.setValue(13, forKey: "count")
            let error = #expect(throws: CocoaError.self) { try opened.context.save() }
            #expect(error?.code.rawValue == NSManagedObjectConstraintValidationError, "\(error.map { "\($0)" } ?? "")")
            #expect(try opened.notes.contents().map(\.count) == [4, 4])
            b.setValue(14, forKey: "count")
            try opened.context.save()
            #expect(try opened.notes.contents().map(\.count) == [1, 14])
        }
    }

    /// Tables with rules take no changes within queries: they are saved in two ways, after the first time without an attempt.
    @Test(arguments: modes)
    func tablesWithRulesAreSavedInTwoWays(_ mode: String) throws {
        let url = try Self.newURL(mode)
        try Self.execute("SELECT 1", Opened(url).notes.coordinator.persistentStores.first?.url ?? url)
        try Self.execute("CREATE RULE told AS ON UPDATE TO \"Note\" DO ALSO NOTIFY told", url)
        let opened = try Opened(url)
        try opened.context.performAndWait {
            let (a, b) = (Notes.insert("a", in: opened.context), Notes.insert("b", in: opened.context))
            try opened.context.save()
            for _ in 0..<5 { try opened.count(a, b) }
            #expect(try opened.notes.contents().map(\.count) == [5, 5])
            try Self.execute(
                "UPDATE \"Note\" SET \"count\" = 50, \"_version\" = \"_version\" + 1 WHERE \"name\" = 'b'", url)
            for _ in 0..<2 {
                let error = #expect(throws: CocoaError.self) { try opened.count(a, b) }
                #expect(error?.code.rawValue == NSManagedObjectMergeError)
                #expect(try opened.notes.contents().map(\.count) == [5, 50])
            }
        }
    }

    /// What a save reads meanwhile, as the names of files of external data that it replaces, is what it asked for.
    @Test(arguments: modes)
    func whatASaveReadsIsWhatItAskedFor(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try opened.context.performAndWait { _ = try opened.makeTwo() }
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        for number in 1...3 {
            try database.writeBesideOthers(
                atOnce: true,
                { connection in
                    connection.runsInAnyOrder = true
                    let update = try connection.statement("UPDATE \"Note\" SET \"count\" = $1 WHERE \"name\" = $2")
                    try update.bind([.integer(Int64(number)), .text("a")], at: 0)
                    try update.runLater(expecting: 1) {}
                    update.reset()
                    let query = try connection.statement("SELECT \"count\" FROM \"Note\" WHERE \"name\" = $1")
                    defer { query.reset() }
                    try query.bind([.text("a")], at: 0)
                    #expect(try query.step())
                    #expect(query.integer(0) == Int64(number))
                }, committed: {})
        }
    }

    @Test(arguments: modes)
    func moreRowsThanGoTogether(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try opened.context.performAndWait {
            var all: [NSManagedObject] = []
            for round in 1...4 {
                for number in 1...(5 * round) {
                    all.append(Notes.insert("\(round) \(number)", in: opened.context, data: Data(count: number)))
                }
                for note in all { note.setValue(round, forKey: "count") }
                try opened.context.save()
            }
            #expect(all.count == 50)
        }
        #expect(try opened.notes.contents().map(\.count) == Array(repeating: 4, count: 50))
    }

    /// Who has migrated the store meanwhile is noticed by the save that goes as one, too.
    @Test(arguments: modes)
    func anotherSchemaIsNoticed(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try opened.context.performAndWait {
            let (a, b) = try opened.makeTwo()
            for _ in 0..<2 {
                try Self.execute("UPDATE \"_metadata\" SET \"number\" = \"number\" + 1", url)
                try opened.count(a, b)
            }
            try Self.execute("UPDATE \"_metadata\" SET \"number\" = \"number\" + 1, \"property_list\" = NULL", url)
            #expect(throws: CocoaError.self) { try opened.count(a, b) }
            #expect(opened.context.updatedObjects.count == 2)
        }
    }

    /// A store that was destroyed, and made anew by another program, is another: who has the old one open neither reads nor writes it.
    @Test(arguments: modes + ["&engine=cockroachdb"], [false, true])
    func aStoreThatWasMadeAnewIsAnother(_ mode: String, replaces: Bool) throws {
        let url = try Self.newURL(mode)
        let source = try Self.newURL("")
        let old = try Opened(url)
        let object = try old.context.performAndWait {
            let note = Notes.insert("old", in: old.context)
            for count in 1...3 {
                note.setValue(count, forKey: "count")
                try old.context.save()
            }
            return note
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notes.makeModel())
        if replaces {
            let other = try Opened(source)
            try other.context.performAndWait {
                for _ in 0..<3 { Notes.insert("new", in: other.context) }
                try other.context.save()
            }
            try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: source, type: .postgreSQL)
        } else {
            try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
            let other = try Opened(url)
            try other.context.performAndWait {
                for _ in 0..<3 { Notes.insert("new", in: other.context) }
                try other.context.save()
            }
        }
        old.context.performAndWait {
            object.setValue(42, forKey: "count")
            for _ in 0..<2 {
                let error = #expect(throws: CocoaError.self) { try old.context.save() }
                #expect(
                    error?.localizedDescription.contains("was replaced by another") == true,
                    "\(error.map { "\($0)" } ?? "")")
            }
            old.context.rollback()
            Notes.insert("mine", in: old.context)
            #expect(throws: CocoaError.self) { try old.context.save() }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(throws: CocoaError.self) { try old.context.fetch(request) }
        }
        let last = try Opened(url)
        try last.context.performAndWait {
            Notes.insert("new", in: last.context)
            try last.context.save()
        }
        #expect(try last.notes.contents().map(\.name) == Array(repeating: "new", count: 4))
        #expect(try last.notes.contents().map(\.count) == [0, 0, 0, 0])
    }

    /// Where commits can no longer be noted, the server's own numbers serve.
    @Test(arguments: modes, ["DROP TABLE \"_commits\"", "ALTER TABLE \"_commits\" RENAME TO \"others\""])
    func commitsThatCannotBeNoted(_ mode: String, _ change: String) throws {
        let url = try Self.newURL(mode)
        let opened = try Opened(url)
        try opened.context.performAndWait {
            let (a, b) = try opened.makeTwo()
            try Self.execute(change, url)
            for _ in 0..<3 { try opened.count(a, b) }
        }
        #expect(try opened.notes.contents().map(\.count) == [7, 7])
    }

    /// Two who write to one history in turn, and then one alone, whose numbers nobody else takes.
    @Test(arguments: modes)
    func historiesOfTwoWriters(_ mode: String) throws {
        let url = try Self.newURL(mode)
        let options = [NSPersistentHistoryTrackingKey: true as NSNumber]
        let two = [try Opened(url, options), try Opened(url, options)]
        let objects = try two.enumerated().map { index, opened in
            try opened.context.performAndWait {
                opened.context.transactionAuthor = "\(index)"
                let note = Notes.insert("\(index)", in: opened.context)
                try opened.context.save()
                return note.objectID
            }
        }
        var authors = ["0", "1"]
        for index in [0, 1, 0, 0, 1] + Array(repeating: 0, count: 24) + [1] {
            let opened = two[index]
            try opened.context.performAndWait {
                opened.recorder.removeAll()
                try opened.count(opened.context.existingObject(with: objects[index]))
            }
            authors.append("\(index)")
        }
        let reader = two[0].notes.newContext()
        let transactions = try reader.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try reader.execute(request) as? NSPersistentHistoryResult
            return (result?.result as? [NSPersistentHistoryTransaction] ?? []).map {
                ($0.transactionNumber, $0.author, $0.changes?.count)
            }
        }
        #expect(transactions.map(\.1) == authors)
        #expect(transactions.map(\.0) == transactions.map(\.0).sorted())
        #expect(Set(transactions.map(\.0)).count == authors.count)
        #expect(transactions.allSatisfy { $0.2 == 1 })
    }

    /// A save with a history is one way, too, where nobody else writes to it: nothing is asked before the commit.
    @Test func aSaveWithAHistoryAsksNothing() throws {
        let url = try Self.newURL("")
        let opened = try Opened(url, [NSPersistentHistoryTrackingKey: true as NSNumber])
        try opened.context.performAndWait {
            let note = Notes.insert("a", in: opened.context)
            try opened.context.save()
            for _ in 0..<4 { try opened.count(note) }
            opened.recorder.removeAll()
            try opened.count(note)
        }
        let all = opened.recorder.statements
        #expect(
            all.last == ServerText.commit && !all.contains { $0.hasPrefix("SELECT") && !Self.locks($0) },
            "\(all)")
        #expect(all.filter { $0.contains("RETURNING \"last_id\"") }.isEmpty)
    }
}
