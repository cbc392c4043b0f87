import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation
import TestSupport
import Testing

@Suite struct StoreOpeningTests {
    @Test func newStoreHasItsBookkeeping() throws {
        let path = try newPath()
        let library = try library()
        let engine = try StoreEngine.open(model: library, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        let rows = try engine.database.read {
            try $0.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        }
        #expect(
            rows == [
                [.integer(1), .text("Author"), .integer(0), .integer(0)],
                [.integer(2), .text("Poet"), .integer(1), .integer(0)],
                [.integer(3), .text("Book"), .integer(0), .integer(0)],
            ])
        let row = try engine.metadata()
        #expect(row.identifier == engine.identifier)
        #expect(UUID(uuidString: row.identifier) != nil)
        let dictionary = row.metadata.dictionary
        #expect(dictionary["NSStoreType"] as? String == "SQLite")
        #expect(dictionary["NSPersistenceFrameworkVersion"] as? Int == 1345)
        #expect(dictionary["_NSAutoVacuumLevel"] as? String == "2")
        #expect(dictionary["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(dictionary["NSStoreModelVersionIdentifiers"] as? [String] == [])
        #expect((dictionary["NSStoreModelVersionHashes"] as? [String: Data])?.count == 3)
        #expect(dictionary["NSStoreModelVersionHashesDigest"] is String)
        #expect(dictionary["NSStoreModelVersionChecksumKey"] is String)
        #expect(dictionary["NSStoreUUID"] == nil)
        engine.database.close()
        let again = try StoreEngine.open(model: library, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(again.identifier == engine.identifier)
        #expect(again.layout.entities.map { $0?.columnNames } == engine.layout.entities.map { $0?.columnNames })
    }

    @Test func fileHasApplesPageSizeAndJournal() throws {
        let path = try newPath()
        _ = try StoreEngine.open(model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        let report = try StoreReport.make(options: DatabaseOptions(path: path), makeDatabase: makeDatabase)
        #expect(report.pageSize == 4096)
        #expect(report.journalMode == "wal")
        #expect(report.pragmas["auto_vacuum"] == "2")
        #expect(report.pragmas["encoding"] == "UTF-8")
    }

    @Test func emptyFileBecomesAStore() throws {
        let path = try newPath()
        try Data().write(to: URL(fileURLWithPath: path))
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(try engine.database.read { try StoreCatalog.read($0).missingBookkeeping } == [])
    }

    @Test func emptyDatabaseBecomesAStore() throws {
        let path = try newPath()
        let database = try makeDatabase(DatabaseOptions(path: path))
        try database.write {
            try $0.execute("CREATE TABLE x (y)")
            try $0.execute("DROP TABLE x")
        }
        database.close()
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(engine.layout.entities.count == 3)
    }

    @Test func missingFileIsNotMadeForReading() throws {
        let path = try newPath()
        for change in [{ $0.database.isReadOnly = true }, { $0.createsStore = false }] as [(inout StoreOptions) -> Void]
        {
            var options = StoreOptions(path: path)
            change(&options)
            let failure = try #require(throws: StoreFailure.self) {
                try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
            }
            #expect(failure.kind == .cannotOpen)
            #expect(failure.message.contains(path))
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func fileThatIsNoDatabaseIsRefused() throws {
        let path = try newPath()
        try Data(repeating: 0x41, count: 5000).write(to: URL(fileURLWithPath: path))
        #expect(try kind(opening: path) == .notADatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(repeating: 0x41, count: 5000))
    }

    @Test func databaseOfAnotherProgramIsRefused() throws {
        let path = try newPath()
        let database = try makeDatabase(DatabaseOptions(path: path))
        try database.write { try $0.execute("CREATE TABLE songs (name TEXT)") }
        database.close()
        #expect(try kind(opening: path) == .notAStore)
    }

    @Test func otherStoreTypeIsRefused() throws {
        try expectRefusal(.wrongStoreType, after: ["NSStoreType": "Ledger"])
    }

    @Test func newerFormatIsRefused() throws {
        try expectRefusal(.newerFormat, after: ["NSStoreModelVersionHashesVersion": 4])
    }

    @Test func storeWithoutMetadataOpensByItsTables() throws {
        let path = try newPath()
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        try engine.database.write { try $0.execute("UPDATE Z_METADATA SET Z_PLIST = NULL") }
        engine.database.close()
        let again = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(again.identifier == engine.identifier)
    }

    @Test func missingColumnsAreListed() throws {
        let path = try newPath()
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        try engine.database.write {
            try $0.execute("ALTER TABLE ZBOOK DROP COLUMN ZTITLE")
            try $0.execute("DROP TABLE Z_1BOOKS")
        }
        engine.database.close()
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .incompleteSchema)
        #expect(
            failure.missing.map(\.description) == [
                "Book.title: no column ZTITLE in table ZBOOK", "Author.books: no table Z_1BOOKS",
            ])
    }

    @Test func otherVersionOpensWhenVersionsAreIgnored() throws {
        let path = try newPath()
        _ = try StoreEngine.open(model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        let changed = try model(
            Entity("Author").string("name").toMany("books", "Book", inverse: "authors"),
            Entity("Poet", parent: "Author"),
            Entity("Book").string("title").toMany("authors", "Author", inverse: "books"))
        var options = StoreOptions(path: path)
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(model: changed, options: options, makeDatabase: makeDatabase)
        }
        #expect(failure.mismatch?.changed == ["Book"])
        #expect(failure.message.contains("changed: Book"))
        options.ignoresModelVersioning = true
        _ = try StoreEngine.open(model: changed, options: options, makeDatabase: makeDatabase)
    }

    @Test func failedCreationLeavesNothing() throws {
        for statement in 1...12 {
            let path = try newPath()
            let factory: DatabaseFactory = { options in
                let database = try makeDatabase(options)
                database.setObserver(SQLFaultInjector(failingStatement: statement + 2))
                return database
            }
            #expect(throws: SQLFailure.self) {
                try StoreEngine.open(model: library(), options: StoreOptions(path: path), makeDatabase: factory)
            }
            #expect(!FileManager.default.fileExists(atPath: path), "statement \(statement)")
        }
    }

