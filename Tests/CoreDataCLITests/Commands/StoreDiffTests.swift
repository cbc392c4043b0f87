import Foundation
import TestSupport
import Testing

/// `coredata store diff`
@Suite struct StoreDiffTests {
    private static let entities = """
        <entity name="Author">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" \
        inverseEntity="Book"/>
        </entity>
        <entity name="Book">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" \
        inverseEntity="Author"/>
        </entity>
        """

    private let scratch: Scratch
    private let first: String
    private let second: String

    init() throws {
        scratch = try Scratch()
        first = try scratch.makeStore(entities: Self.entities)
        second = scratch.path("second.sqlite")
        let books = try scratch.write(
            """
            {"title": "Emma", "pages": 100, "author.name": "Austen"}
            {"title": "Persuasion", "author.name": "Austen"}
            """, to: "books.ndjson")
        let unique = ["--entity", "Book", "--unique", "Book.title,Author.name"]
        let imported = try CommandRun.run(CommandRun.executable(), ["import", first, books] + unique)
        try #require(imported.status == 0, "\(imported.error)")
        let copied = try CommandRun.coredata("store", "copy", first, second)
        try #require(copied.status == 0, "\(copied.error)")
    }

    private func diff(_ arguments: String...) throws -> CommandRun {
        try CommandRun.run(CommandRun.executable(), ["store", "diff", first, second] + arguments)
    }

    @Test func aCopyHasTheSameObjects() throws {
        let run = try diff()
        #expect(run.status == 0, "\(run.output)\(run.error)")
        #expect(run.lines.last == "The stores have the same objects")
        #expect(run.lines.count == 5)
    }

    @Test func whatDiffersIsListedByUniqueAttributesOrByKeys() throws {
        let changes = try scratch.write(
            """
            {"title": "Emma", "pages": 120}
            {"title": "Dune", "author.name": "Herbert"}
            """, to: "changes.ndjson")
        let imported = try CommandRun.coredata(
            "import", second, changes, "--entity", "Book", "--unique", "Book.title,Author.name")
        try #require(imported.status == 0, "\(imported.error)")
        let named = try diff("--unique", "Book.title,Author.name")
        #expect(named.status == 1)
        #expect(
            named.output == """
                entity  first  second  only in first  only in second  changed
                ------  -----  ------  -------------  --------------  -------
                Author      1       2              0               1        0
                Book        2       3              0               1        1

                only in second: Author "Herbert"
                changed: Book "Emma": pages
                only in second: Book "Dune"

                The stores differ

                """, "\(named.error)")
        let keyed = try diff("--limit", "1")
        #expect(keyed.status == 1)
        #expect(keyed.lines.contains("only in second: Author/p2"))
        #expect(keyed.lines.contains("and 2 other objects; --limit lists more"))
        let json = try diff("--json", "--unique", "Book.title")
        #expect(json.status == 1)
        for part in [#""isEqual" : false"#, #""onlyInSecond" : 1"#, #""object" : "Book \"Emma\"""#, #""pages""#] {
            #expect(json.output.contains(part), "\(json.output)")
        }
    }

    @Test func storesOfDifferentModelsAreNotCompared() throws {
        let other = try Scratch()
        let store = try other.makeStore()
        let run = try CommandRun.coredata("store", "diff", first, store)
        #expect(run.status == 2 && run.error.contains("were made with different models"))
        #expect(try CommandRun.coredata("store", "diff", first, scratch.path("no.sqlite")).status == 2)
    }
}
