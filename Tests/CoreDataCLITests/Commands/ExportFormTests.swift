import Foundation
import TestSupport
import Testing

/// The form of an export depends on what was asked for, not on how many entities the store has.
@Suite struct ExportFormTests {
    private static let one =
        #"<entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>"#
    private static let two =
        one + #"<entity name="Tag"><attribute name="name" optional="YES" attributeType="String"/></entity>"#

    private func store(_ entities: String, _ scratch: Scratch) throws -> String {
        let store = try scratch.makeStore(entities: entities)
        let file = try scratch.write(#"{"objectID": "Book/p1", "title": "Emma"}"#, to: "book.ndjson")
        try #require(try CommandRun.coredata("import", store, file).status == 0)
        return store
    }

    @Test(arguments: [one, two]) func aWholeStoreIsAnObjectInJSON(entities: String) throws {
        let scratch = try Scratch()
        let store = try store(entities, scratch)
        let whole = try CommandRun.coredata("export", store, "--no-ids")
        #expect(whole.output.hasPrefix("{\n\"Book\": [\n  {\"title\": \"Emma\"}\n]"), "\(whole.output)")
        let bare = try CommandRun.coredata("export", store, "--entity", "Book", "--no-ids")
        #expect(bare.output == "[\n  {\"title\": \"Emma\"}\n]\n")
        // Without IDs the names of the arrays tell the entities.
        let file = try scratch.write(whole.output, to: "whole.json")
        let copy = scratch.path("copy.sqlite")
        try CommandRun.coredata("store", "create", copy, "--model", store)
        let imported = try CommandRun.coredata("import", copy, file)
        #expect(imported.status == 0 && imported.output.hasPrefix("1 record imported"), "\(imported.error)")
    }

    @Test(arguments: [one, two]) func aWholeStoreIsAFolderInCSV(entities: String) throws {
        let scratch = try Scratch()
        let store = try store(entities, scratch)
        let refused = try CommandRun.coredata("export", store, "--format", "csv")
        #expect(refused.status == 2 && refused.error.contains("csv takes one entity; choose with --entity: Book"))
        let folder = scratch.path("out")
        let run = try CommandRun.coredata("export", store, "--format", "csv", "--output", folder)
        let count = entities == Self.one ? "1 file" : "2 files"
        #expect(run.error == "1 record written to \(count) in \(folder)\n")
        #expect(try String(contentsOfFile: folder + "/Book.csv", encoding: .utf8).hasPrefix("objectID,title\n"))
        let copy = scratch.path("copy.sqlite")
        try CommandRun.coredata("store", "create", copy, "--model", store)
        #expect(try CommandRun.coredata("import", copy, folder).status == 0)
        #expect(try StoreComparison(store, copy).differences.isEmpty)
    }

    /// Other programs read them; an import leaves them to the store.
    @Test func derivedAttributesAreWritten() throws {
        let scratch = try Scratch()
        let store = try store(
            """
            <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/><attribute name="low" \
            optional="YES" attributeType="String" derived="YES" derivationExpression="lowercase:(title)"/></entity>
            """, scratch)
        func export(_ store: String, _ format: String) throws -> CommandRun {
            try CommandRun.coredata("export", store, "--entity", "Book", "--no-ids", "--format", format)
        }
        let csv = try export(store, "csv")
        #expect(csv.output == "low,title\nemma,Emma\n")
        let json = try export(store, "json")
        #expect(json.output == "[\n  {\"low\": \"emma\", \"title\": \"Emma\"}\n]\n")
        let copy = scratch.path("copy.sqlite")
        try CommandRun.coredata("store", "create", copy, "--model", store)
        let other = try scratch.write(json.output.replacing("\"emma\"", with: "\"other\""), to: "book.json")
        let imported = try CommandRun.coredata("import", copy, "--entity", "Book", other)
        #expect(imported.status == 0, "\(imported.error)")
        #expect(try StoreComparison(store, copy).differences.isEmpty)
        #expect(try export(copy, "csv").output == csv.output)
    }

    @Test func oneEntityIsABareFileInCSV() throws {
        let scratch = try Scratch()
        let store = try store(Self.two, scratch)
        let run = try CommandRun.coredata("export", store, "--entity", "Book", "--no-ids", "--format", "csv")
        #expect(run.output == "title\nEmma\n")
    }
}
