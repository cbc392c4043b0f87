import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Testing

/// Texts that Apple's Core Data wrote for these models (store-format §3–§6), and ours where none were to be had.
@Suite struct SchemaStatementsTests {
    @Test func orderedSelfReferencesHaveOrderColumns() throws {
        try check(
            model(
                Entity("BookmarkEntity").boolean("isFavorite", "isFolder").string("title", "url", "uuid")
                    .toMany("children", "BookmarkEntity", inverse: "parent", ordered: true)
                    .toOne("favoriteFolder", "BookmarkEntity", inverse: "favorites")
                    .toMany("favorites", "BookmarkEntity", inverse: "favoriteFolder", ordered: true)
                    .toOne("parent", "BookmarkEntity", inverse: "children")
                    .index("byUUID", "uuid").index("byURL", "url"),
                compiled: true),
            """
            CREATE TABLE ZBOOKMARKENTITY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISFAVORITE INTEGER, ZISFOLDER INTEGER, ZFAVORITEFOLDER INTEGER, ZPARENT INTEGER, Z_FOK_FAVORITEFOLDER INTEGER, Z_FOK_PARENT INTEGER, ZTITLE VARCHAR, ZURL VARCHAR, ZUUID VARCHAR )
            CREATE INDEX ZBOOKMARKENTITY_ZFAVORITEFOLDER_INDEX ON ZBOOKMARKENTITY (ZFAVORITEFOLDER)
            CREATE INDEX ZBOOKMARKENTITY_ZPARENT_INDEX ON ZBOOKMARKENTITY (ZPARENT)
            CREATE INDEX Z_BookmarkEntity_uuid ON ZBOOKMARKENTITY (ZUUID COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_url ON ZBOOKMARKENTITY (ZURL COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_byUUID ON ZBOOKMARKENTITY (ZUUID COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_byURL ON ZBOOKMARKENTITY (ZURL COLLATE BINARY ASC)
            """)
    }

