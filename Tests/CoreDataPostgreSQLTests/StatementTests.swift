import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// What is said to a server for the smallest things, of which there are most.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct StatementTests {
    private struct Opened {
        let notes: Notes
        let engine: StoreEngine
        let recorder = SQLRecorder()
        let schema = Notes.newSchema("q")

        init(_ rest: String = "", _ options: [AnyHashable: Any]? = nil) throws {
            let url = try PostgreSQLServer.shared.url(schema: schema, rest)
            notes = try Notes(url, options)
            engine = try notes.engine
            engine.database.addObserver(recorder)
        }

        /// What keeps migrations out: all programs say it by the same number.
        func lock() throws -> String {
            let database = try #require(engine.database as? PostgreSQLDatabase)
            let number = try database.ask("SELECT hashtextextended($1::TEXT, 7)", [.text("OpenCoreData \(schema)")])
            guard case .integer(let number)? = number else { return "" }
            return ServerText.lockBeside(number)
        }
    }

    /// A save of one object writes down that it is committed and looks at the schema by one statement.
    @Test(arguments: [false, true])
    func aSaveOfOneObject(tells: Bool) throws {
        let options = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: tells]
        let opened = try Opened("", options)
        let context = opened.notes.newContext()
        let lock = try opened.lock()
        try context.performAndWait {
            let note = Notes.insert("a", in: context)
            try context.save()
            note.setValue(1, forKey: "count")
            try context.save()
            opened.recorder.removeAll()
            note.setValue(2, forKey: "count")
            try context.save()
        }
        let expected =
            [ServerText.begin, lock] + (tells ? [ServerText.tell] : [])
            + [ServerText.noteCommitToSchemaNumber]
        // Whoever is told reads at the same time.
        let isUpdate = { (statement: String) in statement.hasPrefix("UPDATE \"Note\"") }
        let all = opened.recorder.statements
        let writing = tells ? all.filter { expected.contains($0) || isUpdate($0) } : all.dropLast()
        #expect(Array(writing.dropLast()) == expected, "\(all)")
        #expect(writing.last.map(isUpdate) == true && (tells || all.last == ServerText.commit), "\(all)")
    }

    /// What transactions are is for the driver to say, whatever the role has by itself.
    @Test(arguments: ["", "&pooler=transaction"])
    func transactionsAreNotTheRoles(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let (schema, role) = (Notes.newSchema("q"), Notes.newSchema("q"))
        let owner = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { owner.close() }
        for statement in [
            "CREATE ROLE \(role) LOGIN", "CREATE SCHEMA \(schema) AUTHORIZATION \(role)",
            "ALTER ROLE \(role) SET default_transaction_isolation = 'serializable'",
            "ALTER ROLE \(role) SET default_transaction_read_only = on",
        ] { try owner.execute(statement) }
        let notes = try Notes(server.url(schema: schema, user: role, mode))
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        #expect(try notes.contents().map(\.name) == ["a"])
        let kind = try notes.engine.database.write { connection in
            let statement = try connection.statement(
                "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
            #expect(try statement.step())
            return [statement.value(0), statement.value(1)]
        }
        #expect(kind == [.text("read committed"), .text("off")])
    }

    /// A row by its key is one statement, which has the number of the schema beside the row.
    @Test func aRowByItsKey() throws {
        let opened = try Opened()
        let context = opened.notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        #expect(try opened.engine.row(1, root: 0) != nil)
        opened.recorder.removeAll()
        #expect(try opened.engine.row(1, root: 0) != nil)
        #expect(opened.recorder.statements.count == 1, "\(opened.recorder.statements)")
        #expect(opened.recorder.statements.first.map(ServerText.asksSchemaNumber) == true)
        // Where there is no row the schema is asked for.
        opened.recorder.removeAll()
        #expect(try opened.engine.row(99, root: 0) == nil)
        #expect(opened.recorder.statements.count == 2 && opened.recorder.statements.last == ServerText.schemaVersion)
    }

    /// Who has the store open with another model is told so by the first row that he reads, there or not, and by the first save; who has
    /// looked at a schema that became another one only by number goes on.
    @Test(arguments: ["", "&pooler=transaction", "&engine=cockroachdb"])
    func anotherSchemaIsSeen(_ mode: String) throws {
        let opened = try Opened(mode)
        let context = opened.notes.newContext()
        let note = try context.performAndWait {
            let note = Notes.insert("a", in: context)
            try context.save()
            return note.objectID
        }
        let url = try #require(opened.notes.coordinator.persistentStores.first?.url)
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        for key: Int64 in [1, 99] {
            try database.write { try $0.changeSchemaVersion(rowsOf: []) }
            #expect(try (opened.engine.row(key, root: 0) != nil) == (key == 1))
        }
        try database.write { try $0.changeSchemaVersion(rowsOf: []) }
        try context.performAndWait {
            let note = try context.existingObject(with: note)
            note.setValue(1, forKey: "count")
            try context.save()
            note.setValue(2, forKey: "count")
            try context.save()
        }
        #expect(try opened.notes.contents().map(\.count) == [2])
        // Each of these commits is noted, so that what became of it could be told.
        let noted = try database.read { connection in
            let statement = try connection.statement("SELECT MAX(\"number\")::BIGINT FROM \"_commits\"")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }
        #expect(noted >= 3)

        let model = Notes.makeModel()
        let extra = NSAttributeDescription()
        (extra.name, extra.attributeType, extra.isOptional) = ("extra", .stringAttributeType, true)
        model.entities[0].properties.append(extra)
        let later = NSPersistentStoreCoordinator(managedObjectModel: model)
        try later.addPersistentStore(
            type: .postgreSQL, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        for key: Int64 in [1, 99] {
            let failure = #expect(throws: StoreFailure.self) { try opened.engine.row(key, root: 0) }
            #expect(failure?.kind == .incompatibleModel)
        }
        context.performAndWait {
            Notes.insert("b", in: context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        }
    }
}