    @Test func modelThatCannotBeStoredMakesNoFile() throws {
        let path = try newPath()
        let broken = try model(Entity("Item").attribute("sum", .string, derived: "shout:(name)"))
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(model: broken, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .unsupportedModel)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func configurationChoosesTheEntities() throws {
        let two = try model(
            Entity("Author").string("name"), Entity("Book").string("title"), Entity("Cache").string("key"),
            configurations: ["Local": ["Cache"], "Cloud": ["Author", "Book"]])
        let path = try newPath()
        let engine = try StoreEngine.open(
            model: two, configuration: "Local", options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(engine.layout.entities.map { $0?.number } == [nil, nil, 1])
        #expect(engine.entities == [2])
        #expect(try engine.metadata().metadata.versionHashes?.keys.sorted() == ["Cache"])
        engine.database.close()
        let failure = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(model: two, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        }
        #expect(failure.mismatch?.added == ["Author", "Book"])
        let unknown = try #require(throws: StoreFailure.self) {
            try StoreEngine.open(
                model: two, configuration: "Loca", options: StoreOptions(path: path), makeDatabase: makeDatabase)
        }
        #expect(unknown.kind == .unknownConfiguration)
        #expect(unknown.message.contains("Cloud, Local"))
    }

    @Test func storeWithHistoryIsReadOnlyWithoutHistory() throws {
        // O1
        let path = try newPath()
        var options = StoreOptions(path: path)
        options.tracksHistory = true
        let engine = try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
        #expect(engine.tracksHistory && !engine.isReadOnly)
        engine.database.close()
        options.tracksHistory = false
        let second = try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
        #expect(second.isReadOnly && second.isReadOnlyForHistory)
        #expect(throws: SQLFailure.self) { try second.database.write { try $0.execute("DELETE FROM ZBOOK") } }
        #expect(throws: StoreFailure.self) { try second.setMetadata(StoreMetadata(dictionary: [:])) }
    }

    @Test func historyIsAddedToAStoreWithoutIt() throws {
        let path = try newPath()
        var options = StoreOptions(path: path)
        try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase).database.close()
        options.tracksHistory = true
        let engine = try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
        #expect(try engine.database.read { try StoreCatalog.read($0).hasHistory })
        // Its rows, which are no entities of the model, come with the first transaction.
        let numbers = try engine.database.read {
            try $0.rows("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT > 16000")
        }
        #expect(numbers.isEmpty)
        #expect(try engine.database.read { try EntityNumber.all(in: $0) }.count == 3)
    }

    @Test func metadataIsWrittenAtOnceAndKeepsWhatTheStoreNeeds() throws {
        let path = try newPath()
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        try engine.setMetadata(StoreMetadata(dictionary: ["colour": "red"]))
        let row = try StoreEngine.metadata(options: DatabaseOptions(path: path), makeDatabase: makeDatabase)
        #expect(row.dictionary["colour"] as? String == "red")
        #expect(row.dictionary["NSStoreUUID"] as? String == engine.identifier)
        #expect(row.metadata.versionHashes?.count == 3)
        engine.database.close()

        let other = UUID().uuidString
        try StoreEngine.setMetadata(
            StoreMetadata(dictionary: ["NSStoreUUID": other, "count": 3]), options: DatabaseOptions(path: path),
            makeDatabase: makeDatabase)
        let again = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(again.identifier == other)
        #expect(try again.metadata().dictionary["count"] as? Int == 3)
        #expect(try again.metadata().dictionary["colour"] == nil)
    }

