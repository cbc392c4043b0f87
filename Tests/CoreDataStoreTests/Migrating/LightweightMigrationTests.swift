import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Statements T3, T4, T5, T9 and T10.
@Suite struct LightweightMigrationTests {
    private func text(_ value: String) -> SQLValue { .text(value) }

    @Test func attributesAreAddedRemovedAndRenamed() throws {
        let old = model(
            entity("Book", attribute("title"), attribute("pages", .integer32), attribute("old")),
            entity("Shelf", attribute("label")))
        let new = model(
            entity(
                "Book", attribute("name").with { $0.renamingIdentifier = "title" }, attribute("pages", .integer32),
                attribute("stock", .integer16, default: "7"), attribute("note")),
            entity("Shelf", attribute("label")))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute(
                    "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES, ZOLD) VALUES (5, 1, 3, 'One', 10, 'x')")
                try $0.execute("INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 2, 1, 'A')")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 9 WHERE Z_ENT = 1")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT = 2")
            }
        }
        let plan = try #require(try store.migrate(to: new))
        #expect(plan.mapping.lines == ["Book: name was title; note is new; stock is new; old is removed"])
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZPAGES, ZSTOCK, ZNOTE FROM ZBOOK") == [
                [.integer(5), .integer(1), .integer(3), .text("One"), .integer(10), .integer(7), .null]
            ])
        #expect(try store.rows("SELECT ZLABEL FROM ZSHELF") == [[.text("A")]])
        // Keys are never given out again; the store is the same one.
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT") == [[.integer(9)], [.integer(1)]])
        #expect(try store.rows("SELECT Z_UUID FROM Z_METADATA") == [[.text("UUID")]])
        let metadata = try StoreEngine.metadata(options: DatabaseOptions(path: store.path), makeDatabase: makeDatabase)
        #expect(metadata.metadata.dictionary["Mine"] as? String == "kept")
        #expect(try store.migrate(to: new) == nil)
    }

    @Test func aTableThatDidNotChangeIsLeftAlone() throws {
        let old = model(entity("Book", attribute("title")), entity("Shelf", attribute("label")))
        let new = model(entity("Book", attribute("title")), entity("Shelf", attribute("label"), attribute("place")))
        let store = try MigratedStore(old)
        let plan = try #require(try store.migrate(to: new))
        let texts = try plan.steps.flatMap { try $0.texts(in: .sqlite) }.map(\.sql)
        #expect(
            !texts.contains { $0.contains("TABLE ZBOOK") || $0.contains("INTO ZBOOK") || $0.hasPrefix("UPDATE ZBOOK") })
        #expect(try store.problems(new) == [])
    }

    @Test func entitiesAreAddedRemovedRenamedAndRenumbered() throws {
        let old = model(
            entity(
                "Book", attribute("title"), toOne("shelf", "Shelf", inverse: "books"),
                toMany("tags", "Tag", inverse: "books")),
            entity("Comic", parent: "Book", attribute("artist")),
            entity("Loan", attribute("day", .date), toOne("book", "Book")),
            entity("Shelf", attribute("label"), toMany("books", "Book", inverse: "shelf")),
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
        let new = model(
            entity("Author", attribute("name")),
            entity(
                "Book", attribute("title"), toOne("shelf", "Rack", inverse: "books"),
                toMany("tags", "Tag", inverse: "books")),
            entity("Comic", parent: "Book", attribute("artist")),
            entity("Loan", attribute("day", .date), toOne("book", "Book")),
            entity("Rack", attribute("label"), toMany("books", "Book", inverse: "shelf"))
                .with { $0.renamingIdentifier = "Shelf" },
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute("INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 4, 1, 'A')")
                try $0.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSHELF) VALUES (1, 1, 1, 'One', 1)")
                try $0.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZARTIST) VALUES (2, 2, 1, 'Two', 'Ann')")
                try $0.execute(
                    "INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZBOOK, Z1_BOOK) VALUES (1, 3, 1, 2, 2), (2, 3, 1, 1, 1)")
                try $0.execute("INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 5, 1, 'red')")
                try $0.execute("INSERT INTO Z_1TAGS (Z_1BOOKS, Z_5TAGS) VALUES (1, 1), (2, 1)")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
            }
        }
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT Z_ENT, ZTITLE, ZSHELF, ZARTIST FROM ZBOOK") == [
                [.integer(2), .text("One"), .integer(1), .null], [.integer(3), .text("Two"), .null, .text("Ann")],
            ])
        #expect(
            try store.rows("SELECT ZBOOK, Z2_BOOK FROM ZLOAN") == [
                [.integer(2), .integer(3)], [.integer(1), .integer(2)],
            ])
        #expect(try store.rows("SELECT * FROM Z_2TAGS") == [[.integer(1), .integer(1)], [.integer(2), .integer(1)]])
        #expect(try store.rows("SELECT Z_ENT, ZLABEL FROM ZRACK") == [[.integer(5), .text("A")]])
        // Back again, without the comics: what led to them leads nowhere.
        let less = model(
            entity("Book", attribute("title"), toMany("tags", "Tag", inverse: "books")),
            entity("Loan", attribute("day", .date), toOne("book", "Book")),
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
        try store.migrate(to: less)
        #expect(try store.problems(less) == [])
        #expect(try store.rows("SELECT ZBOOK FROM ZLOAN") == [[.null], [.integer(1)]])
        #expect(try store.rows("SELECT * FROM Z_1TAGS") == [[.integer(1), .integer(1)]])
        #expect(try store.rows("SELECT Z_PK FROM ZBOOK") == [[.integer(1)]])
    }

    @Test func optionalAttributesBecomeRequiredWithTheirDefault() throws {
        let old = model(entity("Book", attribute("title"), attribute("stock", .integer16)))
        let new = model(
            entity(
                "Book", attribute("title"), attribute("stock", .integer16, default: "3", optional: false)))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZSTOCK) VALUES (1, 1, 1, 9), (2, 1, 1, NULL)")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
            }
        }
        try store.migrate(to: new)
        #expect(try store.rows("SELECT ZSTOCK FROM ZBOOK") == [[.integer(9)], [.integer(3)]])
        #expect(try store.problems(new) == [])
    }

    @Test func toOnesBecomeToManyAndOrderIsMade() throws {
        let old = model(
            entity("Book", toOne("author", "Author", inverse: "books"), toOne("owner", "Author")),
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")))
        let new = model(
            entity(
                "Book", toMany("author", "Author", inverse: "books", ordered: true),
                toMany("owner", "Author", inverse: "owned")),
            entity(
                "Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: true),
                toMany("owned", "Book", inverse: "owner")))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute(
                    "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann'), (2, 1, 1, 'Bob')")
                try $0.execute(
                    "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZOWNER) VALUES (1, 2, 1, 1, 2), (2, 2, 1, 1, NULL), (3, 2, 1, NULL, 2)"
                )
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 3")
            }
        }
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT Z_1AUTHOR, Z_2BOOKS, Z_FOK_1AUTHOR, Z_FOK_2BOOKS FROM Z_1BOOKS ORDER BY 2") == [
                [.integer(1), .integer(1), .integer(2048), .integer(2048)],
                [.integer(1), .integer(2), .integer(2048), .integer(3072)],
            ])
        #expect(
            try store.rows("SELECT Z_1OWNER, Z_2OWNED FROM Z_1OWNED ORDER BY 2") == [
                [.integer(2), .integer(1)], [.integer(2), .integer(3)],
            ])
    }

    /// T10
    @Test func duplicatesKeepAConstraintFromBeingAdded() throws {
        let old = model(entity("Book", attribute("code"), attribute("title")))
        let new = model(
            entity("Book", attribute("code"), attribute("title")).with { $0.uniquenessConstraints = [["code"]] })
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'a')")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
            }
        }
        let before = try store.dump()
        let failure = try #require(throws: MigrationFailure.self) { try store.migrate(to: new) }
        #expect(failure.kind == .constraint)
        #expect(failure.entity == "Book")
        #expect(failure.property == "code")
        #expect(try store.dump() == before)
        try store.execute(["UPDATE ZBOOK SET ZCODE = 'b' WHERE Z_PK = 2"])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
    }

    @Test(arguments: [
        (attribute("pages", .string), "changes its type"),
        (toOne("title", "Book"), "attribute before"),
    ])
    func whatCannotBeInferredIsNamed(property: PropertyElement, words: String) throws {
        let old = model(entity("Book", attribute("title"), attribute("pages", .integer16)))
        let new = model(entity("Book", property, attribute("other")))
        let store = try MigratedStore(old)
        let before = try store.dump()
        let failure = try #require(throws: MigrationFailure.self) { try store.migrate(to: new) }
        #expect(failure.kind == .notInferrable)
        #expect(failure.entity == "Book")
        #expect(failure.message.contains(words), "\(failure.message)")
        #expect(try store.dump() == before)
    }

    @Test(
        "134110: rows without a value for what has to have one are counted; where there are none nothing is in the way")
    func requiredValuesAreLookedFor() throws {
        let old = model(
            entity("Book", attribute("title"), attribute("pages", .integer16)), entity("Comic", parent: "Book"),
            entity("Shelf", attribute("place")))
        let new = model(
            entity(
                "Book", attribute("title"), attribute("pages", .integer16, optional: false),
                attribute("stock", .integer16, optional: false)), entity("Comic", parent: "Book"),
            entity("Shelf", attribute("place"), attribute("label", optional: false)))
        let store = try MigratedStore(old)
        try store.execute([
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZPAGES) VALUES (1, 1, 1, 9), (2, 1, 1, NULL), (3, 2, 1, NULL)",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 3",
        ])
        let before = try store.dump()
        let failure = try #require(throws: MigrationFailure.self) { try store.migrate(to: new) }
        #expect(failure.kind == .refused && failure.lacksValues)
        #expect(failure.entity == "Book" && failure.property == "pages" && failure.rowCount == 5)
        #expect(
            failure.message.hasPrefix(
                "'Book.pages' becomes required and has no default, and 2 objects have no value for it; 'Book.stock' is new, required and without default, and 3 objects have no value for it. Give it a default value"
            ), "\(failure.message)")
        #expect(try store.dump() == before)
        try store.execute(["DELETE FROM ZBOOK WHERE Z_PK > 0"])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
    }

    @Test func derivedAttributesIndexesAndConstraintsAreMade() throws {
        let old = model(
            entity("Book", attribute("title"), toMany("pages", "Page", inverse: "book")),
            entity("Page", attribute("number", .integer16), toOne("book", "Book", inverse: "pages")))
        var book = entity(
            "Book", attribute("title"), derived("count", .integer64, "pages.@count"),
            derived("plain", .string, "canonical:(title)"), toMany("pages", "Page", inverse: "book"))
        var index = FetchIndexElement(name: "byTitle")
        index.elements = [.init(propertyName: "title")]
        book.fetchIndexes = [index]
        let new = model(
            book, entity("Page", attribute("number", .integer16), toOne("book", "Book", inverse: "pages")))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute(
                    "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'ÉTÉ'), (2, 1, 1, NULL)")
                try $0.execute("INSERT INTO ZPAGE (Z_PK, Z_ENT, Z_OPT, ZBOOK) VALUES (1, 2, 1, 1), (2, 2, 1, 1)")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 2")
            }
        }
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT ZCOUNT, ZPLAIN FROM ZBOOK") == [[.integer(2), .text("ete")], [.integer(0), .null]])
    }

    /// U4 and T5: values move between rows and files only where the model asks for it.
    @Test func externalDataIsWrappedUnwrappedAndRemoved() throws {
        func external(_ name: String, _ isExternal: Bool) -> PropertyElement {
            attribute(name, .binaryData).with { property in
                var attribute = AttributeElement(type: .binaryData)
                attribute.allowsExternalBinaryDataStorage = isExternal
                property.kind = .attribute(attribute)
            }
        }
        let old = model(
            entity("Book", external("a", false), external("b", true), external("c", true), external("d", true)))
        let new = model(entity("Book", external("a", true), external("b", false), external("d", true)))
        let store = try MigratedStore(old)
        let names = (0..<3).map { _ in UUID().uuidString }
        let folder = try #require(ExternalData(storePath: store.path).folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (index, name) in names.enumerated() {
            try Data([UInt8(index), 0, 9]).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        func hex(_ name: String) -> String { "X'02" + Data(name.utf8).hex + "00'" }
        try store.execute([
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC, ZD) VALUES (1, 1, 1, X'00FF00', \(hex(names[0])), \(hex(names[1])), \(hex(names[2]))), (2, 1, 1, NULL, X'010203', NULL, X'0105')",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 2",
        ])
        try store.migrate(to: new)
        #expect(
            try store.rows("SELECT HEX(ZA), HEX(ZB) FROM ZBOOK") == [
                [.text("0100FF00"), .text("000009")], [.text(""), .text("0203")],
            ])
        #expect(
            try store.rows("SELECT typeof(ZA), typeof(ZB) FROM ZBOOK WHERE Z_PK = 1") == [
                [.text("blob"), .text("blob")]
            ])
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder)) == [names[2]])
        #expect(try store.problems(new) == [])
    }

    @Test func historyIsKeptAndSpeaksOfWhatThereIsNow() throws {
        let old = model(
            entity("Book", attribute("b"), attribute("c")), entity("Loan", attribute("x")))
        let new = model(
            entity("Author", attribute("name")), entity("Book", attribute("a"), attribute("b"), attribute("c")))
        let store = try MigratedStore(old, tracksHistory: true) { engine in
            try engine.database.write {
                try $0.execute("INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP) VALUES (1, 16002, 1)")
                try $0.execute(
                    "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (16001, 'CHANGE', 0, 4), (16002, 'TRANSACTION', 0, 1), (16003, 'TRANSACTIONSTRING', 0, 0)"
                )
                try $0.execute(
                    "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) VALUES (1, 16001, 0, 1, 7, 1, NULL), (2, 16001, 1, 1, 7, 1, X'40'), (3, 16001, 1, 1, 7, 1, X'80'), (4, 16001, 0, 2, 1, 1, NULL)"
                )
            }
        }
        try store.migrate(to: new)
        #expect(
            try store.rows("SELECT Z_PK, ZENTITY, HEX(ZCOLUMNS) FROM ACHANGE") == [
                [.integer(1), .integer(2), .text("")], [.integer(2), .integer(2), .text("20")],
                [.integer(3), .integer(2), .text("40")],
            ])
        #expect(try store.rows("SELECT COUNT(*) FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [[.integer(3)]])
        // The migration is a transaction without changes, whose author says what it was.
        let authors = try store.rows(
            "SELECT t.Z_PK, s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS")
        guard authors.count == 1, case .text(let author) = authors[0][1] else {
            Issue.record("The authors are \(authors).")
            return
        }
        #expect(authors[0][0] == .integer(2))
        #expect(author.hasPrefix("com.apple.coredata.schemamigrator: lightweight migration from model with digest {"))
        #expect(
            try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16002") == [[.integer(2)]])
        #expect(
            try store.rows("SELECT MAX(Z_PK) FROM ATRANSACTIONSTRING")
                == store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16003"))
        #expect(try store.problems(new) == [])
    }

    @Test func anEntityMovesOutOfItsHierarchyAndAnotherGetsAParent() throws {
        let old = model(
            entity("Medium", attribute("title"), attribute("price", .double)),
            entity("Book", parent: "Medium", attribute("pages", .integer16)),
            entity("Film", parent: "Medium", attribute("minutes", .integer16)),
            entity("Loan", toOne("what", "Medium")), entity("Toy", attribute("name")))
        let new = model(
            entity("Medium", attribute("title"), attribute("price", .double)),
            entity("Book", parent: "Medium", attribute("pages", .integer16)),
            entity("Film", attribute("title"), attribute("minutes", .integer16)),
            entity("Loan", toOne("what", "Medium")),
            entity("Thing", abstract: true, attribute("name")), entity("Toy", parent: "Thing"))
        let store = try MigratedStore(old) { engine in
            try engine.database.write {
                try $0.execute(
                    "INSERT INTO ZMEDIUM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPRICE, ZPAGES, ZMINUTES) VALUES (1, 3, 1, 'B', 1.5, 9, NULL), (2, 4, 1, 'F', 2.5, NULL, 90), (3, 2, 1, 'M', 3.5, NULL, NULL)"
                )
                try $0.execute(
                    "INSERT INTO ZLOAN (Z_PK, Z_ENT, Z_OPT, ZWHAT, Z2_WHAT) VALUES (1, 1, 1, 1, 3), (2, 1, 1, 2, 4), (3, 1, 1, 3, 2)"
                )
                try $0.execute("INSERT INTO ZTOY (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (4, 5, 1, 'T')")
                try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 8 WHERE Z_SUPER = 0")
            }
        }
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT Z_PK, ZTITLE, ZMINUTES FROM ZFILM") == [[.integer(2), .text("F"), .integer(90)]])
        #expect(
            try store.rows("SELECT Z_PK, ZPRICE, ZPAGES FROM ZMEDIUM") == [
                [.integer(1), .real(1.5), .integer(9)], [.integer(3), .real(3.5), .null],
            ])
        #expect(
            try store.rows("SELECT ZWHAT, Z3_WHAT FROM ZLOAN") == [
                [.integer(1), .integer(4)], [.null, .null], [.integer(3), .integer(3)],
            ])
        #expect(try store.rows("SELECT Z_PK, ZNAME FROM ZTHING") == [[.integer(4), .text("T")]])
        #expect(
            try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME IN ('Film', 'Medium', 'Thing')").allSatisfy {
                $0 == [.integer(8)]
            })
    }

    @Test func aMigrationCanBeCancelled() throws {
        struct Enough: Error {}
        let old = model(entity("Book", attribute("title")))
        let new = model(entity("Book", attribute("title"), attribute("isbn")))
        let store = try MigratedStore(old)
        let before = try store.dump()
        let migration = try MigratedStore.migration(to: new, progress: { done, _ in if done == 3 { throw Enough() } })
        let failure = try #require(throws: MigrationFailure.self) {
            try migration.run(DatabaseOptions(path: store.path))
        }
        #expect(failure.kind == .cancelled)
        #expect(failure.underlying is Enough)
        #expect(try store.dump() == before)
    }

    /// T2
    @Test func withoutItsModelAStoreIsNotMigrated() throws {
        let old = model(entity("Book", attribute("title")))
        let new = model(entity("Book", attribute("title"), attribute("isbn")))
        let store = try MigratedStore(old)
        try store.execute(["DELETE FROM Z_MODELCACHE"])
        let failure = try #require(throws: MigrationFailure.self) { try store.migrate(to: new) }
        #expect(failure.kind == .missingSourceModel)
        try store.migrate(to: new, source: old)
        #expect(try store.problems(new) == [])
    }
}
