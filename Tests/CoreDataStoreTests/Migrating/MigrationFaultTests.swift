import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// T5 and T9: every statement of a migration fails once.
@Suite struct MigrationFaultTests {
    private let old = model(
        entity(
            "Book", attribute("title"), toOne("shelf", "Shelf", inverse: "books"),
            toMany("tags", "Tag", inverse: "books")),
        entity("Shelf", attribute("label"), toMany("books", "Book", inverse: "shelf")),
        entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
    private let new = model(
        entity("Author", attribute("name")),
        entity(
            "Book", attribute("title"), attribute("isbn"), toOne("shelf", "Shelf", inverse: "books"),
            toMany("tags", "Tag", inverse: "books")),
        entity(
            "Shelf", attribute("label"), derived("count", .integer64, "books.@count"),
            toMany("books", "Book", inverse: "shelf", ordered: true)),
        entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")).with {
            $0.uniquenessConstraints = [["name"]]
        })

    private func makeStore() throws -> MigratedStore {
        try MigratedStore(old, tracksHistory: true) { engine in
            try engine.database.write {
                try $0.execute("INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 2, 1, 'A')")
                try $0.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSHELF) VALUES (1, 1, 1, 'One', 1)")
                try $0.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'red')")
                try $0.execute("INSERT INTO Z_1TAGS (Z_1BOOKS, Z_3TAGS) VALUES (1, 1)")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1")
            }
        }
    }

    private func copy(_ store: MigratedStore) throws -> MigratedStore {
        let copy = MigratedStore(path: try Fixtures.temporaryFolder().path + "/Store.sqlite", store.document)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }

    /// Makes databases whose statement of that number fails.
    private func failing(_ injector: SQLFaultInjector) -> DatabaseFactory {
        { options in
            let database = try makeDatabase(options)
            database.setObserver(injector)
            return database
        }
    }

    private func errors(_ store: MigratedStore) throws -> [String] {
        try StoreVerifier.verify(
            model: ModelCompiler.compile(new), options: DatabaseOptions(path: store.path), makeDatabase: makeDatabase
        ).filter { $0.severity == .error }.map(\.description)
    }

    @Test(arguments: Trials.some(of: [false, true])) func aFaultAtAnyStatementLeavesTheStoreAsItWas(defers: Bool) throws
    {
        let store = try makeStore()
        let before = try store.dump()
        var number = 1
        while true {
            let copy = try copy(store)
            let injector = SQLFaultInjector(failingStatement: number)
            var migration = try MigratedStore.migration(to: new, makeDatabase: failing(injector))
            migration.defers = defers
            let error: (any Error)?
            do {
                try migration.run(DatabaseOptions(path: copy.path))
                error = nil
            } catch let caught { error = caught }
            // A look at the file that fails may be made up for by another.
            if error != nil {
                #expect(try copy.dump() == before, "statement \(number)")
            } else {
                #expect(try (defers ? errors(copy) : copy.problems(new)) == [], "statement \(number)")
            }
            guard injector.hasFailed else { break }
            number += 1
        }
        #expect(number > 30)
    }

    @Test func aFaultWhileFinishingLeavesTheRestToBeDone() throws {
        let store = try makeStore()
        var migration = try MigratedStore.migration(to: new)
        migration.defers = true
        let plan = try migration.run(DatabaseOptions(path: store.path)).plan
        #expect(plan?.deferred.isEmpty == false)
        func finish(_ store: MigratedStore, _ factory: @escaping DatabaseFactory) throws {
            var options = StoreOptions(path: store.path)
            options.tracksHistory = true
            let engine = try StoreEngine.open(
                model: ModelCompiler.compile(new), options: options, makeDatabase: factory)
            defer { engine.close() }
            while try engine.finishDeferredTask(new) {}
        }
        var number = 1
        while true {
            let copy = try copy(store)
            let injector = SQLFaultInjector(failingStatement: number)
            _ = try? finish(copy, failing(injector))
            #expect(try errors(copy) == [], "statement \(number)")
            try finish(copy, makeDatabase)
            #expect(try copy.problems(new) == [], "statement \(number)")
            #expect(
                try copy.rows("SELECT ZTITLE, ZISBN, ZSHELF FROM ZBOOK") == [[.text("One"), .null, .integer(1)]],
                "statement \(number)")
            guard injector.hasFailed else { break }
            number += 1
        }
        #expect(number > 10)
    }
}