    @Test func orderedManyToManyOnItself() throws {
        let favorites = try model(
            Entity("BookmarkEntity").boolean("isFolder", "isPendingDeletion").attribute("modifiedAt", .date)
                .string("title", "url", "uuid")
                .toMany("children", "BookmarkEntity", inverse: "parent", ordered: true)
                .toMany("favoriteFolders", "BookmarkEntity", inverse: "favorites")
                .toMany("favorites", "BookmarkEntity", inverse: "favoriteFolders", ordered: true)
                .toOne("parent", "BookmarkEntity", inverse: "children")
                .index("byUUID", "uuid", "isPendingDeletion").index("byURL", "url", "isPendingDeletion")
                .index("byIsPendingDeletion", "isPendingDeletion"),
            compiled: true)
        try check(
            favorites,
            """
            CREATE TABLE ZBOOKMARKENTITY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISFOLDER INTEGER, ZISPENDINGDELETION INTEGER, ZPARENT INTEGER, Z_FOK_PARENT INTEGER, ZMODIFIEDAT TIMESTAMP, ZTITLE VARCHAR, ZURL VARCHAR, ZUUID VARCHAR )
            CREATE TABLE Z_1FAVORITES ( Z_1FAVORITEFOLDERS INTEGER, Z_1FAVORITES INTEGER, Z_FOK_1FAVORITES INTEGER, PRIMARY KEY (Z_1FAVORITEFOLDERS, Z_1FAVORITES) )
            CREATE INDEX ZBOOKMARKENTITY_ZPARENT_INDEX ON ZBOOKMARKENTITY (ZPARENT)
            CREATE INDEX Z_1FAVORITES_Z_1FAVORITES_INDEX ON Z_1FAVORITES (Z_1FAVORITES, Z_1FAVORITEFOLDERS)
            CREATE INDEX Z_BookmarkEntity_isPendingDeletion ON ZBOOKMARKENTITY (ZISPENDINGDELETION COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_byUUID ON ZBOOKMARKENTITY (ZUUID COLLATE BINARY ASC, ZISPENDINGDELETION COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_byURL ON ZBOOKMARKENTITY (ZURL COLLATE BINARY ASC, ZISPENDINGDELETION COLLATE BINARY ASC)
            CREATE INDEX Z_BookmarkEntity_byIsPendingDeletion ON ZBOOKMARKENTITY (ZISPENDINGDELETION COLLATE BINARY ASC)
            """)
        let layout = SchemaLayout.fresh(model: favorites, entities: [0]).layout
        let bookmark = try #require(favorites.entity(named: "BookmarkEntity"))
        let slots = (
            try #require(bookmark.slotByName["favorites"]), try #require(bookmark.slotByName["favoriteFolders"])
        )
        #expect(
            layout.joinTables[.init(entity: 0, slot: slots.0)]
                == .init(
                    name: "Z_1FAVORITES", ownerColumn: "Z_1FAVORITEFOLDERS", destinationColumn: "Z_1FAVORITES",
                    orderColumn: "Z_FOK_1FAVORITES"))
        #expect(
            layout.joinTables[.init(entity: 0, slot: slots.1)]
                == .init(
                    name: "Z_1FAVORITES", ownerColumn: "Z_1FAVORITES", destinationColumn: "Z_1FAVORITEFOLDERS",
                    inverseOrderColumn: "Z_FOK_1FAVORITES"))
    }

    @Test func inheritancePolymorphismAndDerivedCount() throws {
        try check(
            model(
                Entity("Book").attribute("pagesCount", .integer64, derived: "pages.@count")
                    .attribute("publishedAt", .date).attribute("price", .decimal).string("title")
                    .attribute("uniqueID", .uuid).attribute("frontCover", .transformable)
                    .toOne("author", "Author", inverse: "books").toMany("pages", "Page", inverse: "book")
                    .unique("uniqueID"),
                Entity("GraphicNovel", parent: "Book").boolean("isBlackAndWhite"),
                Entity("Feedback").attribute("rating", .double).string("authorAlias", "comment")
                    .attribute("bookID", .uuid),
                Entity("Page").boolean("isBookmarked").attribute("number", .integer32)
                    .attribute("content", .transformable).toOne("book", "Book", inverse: "pages"),
                Entity("Writer", isAbstract: true).attribute("age", .integer16),
                Entity("Author", parent: "Writer").string("alias").toMany("books", "Book", inverse: "author")
                    .unique("alias")),
            """
            CREATE TABLE ZBOOK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGESCOUNT INTEGER, ZAUTHOR INTEGER, ZISBLACKANDWHITE INTEGER, ZPUBLISHEDAT TIMESTAMP, ZPRICE DECIMAL, ZTITLE VARCHAR, ZUNIQUEID BLOB, ZFRONTCOVER BLOB )
            CREATE TABLE ZFEEDBACK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING FLOAT, ZAUTHORALIAS VARCHAR, ZCOMMENT VARCHAR, ZBOOKID BLOB )
            CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISBOOKMARKED INTEGER, ZNUMBER INTEGER, ZBOOK INTEGER, Z1_BOOK INTEGER, ZCONTENT BLOB )
            CREATE TABLE ZWRITER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZALIAS VARCHAR )
            CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR)
            CREATE INDEX ZBOOK_Z_ENT_INDEX ON ZBOOK (Z_ENT)
            CREATE UNIQUE INDEX Z_Book_UNIQUE_uniqueID ON ZBOOK (ZUNIQUEID COLLATE BINARY ASC)
            CREATE INDEX ZPAGE_ZBOOK_INDEX ON ZPAGE (ZBOOK)
            CREATE INDEX ZWRITER_Z_ENT_INDEX ON ZWRITER (Z_ENT)
            CREATE UNIQUE INDEX Z_Author_UNIQUE_alias ON ZWRITER (ZALIAS COLLATE BINARY ASC)
            CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON ZPAGE FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = IFNULL(ZPAGESCOUNT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END
            CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_INCREMENT AFTER UPDATE OF ZBOOK ON ZPAGE FOR EACH ROW WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT + 1 WHERE Z_PK = NEW.ZBOOK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END
            CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_UPDATE_DECREMENT AFTER UPDATE OF ZBOOK ON ZPAGE FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT - 1 WHERE Z_PK = OLD.ZBOOK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = OLD.ZBOOK; END
            CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_DELETE AFTER DELETE ON ZPAGE FOR EACH ROW WHEN (OLD.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = ZPAGESCOUNT - 1 WHERE Z_PK = OLD.ZBOOK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = OLD.ZBOOK; END
            CREATE TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = (SELECT IFNULL(COUNT(ZBOOK), 0) FROM ZPAGE WHERE ZBOOK = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) FROM ZBOOK WHERE Z_PK = NEW.Z_PK; END
            """)
    }

    @Test func derivedKeyPathCopiesThroughAToOne() throws {
        try check(
            model(
                Entity("ManagedAccount").string("serverId").toMany("chats", "ManagedChat", inverse: "otherAccount"),
                Entity("ManagedChat").attribute("otherAccountId", .string, derived: "otherAccount.serverId")
                    .toOne("otherAccount", "ManagedAccount", inverse: "chats")),
            only: "CREATE TRIGGER",
            """
            CREATE TRIGGER Z_DA_ZMANAGEDCHAT_ManagedChat_otherAccountId_SOURCE_INSERT AFTER INSERT ON ZMANAGEDCHAT FOR EACH ROW BEGIN UPDATE ZMANAGEDCHAT SET ZOTHERACCOUNTID = (SELECT ZSERVERID FROM ZMANAGEDACCOUNT WHERE Z_PK = NEW.ZOTHERACCOUNT) WHERE Z_PK = NEW.Z_PK; SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZMANAGEDCHAT', Z_ENT, Z_PK, 'otherAccountId', ZOTHERACCOUNTID) FROM ZMANAGEDCHAT WHERE Z_PK = NEW.Z_PK; END
            CREATE TRIGGER Z_DA_ZMANAGEDCHAT_ManagedChat_otherAccountId_SOURCE_UPDATE AFTER UPDATE OF ZOTHERACCOUNT ON ZMANAGEDCHAT FOR EACH ROW BEGIN UPDATE ZMANAGEDCHAT SET ZOTHERACCOUNTID = (SELECT ZSERVERID FROM ZMANAGEDACCOUNT WHERE Z_PK = NEW.ZOTHERACCOUNT) WHERE Z_PK = NEW.Z_PK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZMANAGEDCHAT', Z_ENT, Z_PK, 'otherAccountId', ZOTHERACCOUNTID) FROM ZMANAGEDCHAT WHERE Z_PK = NEW.Z_PK; END
            CREATE TRIGGER Z_DA_ZMANAGEDACCOUNT_ManagedChat_otherAccountId_PARAMETER_INSERT AFTER INSERT ON ZMANAGEDACCOUNT FOR EACH ROW BEGIN UPDATE ZMANAGEDCHAT SET ZOTHERACCOUNTID = NEW.ZSERVERID WHERE ZOTHERACCOUNT = NEW.Z_PK; SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZMANAGEDCHAT', Z_ENT, Z_PK, 'otherAccountId', ZOTHERACCOUNTID) FROM ZMANAGEDCHAT WHERE ZOTHERACCOUNT = NEW.Z_PK; END
            CREATE TRIGGER Z_DA_ZMANAGEDACCOUNT_ManagedChat_otherAccountId_PARAMETER_UPDATE AFTER UPDATE OF ZSERVERID ON ZMANAGEDACCOUNT FOR EACH ROW BEGIN UPDATE ZMANAGEDCHAT SET ZOTHERACCOUNTID = NEW.ZSERVERID WHERE ZOTHERACCOUNT = NEW.Z_PK; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZMANAGEDCHAT', Z_ENT, Z_PK, 'otherAccountId', ZOTHERACCOUNTID) FROM ZMANAGEDCHAT WHERE ZOTHERACCOUNT = NEW.Z_PK; END
            """)
    }

    @Test(arguments: [
        ("canonical:(name)", 2), ("uppercase:(name)", 2), ("lowercase:(unit.name)", 4), ("now()", 2), ("name", 2),
        ("parts.@sum.price", 5), ("sum:(parts.price)", 5), ("parts.price.@max", 5), ("min:(parts.price)", 5),
        ("tags.@count", 3), ("count:(parts)", 5),
    ])
    func otherDerivationsHaveTriggers(expression: String, count: Int) throws {
        let statements = try SchemaLayout.fresh(model: items(derived: expression), entities: [0, 1, 2, 3])
            .triggerStatements()
        #expect(statements.count == count)
    }

    @Test(arguments: [
        "shout:(name)", "unit.maker.name", "nothing", "unit.@count", "parts.@sum", "parts.@spread.price", "@count",
        "canonical:(parts.@sum.price)", "tags.@sum.name",
    ])
    func impossibleDerivationsNameThemselves(expression: String) throws {
        let failure = try #require(throws: StoreFailure.self) {
            try SchemaLayout.fresh(model: items(derived: expression), entities: [0, 1, 2, 3]).statements()
        }
        #expect(failure.kind == .unsupportedModel)
        #expect(failure.message.contains("'derived' of entity 'Item'"))
        #expect(failure.entity == "Item" && failure.property == "derived")
    }

    private func items(derived: String) throws -> CompiledModel {
        try model(
            Entity("Item").string("name").attribute("derived", .string, derived: derived)
                .toOne("unit", "Unit", inverse: "items").toMany("parts", "Part", inverse: "item")
                .toMany("tags", "Tag", inverse: "items"),
            Entity("Part").attribute("price", .double).toOne("item", "Item", inverse: "parts"),
            Entity("Tag").string("name").toMany("items", "Item", inverse: "tags"),
            Entity("Unit").string("name").toMany("items", "Item", inverse: "unit"))
    }
}

/// Checks the statements without the bookkeeping tables, or those that begin with `only`.
func check(
    _ model: CompiledModel, entities: [Int]? = nil, only prefix: String = "", _ expected: String,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) throws {
    let schema = SchemaLayout.fresh(model: model, entities: entities ?? Array(model.entities.indices))
    let statements = try schema.statements().dropLast(3).map { try SchemaRenderer.text($0) }.filter {
        $0.hasPrefix(prefix)
    }
    #expect(statements.joined(separator: "\n") == expected, sourceLocation: sourceLocation)
}
