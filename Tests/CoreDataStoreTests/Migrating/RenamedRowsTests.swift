import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Statement T4, with rows.
@Suite struct RenamedRowsTests {
    private func renamed(_ property: PropertyElement, _ identifier: String) -> PropertyElement {
        property.with { $0.renamingIdentifier = identifier }
    }

    private func renamed(_ entity: EntityElement, _ identifier: String) -> EntityElement {
        entity.with { $0.renamingIdentifier = identifier }
    }

    @Test("T4: over versions each of which names the one before", arguments: [true, false])
    func chains(isStepByStep: Bool) throws {
        let first = model(entity("Book", attribute("title"), attribute("note")))
        // The second version's own identifier is the first's name; the third names the second's name.
        let second = model(
            renamed(entity("Volume", renamed(attribute("name"), "title"), attribute("note")), "Book"))
        let third = model(
            renamed(
                entity("Work", renamed(attribute("label"), isStepByStep ? "name" : "title"), attribute("note")),
                isStepByStep ? "Volume" : "Book"))
        let store = try MigratedStore(first)
        try store.execute([
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZNOTE) VALUES (1, 1, 1, 'One', 'n')",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 1",
        ])
        if isStepByStep { try store.migrate(to: second) }
        try store.migrate(to: third)
        #expect(try store.problems(third) == [])
        #expect(try store.rows("SELECT ZLABEL, ZNOTE FROM ZWORK") == [[.text("One"), .text("n")]])
    }

    @Test("T4: names of attributes and of entities that change places")
    func swaps() throws {
        let old = model(
            entity("A", attribute("x"), attribute("y")), entity("B", attribute("x"), attribute("y")),
            entity("C", attribute("x")))
        let new = model(
            renamed(entity("A", renamed(attribute("x"), "y"), renamed(attribute("y"), "x")), "B"),
            renamed(entity("B", renamed(attribute("x"), "y"), renamed(attribute("y"), "x")), "A"),
            // A new one, though there was one of its name, which is now D.
            renamed(entity("C", attribute("x")), "C of its own"), renamed(entity("D", attribute("x")), "C"))
        let store = try MigratedStore(old)
        try store.execute([
            "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 1, 1, 'ax', 'ay')",
            "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 2, 1, 'bx', 'by'), (2, 2, 1, 'bx2', NULL)",
            "INSERT INTO ZC (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 3, 1, 'c')",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 2",
        ])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT ZX, ZY FROM ZA ORDER BY Z_PK") == [
                [.text("by"), .text("bx")], [.null, .text("bx2")],
            ])
        #expect(try store.rows("SELECT ZX, ZY FROM ZB") == [[.text("ay"), .text("ax")]])
        #expect(try store.rows("SELECT ZX FROM ZC") == [])
        #expect(try store.rows("SELECT ZX FROM ZD") == [[.text("c")]])
    }

    @Test("T4: a many-to-many relationship, renamed at either side or both, ordered or not", arguments: 0..<8)
    func pairs(number: Int) throws {
        let (near, far, ordered) = (number & 1 != 0, number & 2 != 0, number & 4 != 0)
        let old = model(
            entity("Book", attribute("title"), toMany("tags", "Tag", inverse: "books", ordered: ordered)),
            entity("Comic", parent: "Book"),
            entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
        let (tags, books) = (near ? "labels" : "tags", far ? "works" : "books")
        let new = model(
            entity(
                "Book", attribute("title"),
                renamed(toMany(tags, "Tag", inverse: books, ordered: ordered), "tags")),
            entity("Comic", parent: "Book"),
            entity("Tag", attribute("name"), renamed(toMany(books, "Book", inverse: tags), "books")))
        let store = try MigratedStore(old)
        try store.execute([
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 1, 1, 'One'), (2, 2, 1, 'Two')",
            "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'red'), (2, 3, 1, 'blue')",
            ordered
                ? "INSERT INTO Z_1TAGS (Z_1BOOKS, Z_3TAGS, Z_FOK_3TAGS) VALUES (1, 1, 2048), (1, 2, 1024), (2, 2, 1024)"
                : "INSERT INTO Z_1TAGS (Z_1BOOKS, Z_3TAGS) VALUES (1, 1), (1, 2), (2, 2)",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 2",
        ])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        let table = "Z_1\(tags.uppercased())"
        let column = "Z_3\(tags.uppercased())"
        let third = ordered ? "Z_FOK_3\(tags.uppercased())" : column
        let rows = try store.rows(
            "SELECT \(identifier: "Z_1\(books.uppercased())"), \(identifier: column), \(identifier: third) FROM \(identifier: table) ORDER BY 1, 2"
        )
        let expected: [(Int64, Int64, Int64)] = [(1, 1, 2048), (1, 2, 1024), (2, 2, 1024)]
        #expect(rows == expected.map { [.integer($0), .integer($1), .integer(ordered ? $2 : $1)] })
    }

    @Test("T4: relationships of one kind that change places, with their inverses and those without")
    func swappedRelationships() throws {
        let old = model(
            entity(
                "Book", toOne("author", "Person", inverse: "written"), toOne("owner", "Person", inverse: "owned"),
                toMany("a", "Person"), toMany("b", "Person")),
            entity(
                "Person", toMany("written", "Book", inverse: "author"),
                toMany("owned", "Book", inverse: "owner", ordered: true)))
        let new = model(
            entity(
                "Book", renamed(toOne("author", "Person", inverse: "mine"), "owner"),
                renamed(toOne("owner", "Person", inverse: "written"), "author"),
                renamed(toMany("a", "Person"), "b"), renamed(toMany("b", "Person"), "a")),
            entity(
                "Person", toMany("written", "Book", inverse: "owner"),
                renamed(toMany("mine", "Book", inverse: "author", ordered: true), "owned")))
        let store = try MigratedStore(old)
        // The columns of to-manys without inverse, by the numbers of their owners.
        let (a, b) = ("Z1A", "Z1B")
        try store.execute([
            "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, \(a), \(b)) VALUES (1, 2, 1, 1, 2), (2, 2, 1, NULL, 1)",
            "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZOWNER, Z_FOK_OWNER) VALUES (1, 1, 1, 1, 2, 1024), (2, 1, 1, 2, 1, 2048)",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 2",
        ])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT ZAUTHOR, ZOWNER, Z_FOK_AUTHOR FROM ZBOOK ORDER BY Z_PK") == [
                [.integer(2), .integer(1), .integer(1024)], [.integer(1), .integer(2), .integer(2048)],
            ])
        #expect(
            try store.rows("SELECT \(identifier: a), \(identifier: b) FROM ZPERSON ORDER BY Z_PK") == [
                [.integer(2), .integer(1)], [.integer(1), .null],
            ])
    }

    @Test("T4: in entities below another, and moved up under another name")
    func hierarchies() throws {
        let old = model(
            entity("Item", attribute("title")), entity("Book", parent: "Item", attribute("pages", .integer32)),
            entity("Film", parent: "Item", attribute("pages", .integer32)))
        let new = model(
            entity("Item", renamed(attribute("name"), "title"), renamed(attribute("length", .integer32), "pages")),
            renamed(entity("Volume", parent: "Item"), "Book"), entity("Film", parent: "Item"))
        let store = try MigratedStore(old)
        let columns = try store.rows(
            "SELECT name FROM pragma_table_info('ZITEM') WHERE name LIKE 'ZPAGES%' ORDER BY name")
        #expect(columns == [[.text("ZPAGES")], [.text("ZPAGES1")]])
        try store.execute([
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES) VALUES (1, 2, 1, 'One', 10)",
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES1) VALUES (2, 3, 1, 'Two', 20)",
            "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (3, 1, 1, 'Three')",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = 3",
        ])
        try store.migrate(to: new)
        #expect(try store.problems(new) == [])
        #expect(
            try store.rows("SELECT ZNAME, ZLENGTH FROM ZITEM ORDER BY Z_PK") == [
                [.text("One"), .integer(10)], [.text("Two"), .integer(20)], [.text("Three"), .null],
            ])
    }
}