    @Test func storeMadeByManyAtOnceIsOneStore() async throws {
        for _ in 0..<5 {
            let path = try newPath()
            let library = try library()
            let identifiers = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try StoreEngine.open(
                            model: library, options: StoreOptions(path: path), makeDatabase: makeDatabase
                        ).identifier
                    }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(identifiers.count == 1)
        }
    }

    @Test func initialMetadataAndIdentifierAreKept() throws {
        var options = StoreOptions(path: nil)
        options.identifier = "11111111-2222-3333-4444-555555555555"
        options.metadata = try StoreMetadata(dictionary: ["imported": true, "NSStoreType": "Wrong"])
        let engine = try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
        #expect(engine.identifier == "11111111-2222-3333-4444-555555555555")
        #expect(try engine.metadata().dictionary["imported"] as? Bool == true)
        #expect(try engine.metadata().metadata.type == "SQLite")
    }

    /// To prepare statements tells the same of a file as its catalog.
    @Test func usualLayoutIsThatOfTheCatalog() throws {
        let path = try newPath()
        let library = try library()
        let entities = Array(library.entities.indices)
        let engine = try StoreEngine.open(model: library, options: StoreOptions(path: path), makeDatabase: makeDatabase)
        func check(_ comment: Comment) throws {
            let (quick, thorough) = try engine.database.read { connection in
                (
                    try SchemaLayout.existing(model: library, entities: entities, connection: connection),
                    try SchemaLayout.existing(
                        model: library, entities: entities, numbers: EntityNumber.all(in: connection),
                        catalog: StoreCatalog.read(connection))
                )
            }
            #expect(quick.layout.joinTables == thorough.layout.joinTables, comment)
            #expect(quick.layout.ordinalByNumber == thorough.layout.ordinalByNumber, comment)
            #expect(quick.numbers == thorough.numbers, comment)
            for (a, b) in zip(quick.layout.entities, thorough.layout.entities) {
                #expect(a?.table == b?.table && a?.number == b?.number && a?.columnNames == b?.columnNames, comment)
            }
        }
        try check("as created")
        try engine.database.write { try $0.execute("ALTER TABLE ZBOOK ADD COLUMN ZEXTRA INTEGER") }
        try check("with a column too many")
        try engine.database.write { try $0.execute("ALTER TABLE ZBOOK DROP COLUMN ZPAGES") }
        let failure = #expect(throws: StoreFailure.self) {
            try engine.database.read {
                try SchemaLayout.existing(model: library, entities: entities, connection: $0)
            }
        }
        #expect(failure?.missing.map(\.column) == ["ZPAGES"])
    }

    @Test func metadataIsThatOfTheFileWhenItWasOpened() throws {
        let path = try newPath()
        var options = StoreOptions(path: path)
        options.metadata = try StoreMetadata(dictionary: ["imported": true])
        let made = try StoreEngine.open(model: library(), options: options, makeDatabase: makeDatabase)
        #expect(made.openedMetadata.dictionary["imported"] as? Bool == true)
        #expect(made.openedMetadata.metadata == (try made.metadata().metadata))
        made.database.close()
        let again = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        #expect(again.openedMetadata.identifier == made.identifier)
        #expect(again.openedMetadata.metadata == (try again.metadata().metadata))
        let identification = again.openedMetadata.metadata.identification
        let dictionary = again.openedMetadata.metadata.dictionary
        #expect(identification.type == dictionary["NSStoreType"] as? String)
        #expect(identification.versionHashesVersion == dictionary["NSStoreModelVersionHashesVersion"] as? Int)
        #expect(identification.versionHashes == dictionary["NSStoreModelVersionHashes"] as? [String: Data])
        #expect(StoreMetadata(propertyList: Data("nonsense".utf8)).identification.versionHashes == nil)
    }

    private func library() throws -> CompiledModel {
        try model(
            Entity("Author").string("name").toMany("books", "Book", inverse: "authors"),
            Entity("Poet", parent: "Author"),
            Entity("Book").string("title").integer("pages").toMany("authors", "Author", inverse: "books"))
    }

    private func newPath() throws -> String {
        try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite").path
    }

    private func kind(opening path: String) throws -> StoreFailure.Kind? {
        let failure = #expect(throws: StoreFailure.self) {
            try StoreEngine.open(model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        }
        return failure?.kind
    }

    private func expectRefusal(_ kind: StoreFailure.Kind, after metadata: [String: any Sendable]) throws {
        let path = try newPath()
        let engine = try StoreEngine.open(
            model: library(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        try engine.setMetadata(StoreMetadata(dictionary: metadata))
        engine.database.close()
        #expect(try self.kind(opening: path) == kind)
    }
}
