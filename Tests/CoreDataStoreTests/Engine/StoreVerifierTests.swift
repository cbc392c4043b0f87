import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@Suite struct StoreVerifierTests {
    @Test(
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)), arguments: FixtureStore.all)
    func storesOfApplesHaveOnlyKnownFindings(fixture: FixtureStore) throws {
        let findings = try StoreVerifier.verify(
            model: fixture.compiled(), options: DatabaseOptions(path: fixture.copy().path), makeDatabase: makeDatabase)
        #expect(findings.map(\.description) == fixture.findings)
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func storeIsVerifiedWithTheModelThatItKeeps() throws {
        let findings = try StoreVerifier.verify(
            options: DatabaseOptions(path: FixtureStore.books.copy().path), makeDatabase: makeDatabase)
        #expect(findings == [])
        let failure = try #require(throws: StoreFailure.self) {
            try StoreVerifier.verify(
                options: DatabaseOptions(path: FixtureStore.recipes.copy().path), makeDatabase: makeDatabase)
        }
        #expect(failure.kind == .noCachedModel)
    }

    /// Stores of every age: their constraints were once part of the tables, and indexes had other names.
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func indexesAndConstraintsOfOlderFrameworksCount() throws {
        let vectors = try SchemaVector.all().filter { $0.partial != true }
        #expect(vectors.count { $0.framework < 866 } > 10)
        for vector in vectors {
            let model = try ModelCompiler.compile(vector.document)
            let database = try makeDatabase(DatabaseOptions(path: nil))
            try database.write { connection in
                for case let sql? in vector.schema.map({ $0[2] }) { try connection.execute(sql) }
                for entity in model.entities {
                    let parent = entity.parent.map { $0 + 1 } ?? 0
                    try connection.execute(
                        "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.ordinal + 1), '\(entity.name)', \(parent), 0)")
                }
                try connection.execute("INSERT INTO Z_METADATA VALUES (1, 'UUID', NULL)")
            }
            let findings = try StoreVerifier.verify(database, model: model, path: nil).map(\.description)
            #expect(
                findings == [
                    "warning: the metadata has no version hashes (whether the model fits can only be told by the tables)"
                ], "\(vector.source)")
        }
    }

    @Test func freshStoreIsClean() throws {
        #expect(try findings(after: []) == [])
    }

    /// Each fault and what is said of it.
    @Test(
        arguments: [
            (
                ["UPDATE ZITEM SET ZUNIT = 99 WHERE Z_PK = 1"],
                [
                    "error: Item.unit of row 1: points to row 99 of Unit, which does not exist (set it to nil, or to a row that exists)"
                ]
            ),
            (
                ["UPDATE ZITEM SET ZPLACE = 99 WHERE Z_PK = 2"],
                [
                    "error: Item.place of row 2: points to row 99 of Place, which does not exist (set it to nil, or to a row that exists)"
                ]
            ),
            (
                ["UPDATE ZITEM SET Z3_PLACE = 3 WHERE Z_PK = 1"],
                [
                    "warning: Item.place of row 1: Z3_PLACE is 3, but the row that it points to is of entity number 4 (the entity of the destination row counts)"
                ]
            ),
            (
                ["UPDATE ZITEM SET ZSHOP = 1 WHERE Z_PK = 1"],
                ["error: Item.shop of row 1: points to row 1, which is of entity number 4, not of Shop"]
            ),
            (
                ["UPDATE ZPHOTO SET ZITEM = 2"],
                [
                    "error: Item.photo of row 1: points to row 1, whose 'item' points to 2 (set one side anew; the other follows)",
                    "warning: Photo.item of row 1: points to row 2, whose 'photo' points to nil (set one side anew; the other follows)",
                ]
            ),
            (
                ["INSERT INTO Z_1TAGS VALUES (1, 77), (2, 77)"],
                [
                    "warning: Item.tags: 2 rows of table Z_1TAGS point to row 77 of Tag, which does not exist (remove these rows of Z_1TAGS)"
                ]
            ),
            (
                ["INSERT INTO Z_1FRIENDS VALUES (1, 2)"],
                ["warning: Item.friends of row 1: has row 2, but not the other way round"]
            ),
            (
                ["UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Item'"],
                [
                    "warning: Item: the highest primary key handed out is said to be 1, but there is a row 2 (keys are then counted from the rows)"
                ]
            ),
            (
                ["UPDATE ZITEM SET Z_ENT = 42 WHERE Z_PK = 2"],
                [
                    "error: Item of row 2: its entity number is 42 (no entity of this table has that number; the row cannot be fetched)"
                ]
            ),
            (
                ["UPDATE ZPLACE SET Z_ENT = 3 WHERE Z_PK = 2"],
                [
                    "warning: Place of row 2: is of an abstract entity",
                    "error: Item.shop of row 1: points to row 2, which is of entity number 3, not of Shop",
                ]
            ),
            (
                ["UPDATE ZITEM SET Z_OPT = NULL WHERE Z_PK = 2"],
                ["warning: Item of row 2: has no version number (Z_OPT) (a save of this row would find a conflict)"]
            ),
            (
                ["ALTER TABLE ZITEM ADD COLUMN ZOLD VARCHAR"],
                [
                    "note: Item: table ZITEM has a column ZOLD that the model does not know (a migration may have left it)"
                ]
            ),
            (
                ["ALTER TABLE ZITEM DROP COLUMN Z3_PLACE"],
                ["warning: Item.place: table ZITEM has no column for the entity of its destination"]
            ),
            (["DROP INDEX ZITEM_ZUNIT_INDEX"], ["note: table ZITEM has no index ZITEM_ZUNIT_INDEX"]),
            (["DROP INDEX ZITEM_ZUNIT_INDEX", "CREATE INDEX other ON ZITEM (zunit)"], []),
            (["DROP INDEX Z_Item_UNIQUE_name", "CREATE UNIQUE INDEX other ON ZITEM (ZNAME)"], []),
            (
                ["DROP INDEX Z_Item_UNIQUE_name", "CREATE INDEX other ON ZITEM (ZNAME)"],
                [
                    "warning: table ZITEM has no unique index Z_Item_UNIQUE_name (the store does not enforce the constraint; save checks it nevertheless)"
                ]
            ),
            (
                ["DROP INDEX Z_Item_UNIQUE_name", "CREATE UNIQUE INDEX other ON ZITEM (ZNAME) WHERE ZUNIT = 1"],
                [
                    "warning: table ZITEM has no unique index Z_Item_UNIQUE_name (the store does not enforce the constraint; save checks it nevertheless)"
                ]
            ),
            (
                ["DROP INDEX Z_Item_UNIQUE_name"],
                [
                    "warning: table ZITEM has no unique index Z_Item_UNIQUE_name (the store does not enforce the constraint; save checks it nevertheless)"
                ]
            ),
            (
                ["DROP TRIGGER Z_DA_ZITEM_Unit_count_PARAMETER_DELETE"],
                [
                    "warning: table ZITEM has no trigger Z_DA_ZITEM_Unit_count_PARAMETER_DELETE (a derived attribute is not kept up to date)"
                ]
            ),
            (
                ["DROP INDEX Z_Item_UNIQUE_name", "UPDATE ZITEM SET ZNAME = 'Milk'"],
                [
                    "warning: table ZITEM has no unique index Z_Item_UNIQUE_name (the store does not enforce the constraint; save checks it nevertheless)",
                    "error: row 1: 2 rows have the same values of Z_Item_UNIQUE_name (the constraint cannot be enforced before they differ)",
                ]
            ),
            (
                ["UPDATE ZITEM SET ZSHELF = 1 WHERE Z_PK = 1"],
                [
                    "warning: Item.shelf of row 1: has no position in the ordered relationship that it is in (it comes first, in no certain order)"
                ]
            ),
            (["DROP TABLE Z_1TAGS"], ["error: Item.tags: there is no table Z_1TAGS"]),
            (
                ["ALTER TABLE ZITEM DROP COLUMN ZDATA"],
                ["error: Item.data: table ZITEM has no column ZDATA"]
            ),
            (
                ["INSERT INTO Z_PRIMARYKEY VALUES (9, 'Ghost', 0, 0)"],
                ["warning: Z_PRIMARYKEY has an entity 'Ghost' that the model does not know"]
            ),
            (
                ["UPDATE Z_METADATA SET Z_PLIST = NULL"],
                ["warning: the metadata has no version hashes (whether the model fits can only be told by the tables)"]
            ),
            (
                ["DELETE FROM Z_METADATA"],
                [
                    "error: the table Z_METADATA has no row (restore a backup, or make a new store of its objects with coredata store recover)"
                ]
            ),
            (
                ["UPDATE Z_METADATA SET Z_UUID = NULL, Z_PLIST = X'00'"],
                [
                    "error: the store has no UUID (restore a backup, or make a new store of its objects with coredata store recover)",
                    "error: the metadata are no property list (restore a backup, or make a new store of its objects with coredata store recover)",
                ]
            ),
            (
                ["UPDATE ZITEM SET ZNAME = CAST(X'41E942' AS TEXT) WHERE Z_PK = 1"],
                [
                    "warning: Item.name of row 1: has a text that is not UTF-8 (set it anew: what is read, and written by an export, has other characters)"
                ]
            ),
            (
                ["UPDATE ZITEM SET ZDATA = X'0252' WHERE Z_PK = 1"],
                [
                    "note: Item.data: 1 values were written before the attribute allowed external storage (they are read as they are)"
                ]
            ),
            (
                [
                    "UPDATE ZITEM SET ZDATA = CAST(X'02' || 'AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE' || X'00' AS BLOB) WHERE Z_PK = 2"
                ],
                [
                    "error: Item.data of row 2: its file AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE is missing (the value is lost)"
                ]
            ),
        ] as [([String], [String])])
    func faultIsFound(statements: [String], expected: [String]) throws {
        #expect(try findings(after: statements) == expected)
    }

    @Test func nilInARequiredRelationshipIsAWarning() throws {
        let library = try model(
            Entity("Book").required(toOne: "author", "Author", inverse: "books"), Entity("Novel", parent: "Book"),
            Entity("Author").toMany("books", "Book", inverse: "author"))
        let engine = try StoreEngine.open(
            model: library, options: StoreOptions(path: nil), makeDatabase: makeDatabase)
        try engine.database.write { connection in
            try connection.execute(
                """
                INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1);
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 2, 1, 1), (2, 2, 1, NULL), (3, 3, 1, NULL);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 3;
                """)
        }
        let findings = try StoreVerifier.verify(engine.database, model: library, path: nil)
        #expect(
            findings.map(\.description)
                == [2, 3].map {
                    "warning: Book.author of row \($0): is required, and nil (the object cannot be saved before it is set)"
                })
    }

    @Test func externalDataFilesAreMatched() throws {
        let (name, orphan) = (UUID().uuidString, UUID().uuidString)
        let found = try findings(
            after: ["UPDATE ZITEM SET ZDATA = CAST(X'02' || '\(name)' || X'00' AS BLOB) WHERE Z_PK = 1"],
            files: [name, orphan])
        #expect(found == ["warning: no row refers to the external data file \(orphan) (it can be removed)"])
    }

    @Test func manyFaultsOfOneKindAreCounted() throws {
        let found = try findings(after: [
            "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 102) INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZUNIT) SELECT i, 1, 1, 99 FROM n",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 102 WHERE Z_NAME = 'Item'",
        ])
        #expect(found.count == 21)
        #expect(found.last == "error: Item.unit: the same in 80 more rows (set it to nil, or to a row that exists)")
    }

    @Test func otherModelIsAFinding() throws {
        let path = try sampleStore().path
        let other = try model(Entity("Item").string("name"))
        let found = try StoreVerifier.verify(
            model: other, options: DatabaseOptions(path: path), makeDatabase: makeDatabase)
        #expect(found.first?.severity == .error)
        #expect(found.first?.message.hasPrefix("made with another version of the model") == true)
    }

    // MARK: - A store with one of everything

    private func shop() throws -> CompiledModel {
        try model(
            Entity("Item").string("name").attribute("data", .binaryData, external: true)
                .toOne("unit", "Unit", inverse: "items").toOne("place", "Place").toOne("shop", "Shop")
                .toOne("photo", "Photo", inverse: "item").toOne("shelf", "Shelf", inverse: "items").toMany(
                    "tags", "Tag", inverse: "items"
                )
                .toMany("friends", "Item", inverse: "friends").unique("name"),
            Entity("Photo").toOne("item", "Item", inverse: "photo"),
            Entity("Place", isAbstract: true), Entity("Home", parent: "Place"), Entity("Shop", parent: "Place"),
            Entity("Shelf").toMany("items", "Item", inverse: "shelf", ordered: true),
            Entity("Tag").toMany("items", "Item", inverse: "tags"),
            Entity("Unit").attribute("count", .integer64, derived: "items.@count")
                .toMany("items", "Item", inverse: "unit"))
    }

    /// Item 1, Photo 2, Place 3, Home 4, Shop 5, Shelf 6, Tag 7, Unit 8.
    private func sampleStore() throws -> (path: String, engine: StoreEngine) {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        let engine = try StoreEngine.open(model: shop(), options: StoreOptions(path: path), makeDatabase: makeDatabase)
        try engine.database.write { connection in
            try connection.execute(
                """
                INSERT INTO ZUNIT (Z_PK, Z_ENT, Z_OPT) VALUES (1, 8, 1);
                INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT) VALUES (1, 6, 1);
                INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT) VALUES (1, 4, 1), (2, 5, 1);
                INSERT INTO ZPHOTO (Z_PK, Z_ENT, Z_OPT, ZITEM) VALUES (1, 2, 1, 1);
                INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) VALUES (1, 7, 1);
                INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZUNIT, ZPLACE, Z3_PLACE, ZSHOP, ZPHOTO, ZDATA)
                    VALUES (1, 1, 1, 'Milk', 1, 1, 4, 2, 1, X'0141'), (2, 1, 1, 'Tea', NULL, NULL, NULL, NULL, NULL, NULL);
                INSERT INTO Z_1TAGS VALUES (1, 1);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 2;
                """)
        }
        return (path, engine)
    }

    private func findings(after statements: [String], files: [String] = []) throws -> [String] {
        let (path, engine) = try sampleStore()
        try engine.database.write { connection in
            for statement in statements { try connection.execute(statement) }
        }
        engine.database.close()
        if let folder = ExternalData(storePath: path).folder, !files.isEmpty {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for file in files { try Data([1]).write(to: URL(fileURLWithPath: folder + "/" + file)) }
        }
        return try StoreVerifier.verify(
            model: shop(), options: DatabaseOptions(path: path), makeDatabase: makeDatabase
        ).map(\.description)
    }
}
