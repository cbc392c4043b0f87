import CoreDataModel
import CoreDataSQL
import CoreDataStore
import Testing

/// Who gets a name first, and what stands where, as Apple's Core Data decides it (store-format §3 to §5).
@Suite struct SchemaNamingTests {
    @Test func clashingColumnsAreNumberedEntityByEntity() throws {
        // Not type by type: the string of B comes before the integer of C.
        try check(
            model(
                Entity("A"), Entity("B", parent: "A").attribute("size", .string),
                Entity("C", parent: "A").attribute("size", .integer64)),
            only: "CREATE TABLE",
            """
            CREATE TABLE ZA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSIZE1 INTEGER, ZSIZE VARCHAR )
            """)
    }

    @Test func whatToManysLeaveStandsBehindTheKeysOfTheWholeTable() throws {
        // In the order in which the sources are met, by name: Album before Zoo.
        try check(
            model(
                Entity("Item").toOne("zoo", "Zoo", inverse: "items").toOne("album", "Album", inverse: "items"),
                Entity("SubItem", parent: "Item").integer("count"),
                Entity("Zoo").toMany("items", "Item", inverse: "zoo", ordered: true).toMany("loose", "SubItem"),
                Entity("Album").toMany("items", "Item", inverse: "album", ordered: true)
                    .toMany("loose", "Item", ordered: true)),
            only: "CREATE TABLE ZITEM",
            """
            CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZALBUM INTEGER, ZZOO INTEGER, ZCOUNT INTEGER, Z1LOOSE INTEGER, Z_FOK_1LOOSE INTEGER, Z_FOK_ALBUM INTEGER, Z4LOOSE INTEGER, Z_FOK_ZOO INTEGER )
            """)
    }

    @Test func joinColumnsShareOneNamespace() throws {
        // The first column of one table clashes with the second of another.
        try check(
            model(
                Entity("Author").toMany("books", "Book", inverse: "authors"),
                Entity("Book").toMany("authors", "Author", inverse: "books").toMany("users", "User", inverse: "books"),
                Entity("User").toMany("books", "Book", inverse: "users")),
            only: "CREATE TABLE Z_",
            """
            CREATE TABLE Z_1BOOKS ( Z_1AUTHORS INTEGER, Z_2BOOKS INTEGER, PRIMARY KEY (Z_1AUTHORS, Z_2BOOKS) )
            CREATE TABLE Z_2USERS ( Z_2BOOKS1 INTEGER, Z_3USERS INTEGER, PRIMARY KEY (Z_2BOOKS1, Z_3USERS) )
            """)
    }

    @Test func inheritedRelationshipsCountWhereTheSubentityIsMet() throws {
        // Album, which inherits albumLists, is met before AlbumList; the table is GenericAlbum's.
        try check(
            model(
                Entity("AlbumList").toMany("albums", "GenericAlbum", inverse: "albumLists"),
                Entity("GenericAlbum").toMany("albumLists", "AlbumList", inverse: "albums"),
                Entity("Album", parent: "GenericAlbum")),
            only: "CREATE TABLE Z_",
            """
            CREATE TABLE Z_2ALBUMLISTS ( Z_2ALBUMS INTEGER, Z_1ALBUMLISTS INTEGER, PRIMARY KEY (Z_2ALBUMS, Z_1ALBUMLISTS) )
            """)
    }

    @Test func ofTwoInversesTheStoredOneHasTheTable() throws {
        try check(
            model(
                Entity("Left").toMany("rights", "Right", inverse: "lefts", transient: true),
                Entity("Right").toMany("lefts", "Left", inverse: "rights")),
            only: "CREATE TABLE Z_",
            """
            CREATE TABLE Z_2LEFTS ( Z_2RIGHTS INTEGER, Z_1LEFTS INTEGER, PRIMARY KEY (Z_2RIGHTS, Z_1LEFTS) )
            """)
    }

    @Test func compoundIndexesAreNamedByTheirProperties() throws {
        var document = document([Entity("Car").string("maker", "plate").index("byPlate", "plate", "maker")])
        document.entities[0].compoundIndexes = [["maker", "plate"], ["plate", "maker"]]
        try check(
            ModelCompiler.compile(document), only: "CREATE INDEX",
            """
            CREATE INDEX Z_Car_byPlate ON ZCAR (ZPLATE COLLATE BINARY ASC, ZMAKER COLLATE BINARY ASC)
            CREATE INDEX Z_Car_maker_plate ON ZCAR (ZMAKER COLLATE BINARY ASC, ZPLATE COLLATE BINARY ASC)
            """)
    }

    /// Both are left out, and what is left makes a store.
    @Test func indexesThatNoStoreCanHaveAreLeftOut() throws {
        let shelves = document([
            Entity("Shelf").string("title").toMany("books", "Book", inverse: "shelf")
                .index("byBooks", "books").index("byTitleAndBooks", "title", "books").index("byTitle", "title")
                .index("byTitle", "title", descending: true),
            Entity("Book").toOne("shelf", "Shelf", inverse: "books"),
        ])
        let model = try ModelCompiler.compile(shelves)
        try check(
            model, only: "CREATE INDEX Z_",
            "CREATE INDEX Z_Shelf_byTitle ON ZSHELF (ZTITLE COLLATE BINARY ASC)")
        var options = StoreOptions(path: nil)
        options.document = { shelves }
        let engine = try StoreEngine.open(model: model, options: options, makeDatabase: makeDatabase)
        #expect(try StoreVerifier.verify(engine.database, model: nil, path: nil) == [])
        let kept = try #require(try engine.cachedModelDocument().entities.first { $0.name == "Shelf" })
        #expect(kept.fetchIndexes.map(\.name) == ["byBooks", "byTitleAndBooks", "byTitle", "byTitle"])
    }

    @Test func markedAttributesOfOldModelsAreSortedWithoutCase() throws {
        let marked = ["tsID", "threadID", "ts_tagContainsMe"].reduce(Entity("MemberTag")) {
            $0.attribute($1, .string, indexed: true)
        }
        try check(
            model(marked), only: "CREATE INDEX",
            """
            CREATE INDEX Z_MemberTag_threadID ON ZMEMBERTAG (ZTHREADID COLLATE BINARY ASC)
            CREATE INDEX Z_MemberTag_ts_tagContainsMe ON ZMEMBERTAG (ZTS_TAGCONTAINSME COLLATE BINARY ASC)
            CREATE INDEX Z_MemberTag_tsID ON ZMEMBERTAG (ZTSID COLLATE BINARY ASC)
            """)
    }

    /// A cached model lists what its store has; a mark beside the list adds nothing.
    @Test func cachedModelsHaveOnlyTheIndexesTheyList() throws {
        var document = document([
            Entity("Contact").attribute("name", .string, indexed: true).index("byNameIndex", "name")
        ])
        document.origin = .cached
        try check(
            ModelCompiler.compile(document), only: "CREATE INDEX",
            "CREATE INDEX Z_Contact_byNameIndex ON ZCONTACT (ZNAME COLLATE BINARY ASC)")
        document.origin = .compiled
        #expect(
            try SchemaLayout.fresh(model: ModelCompiler.compile(document), entities: [0]).indexStatements().count == 2)
    }
}
