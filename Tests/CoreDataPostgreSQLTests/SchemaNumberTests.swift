import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Synchronization
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// The number of the schema is a function's constant, which is never behind what is read beside it, and without which all goes on.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct SchemaNumberTests {
    private struct Opened {
        let notes: Notes
        let engine: StoreEngine
        let url: URL
        /// Somebody else.
        let other: PostgreSQLDatabase

        init(_ rest: String = "") throws {
            let url = try PostgreSQLServer.shared.url(schema: Notes.newSchema("n"), rest)
            self.url = url
            notes = try Notes(url)
            engine = try notes.engine
            other = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
            let context = notes.newContext()
            try context.performAndWait {
                Notes.insert("a", in: context)
                try context.save()
            }
        }

        func run(_ statements: String...) throws {
            try other.write { connection in for statement in statements { try connection.execute(statement) } }
        }

        /// What the function says.
        var constant: SQLValue? {
            get throws { try other.ask("SELECT \"_schema_number\"()") }
        }
    }

    @Test func itIsWhatTheTableHas() throws {
        let opened = try Opened()
        var known: [SQLValue?] = []
        for _ in 0..<3 {
            known.append(try opened.constant)
            #expect(try known.last == opened.other.ask(ServerText.schemaVersion))
            try opened.other.write { try $0.changeSchemaVersion(rowsOf: ["Note"]) }
        }
        #expect(Set(known).count == 3 && !known.contains(nil))
        try opened.run("UPDATE \"_metadata\" SET \"number\" = 77")
        #expect(try opened.constant == .integer(77))
        // Neither metadata nor a transaction that came to nothing change it.
        let store = try #require(opened.notes.coordinator.persistentStores.first)
        opened.notes.coordinator.setMetadata(["mine": 1].merging(store.metadata) { $1 }, for: store)
        let context = opened.notes.newContext()
        try context.performAndWait {
            Notes.insert("b", in: context)
            try context.save()
        }
        struct GivenUp: Error {}
        #expect(throws: GivenUp.self) {
            try opened.other.write { connection in
                try connection.changeSchemaVersion(rowsOf: ["Note"])
                throw GivenUp()
            }
        }
        #expect(try opened.constant == .integer(77))
        #expect(try opened.engine.row(1, root: 0) != nil)
    }

    /// Who reads by the function does without it from the next row on; a function that says something else has the table asked.
    @Test(arguments: [
        ["DROP FUNCTION \"_schema_number\"()"],
        ["DROP FUNCTION \"_schema_numbered\"() CASCADE", "DROP FUNCTION \"_schema_number\"()"],
        ["REVOKE EXECUTE ON FUNCTION \"_schema_number\"() FROM PUBLIC, CURRENT_USER"],
        [
            "CREATE OR REPLACE FUNCTION \"_schema_number\"() RETURNS BIGINT LANGUAGE sql AS 'SELECT CAST(NULL AS BIGINT)'"
        ],
        ["CREATE OR REPLACE FUNCTION \"_schema_number\"() RETURNS BIGINT LANGUAGE sql AS 'SELECT CAST(12 AS BIGINT)'"],
        [
            "DROP FUNCTION \"_schema_number\"()",
            "CREATE FUNCTION \"_schema_number\"() RETURNS BIGINT LANGUAGE plpgsql AS $$BEGIN RAISE division_by_zero; END$$",
        ],
    ])
    func itCanBeDoneWithout(_ statements: [String]) throws {
        let opened = try Opened()
        #expect(try opened.engine.row(1, root: 0) != nil)
        let context = opened.notes.newContext()
        func count() throws {
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                guard let note = try context.fetch(request).first else { return }
                note.setValue((note.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
                try context.save()
            }
        }
        for _ in 0..<3 { try count() }
        for statement in statements { try opened.run(statement) }
        let noted = "SELECT MAX(\"number\") FROM \"_commits\""
        var last: SQLValue?
        for _ in 0..<3 {
            #expect(try opened.engine.row(1, root: 0) != nil)
            #expect(try opened.engine.row(99, root: 0) == nil)
            #expect(try opened.engine.rows(forKeys: [1, 99], root: 0).count == 1)
            try count()
            // Noted, too.
            #expect(try opened.other.ask(noted) != last)
            last = try opened.other.ask(noted)
        }
        #expect(try opened.notes.contents().map(\.count) == [6])
        // Somebody migrates all the same, and is seen to have.
        try opened.other.write { try $0.changeSchemaVersion(rowsOf: ["Note"]) }
        #expect(try opened.engine.row(1, root: 0) != nil)
        let again = try Notes(opened.url)
        #expect(try again.contents().map(\.name) == ["a"])
    }

    private final class Seen: Sendable {
        let isDone = Atomic(false)
        let reads = Atomic(0)
        let changes = Atomic(0)
        let mistakes = Mutex<[String]>([])

        /// Has the number be changed so many times, and as long as others have not seen enough of that.
        func change(atLeast count: Int, _ body: () throws -> Void) rethrows {
            defer { isDone.store(true, ordering: .relaxed) }
            let deadline = ContinuousClock.now.advanced(by: .seconds(60))
            var done = 0
            while done < count || reads.load(ordering: .relaxed) < 300 || changes.load(ordering: .relaxed) < 100 {
                try body()
                done += 1
                guard ContinuousClock.now < deadline, mistakes.withLock({ $0.isEmpty }) else { return }
            }
        }
    }

    /// Where its trigger has gone, or is switched off, whoever changes the number takes the function away, which would tell of the former one.
    @Test(arguments: [
        "DROP FUNCTION \"_schema_numbered\"() CASCADE", "DROP TRIGGER \"_schema_numbered\" ON \"_metadata\"",
        "ALTER TABLE \"_metadata\" DISABLE TRIGGER \"_schema_numbered\"",
    ])
    func itIsNeverBehind(_ statement: String) throws {
        let opened = try Opened()
        #expect(try opened.engine.row(1, root: 0) != nil)
        try opened.run(statement)
        let model = Notes.makeModel()
        let extra = NSAttributeDescription()
        (extra.name, extra.attributeType, extra.isOptional) = ("extra", .stringAttributeType, true)
        model.entities[0].properties.append(extra)
        let later = NSPersistentStoreCoordinator(managedObjectModel: model)
        try later.addPersistentStore(
            type: .postgreSQL, at: opened.url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        #expect(try opened.other.ask("SELECT to_regprocedure('\"_schema_number\"()')") == .null)
        let failure = #expect(throws: StoreFailure.self) { try opened.engine.row(1, root: 0) }
        #expect(failure?.kind == .incompatibleModel)
        let context = opened.notes.newContext()
        context.performAndWait {
            Notes.insert("b", in: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        }
    }

    /// Somebody's own function of that name is not read as a number, and not replaced without a word.
    @Test func anotherFunctionOfThatName() throws {
        let opened = try Opened()
        try opened.run(
            "DROP FUNCTION \"_schema_number\"()",
            "CREATE FUNCTION \"_schema_number\"() RETURNS TEXT LANGUAGE sql AS $$SELECT 'twelve'$$")
        #expect(try opened.engine.row(1, root: 0) != nil)
        let failure = #expect(throws: SQLFailure.self) {
            try opened.other.write { try $0.changeSchemaVersion(rowsOf: ["Note"]) }
        }
        #expect(failure?.message.contains("_schema_number") == true)
        #expect(try opened.notes.contents().map(\.name) == ["a"])
    }

    /// Rows are changed, and the number with them, all the time: nobody reads a new row who counts on the old number.
    @Test func noRowIsReadByAFormerNumber() throws {
        let opened = try Opened("&pool=4")
        let select = SelectStatement([.init(.column(nil, "count"))], from: .init("Note"))
        try opened.run("UPDATE \"Note\" SET \"count\" = 1")
        let seen = Seen()
        struct Changed: Error {}
        let readers = DispatchGroup()
        for _ in 0..<3 {
            readers.enter()
            Thread.detachNewThread {
                defer { readers.leave() }
                do {
                    let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(opened.url)))
                    defer { database.close() }
                    let known = Mutex<Int64>(1)
                    database.setSchemaCheck { connection in
                        try connection.expectSchemaVersion(known.withLock { $0 }) { throw Changed() }
                    }
                    while !seen.isDone.load(ordering: .relaxed) {
                        do {
                            try database.readStatement { connection in
                                let statement = connection.keyedStatement(select, key: "Z_PK")
                                defer { statement.end() }
                                let count = try statement.row(1)?.integer(0)
                                let number = known.withLock { $0 }
                                if count != number {
                                    seen.mistakes.withLock {
                                        $0.append("\(count ?? -1) is of another schema than \(number)")
                                    }
                                }
                                seen.reads.add(1, ordering: .relaxed)
                            }
                        } catch is Changed {
                            seen.changes.add(1, ordering: .relaxed)
                            let number = try database.ask(ServerText.schemaVersion)
                            if case .integer(let number)? = number { known.withLock { $0 = number } }
                        }
                    }
                } catch { seen.mistakes.withLock { $0.append("\(error)") } }
            }
        }
        try seen.change(atLeast: 300) {
            try opened.other.write { connection in
                try connection.execute("UPDATE \"Note\" SET \"count\" = (SELECT \"number\" + 1 FROM \"_metadata\")")
                try connection.changeSchemaVersion(rowsOf: ["Note"])
            }
        }
        readers.wait()
        #expect(seen.mistakes.withLock { Array($0.prefix(3)) } == [])
        #expect(seen.reads.load(ordering: .relaxed) >= 300 && seen.changes.load(ordering: .relaxed) >= 100)
    }

    /// The same of saves, of one way to the server and of several: nobody writes who counts on the old number.
    @Test(arguments: [true, false])
    func nothingIsSavedByAFormerNumber(atOnce: Bool) throws {
        let opened = try Opened()
        let context = opened.notes.newContext()
        try context.performAndWait {
            for name in ["b", "c"] { Notes.insert(name, in: context) }
            try context.save()
        }
        let seen = Seen()
        struct Changed: Error {}
        let savers = DispatchGroup()
        for key in [Int64(2), 3] {
            savers.enter()
            Thread.detachNewThread {
                defer { savers.leave() }
                do {
                    let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(opened.url)))
                    defer { database.close() }
                    var known: Int64 = -1
                    while !seen.isDone.load(ordering: .relaxed) {
                        do {
                            let number = known
                            let save = { (connection: any SQLConnection) in
                                try connection.expectSchemaVersion(number) { throw Changed() }
                                let statement = try connection.statement(
                                    """
                                    UPDATE "Note" SET "name" = (SELECT CAST("number" AS TEXT) FROM "_metadata"), \
                                    "count" = $1 WHERE "_id" = $2
                                    """)
                                defer { statement.reset() }
                                try statement.bind(number, at: 0)
                                try statement.bind(key, at: 1)
                                try statement.runLater(expecting: 1, otherwise: {})
                            }
                            try database.writeBesideOthers(atOnce: atOnce, save, committed: { _ in })
                            seen.reads.add(1, ordering: .relaxed)
                            let isRight =
                                "SELECT 1 FROM \"Note\" WHERE \"_id\" = \(key) AND \"name\" = CAST(\"count\" AS TEXT)"
                            if try database.ask(isRight) != .integer(1) {
                                seen.mistakes.withLock { $0.append("\(key) was written by \(number)") }
                            }
                        } catch let error where error is Changed || (error as? SQLFailure)?.kind == .expectation {
                            seen.changes.add(1, ordering: .relaxed)
                            if case .integer(let number)? = try database.ask(ServerText.schemaVersion) {
                                known = number
                            }
                        }
                    }
                } catch { seen.mistakes.withLock { $0.append("\(error)") } }
            }
        }
        try seen.change(atLeast: 200) {
            try opened.other.write { try $0.changeSchemaVersion(rowsOf: []) }
            // Others are to save something in between.
            Thread.sleep(forTimeInterval: 0.002)
        }
        savers.wait()
        #expect(seen.mistakes.withLock { Array($0.prefix(3)) } == [])
        #expect(seen.reads.load(ordering: .relaxed) >= 300 && seen.changes.load(ordering: .relaxed) >= 100)
    }

    /// Notes and drafts in one table, or notes alone: the migration only takes rows away.
    private static func makeModel(hasDrafts: Bool) -> NSManagedObjectModel {
        let model = Notes.makeModel()
        guard hasDrafts else { return model }
        let draft = NSEntityDescription()
        draft.name = "Draft"
        model.entities[0].subentities = [draft]
        model.entities.append(draft)
        return model
    }

    /// A migration that only changes rows waits for who has read them in a query generation, and comes to nothing where he does not let go.
    @Test func aMigrationOfRowsWaitsForWhoReadsThem() throws {
        let url = try PostgreSQLServer.shared.url(schema: Notes.newSchema("n"))
        let old = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel(hasDrafts: true))
        try old.addPersistentStore(type: .postgreSQL, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = old
        let note = try context.performAndWait {
            for entity in ["Note", "Draft"] {
                let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                made.setValue(entity, forKey: "name")
            }
            try context.save()
            try context.setQueryGenerationFrom(.current)
            let notes = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
            #expect(notes.count == 2)
            return try #require(notes.first { $0.entity.name == "Note" }).objectID
        }
        let new = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel(hasDrafts: false))
        func migrate() throws {
            try new.addPersistentStore(
                type: .postgreSQL, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                    NSPersistentStoreTimeoutOption: 0.5,
                ])
        }
        let error = #expect(throws: CocoaError.self) { try migrate() }
        #expect(error?.code.rawValue == NSMigrationError, "\(String(describing: error?.userInfo))")
        try context.performAndWait {
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Note")) == 2)
            try context.setQueryGenerationFrom(nil)
            context.reset()
            // As it was.
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Draft")) == 1)
        }
        try migrate()
        let other = NSManagedObjectContext(.privateQueue)
        other.persistentStoreCoordinator = new
        let left = try other.performAndWait {
            try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).count
        }
        #expect(left == 1)
        context.performAndWait {
            let error = #expect(throws: CocoaError.self) { try context.existingObject(with: note) }
            #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        }
    }
}
