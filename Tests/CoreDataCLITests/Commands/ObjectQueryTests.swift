import Foundation
import TestSupport
import Testing

/// Entities, single objects and constants, as `coredata query` reads and prints them.
@Suite struct ObjectQueryTests {
    private static let entities = """
        <entity name="Person" isAbstract="YES"><attribute name="name" optional="YES" attributeType="String"/></entity>
        <entity name="Author" parentEntity="Person">
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" \
        inverseEntity="Book"/>
        </entity>
        <entity name="Book">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="printed" optional="YES" attributeType="Date"/>
            <attribute name="code" optional="YES" attributeType="UUID"/>
            <attribute name="cover" optional="YES" attributeType="Binary"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <attribute name="isSold" optional="YES" attributeType="Boolean"/>
            <attribute name="home" optional="YES" attributeType="URI"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" \
        inverseEntity="Author"/>
        </entity>
        """

    private let scratch: Scratch
    private let store: String

    init() throws {
        scratch = try Scratch()
        store = scratch.path("store.sqlite")
        try FileManager.default.copyItem(atPath: Self.library.get(), toPath: store)
    }

    /// The store of three books that each test has a copy of.
    private static let library = Result { () throws -> String in
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: entities)
        let file = try scratch.write(
            """
            {"title": "A", "printed": "2024-05-01T10:00:00Z", "code": "6F997B6B-4C1E-4A5B-9C3D-0123456789AB", \
            "cover": "AQID", "price": 10.10, "pages": 100, "isSold": true, "home": "https://a.b/c", "author": "Le Guin"}
            {"title": "B", "printed": "2023-05-01", "price": 5, "pages": 50, "isSold": false, "author": "Le Guin"}
            {"title": "C", "author": "Lem"}
            """, to: "books.ndjson")
        let run = try CommandRun.coredata("import", store, file, "--entity", "Book", "--unique", "Author.name")
        try #require(run.status == 0, "\(run.error)")
        let kept = try Fixtures.temporaryFolder().appendingPathComponent("store.sqlite").path
        try FileManager.default.copyItem(atPath: store, toPath: kept)
        return kept
    }

    private func query(_ arguments: String...) throws -> CommandRun {
        try CommandRun.run(CommandRun.executable(), ["query", store] + arguments)
    }

    // MARK: Entities

    @Test func withoutAnEntityTheEntitiesAreListedAsQueriesCountThem() throws {
        #expect(
            try query().output == """
                entity    objects
                --------  -------
                Book            3
                Person          2
                  Author        2

                3 entities

                """)
        #expect(
            try query("--format", "ndjson").output == """
                {"entity": "Book", "parent": null, "objects": 3}
                {"entity": "Person", "parent": null, "objects": 2}
                {"entity": "Author", "parent": "Person", "objects": 2}

                """)
        #expect(try query("person", "--count").output == "2\n")
    }

    // MARK: Objects

    @Test func printedIDsCanBeLookedUp() throws {
        let ids = try query("Book", "--select", "objectID", "--sort", "title", "--format", "csv").lines
        let id = String(try #require(ids.dropFirst().first))
        #expect(id.hasPrefix("x-coredata://"))
        let whole = try query(id)
        #expect(whole.lines.first == "objectID  \(id)", "\(whole.error)")
        #expect(whole.output.contains("\ntitle     A\n"))
        let short = id.split(separator: "/").suffix(2).joined(separator: "/")
        #expect(try query(short).output == whole.output)
        #expect(
            try query(short, "--select", "title,author.name", "--format", "json").output
                == "[\n  {\"title\": \"A\", \"author.name\": \"Le Guin\"}\n]\n")
        #expect(try query("Book", "--where", "SELF == '\(id)'", "--select", "title").lines.last == "1 object")
        #expect(try query("Book", "--where", "SELF IN {'\(id)', '\(short)'}", "--count").output == "1\n")
        // The members of a to-many are told, which a row of a table has no room for.
        let author = try query("Author/p1")
        #expect(author.lines.last?.contains(short) == true && author.lines.last?.contains(id) == false)
        // A row of a table with IDs has room in 80 columns.
        let table = try query("Book", "--sort", "title", "--select", "objectID,author,title")
        #expect(table.lines.dropFirst(2).first?.split(separator: " ").map(String.init) == [short, "Author/p1", "A"])
        // An abstract entity's object is one of a subentity.
        #expect(try query("Person/p1").output == query("Author/p1").output)
    }

    // MARK: Columns

    @Test func columnsCountAndSumMembers() throws {
        #expect(
            try query(
                "Author", "--sort", "name", "--select",
                "name,books.@count,books.@sum.price,books.@avg.pages,books.@max.printed,books.@min.title", "--format",
                "csv"
            ).output == """
                name,books.@count,books.@sum.price,books.@avg.pages,books.@max.printed,books.@min.title
                Le Guin,2,15.1,75,2024-05-01T10:00:00Z,A
                Lem,1,0,,,C

                """)
        #expect(
            try query("Author", "--select", "NAME,Books.@Count".replacing("C", with: "c")).lines.last == "2 objects")
        #expect(
            try query("Book", "--where", "title == 'C'", "--select", "author.objectID", "--format", "csv").lines.last?
                .hasSuffix("/Author/p2") == true)
    }

    // MARK: Constants

    @Test(
        arguments: Trials.some(
            of: [
                ("printed > '2024-01-01'", 1), ("printed >= '2024-05-01T12:00+02:00'", 1), ("'2024' < title", 3),
                ("printed BETWEEN {'2023-01-01', '2023-12-31'}", 1), ("printed IN {'2023-05-01', '2022-01-01'}", 1),
                ("NOT printed == '2023-05-01'", 2), ("printed == nil", 1),
                ("code == '6f997b6b-4c1e-4a5b-9c3d-0123456789ab'", 1),
                ("'6F997B6B-4C1E-4A5B-9C3D-0123456789AB' == code", 1),
                ("cover == 'AQID'", 1), ("cover == '0x010203'", 1), ("cover == '0x0102'", 0),
                ("price == '10.10'", 1), ("pages > '60'", 1), ("isSold == 'yes'", 1), ("isSold == 0", 1),
                ("home == 'https://a.b/c'", 1), ("title BEGINSWITH 'A'", 1), ("TITLE == 'A'", 1),
                ("author == 'Author/p2'", 1), ("author IN {'Author/p1', 'Author/p2'}", 3),
                ("author.objectID == 'Author/p1'", 2),
                ("author.books CONTAINS 'Book/p1'", 2), ("ANY author.books.printed == '2023-05-01'", 2),
                ("SUBQUERY(author.books, $b, $b.printed > '2024-01-01' AND $b.author == 'Author/p1').@count > 0", 2),
                ("author.books.@max.printed > '2024-01-01'", 2), ("author.books.@count == 1", 1),
            ], atLeast: 8))
    func constantsAreReadAsWhatTheyAreHeldAgainst(predicate: String, count: Int) throws {
        let run = try query("Book", "--where", predicate, "--count")
        #expect(run.output == "\(count)\n", "\(run.error)")
    }

    @Test(
        arguments: Trials.some(
            of: [
                (
                    "printed > '1.5.2024'",
                    "Book.printed takes a date such as 2024-05-01 or 2024-05-01T12:30:00Z, in quotes"
                ),
                (
                    "printed > 2024-01-01",
                    "Book.printed takes a date such as 2024-05-01 or 2024-05-01T12:30:00Z, in quotes"
                ),
                ("code == 'x'", "Book.code takes a UUID, in quotes; 'x' is none."),
                ("code == 3", "Book.code takes a UUID, in quotes; 3 is none."),
                ("cover == '0x01f'", "Book.cover takes base64"), ("pages == 'many'", "Book.pages takes a whole number"),
                (
                    "author == 'Le Guin'",
                    "'Le Guin' is no Author. Write the object's ID, as in 'Author/p12', or a property of it."
                ),
                (
                    "SELF == 'x-coredata://A/Book/p1'",
                    "x-coredata://A/Book/p1 is an object of another store; the UUID of this one"
                ),
                ("author == 'Autor/p1'", "The model has no entity 'Autor'; did you mean 'Author'?"),
            ], atLeast: 3))
    func constantsThatAreNoneAreExplained(predicate: String, message: String) throws {
        let run = try query("Book", "--where", predicate, "--count")
        #expect(run.status == 2)
        #expect(run.error.contains(message), "\(run.error)")
    }
}
