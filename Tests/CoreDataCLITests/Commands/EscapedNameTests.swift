import Foundation
import TestSupport
import Testing

/// The URI of an object escapes what is not ASCII in its entity's name; whoever reads it, reads the name.
@Suite struct EscapedNameTests {
    private static let entities = """
        <entity name="Größe">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="nächste" optional="YES" maxCount="1" destinationEntity="Größe" inverseName="vorige" \
        inverseEntity="Größe"/>
            <relationship name="vorige" optional="YES" toMany="YES" destinationEntity="Größe" inverseName="nächste" \
        inverseEntity="Größe"/>
            <relationship name="長さ" optional="YES" toMany="YES" destinationEntity="長さ" inverseName="größen" \
        inverseEntity="長さ"/>
        </entity>
        <entity name="長さ">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="größen" optional="YES" toMany="YES" destinationEntity="Größe" inverseName="長さ" \
        inverseEntity="Größe"/>
        </entity>
        """

    private static let objects = """
        {"objectID": "Größe/p1", "name": "a", "nächste": "Größe/p2", "長さ": ["長さ/p1", "長さ/p2"]}
        {"objectID": "Größe/p2", "name": "b"}
        {"objectID": "長さ/p1", "name": "c"}
        {"objectID": "長さ/p2", "name": "d"}

        """

    private func store(_ scratch: Scratch) throws -> String {
        let store = try scratch.makeStore(entities: Self.entities)
        let file = try scratch.write(Self.objects, to: "objects.ndjson")
        let run = try CommandRun.coredata("import", store, file)
        try #require(run.status == 0, "\(run.error)")
        return store
    }

    @Test(arguments: Trials.some(of: ["json", "ndjson", "xml", "csv"], atLeast: 2))
    func whatWasExportedComesBack(format: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let target = scratch.path(format == "csv" ? "out" : "out.\(format)")
        let exported = try CommandRun.coredata("export", store, "--format", format, "--output", target)
        try #require(exported.status == 0, "\(exported.error)")
        let copy = scratch.path("copy.sqlite")
        try CommandRun.coredata("store", "create", copy, "--model", store)
        let imported = try CommandRun.coredata("import", copy, target, "--format", format)
        #expect(imported.status == 0, "\(imported.error)")
        let comparison = try StoreComparison(store, copy)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.objectCount == 4)
    }

    @Test func anIDThatIsPrintedCanBeAskedFor() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let ids = try CommandRun.coredata("query", store, "Größe", "--select", "objectID", "--format", "csv").lines
        let id = String(try #require(ids.first { $0.hasSuffix("p1") }))
        #expect(id.contains("/Gr%C3%B6%C3%9Fe/p1"))
        let short = try #require(id.firstRange(of: "Gr%")).lowerBound
        for text in [id, String(id[short...]), "Größe/p1"] {
            let one = try CommandRun.coredata("query", store, text, "--select", "name", "--format", "json")
            #expect(one.output.contains(#""name": "a""#), "\(text): \(one.error)")
            let selected = try CommandRun.coredata("query", store, "Größe", "--where", "SELF == '\(text)'", "--count")
            #expect(selected.output == "1\n", "\(text): \(selected.error)")
            let linked = try CommandRun.coredata("query", store, "長さ", "--where", "ANY größen == '\(text)'", "--count")
            #expect(linked.output == "2\n", "\(text): \(linked.error)")
        }
    }
}
