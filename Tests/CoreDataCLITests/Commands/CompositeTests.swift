import Foundation
import TestSupport
import Testing

/// Composite attributes on the command line: nested in JSON, a field for each element elsewhere.
@Suite struct CompositeTests {
    private static let model = """
        <entity name="Person"><attribute name="name" optional="YES" attributeType="String"/>\
        <attribute name="address" optional="YES" attributeType="Composite" composite="Address"/></entity>\
        <composite name="Address"><attribute name="city" optional="YES" attributeType="String"/>\
        <attribute name="number" optional="YES" attributeType="Integer 16"/>\
        <attribute name="geo" optional="YES" attributeType="Composite" composite="Geo"/></composite>\
        <composite name="Geo"><attribute name="x" optional="YES" attributeType="Double"/></composite>
        """

    private static let people = """
        [{"name": "Ann", "address": {"city": "Oslo", "number": 7, "geo": {"x": 1.5}}},
         {"name": "Bob", "address": {"city": "Bern"}}, {"name": "Cid", "address": null}]
        """

    private func store(_ scratch: Scratch) throws -> String {
        let store = try scratch.makeStore(entities: Self.model)
        let file = try scratch.write(Self.people, to: "people.json")
        let run = try CommandRun.coredata("import", store, "--entity", "Person", file)
        try #require(run.status == 0, "\(run.error)")
        return store
    }

    @Test func elementsAreQueriedAndVerified() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let verified = try CommandRun.coredata("store", "verify", store)
        #expect(verified.status == 0, "\(verified.output)\(verified.error)")
        let run = try CommandRun.coredata(
            "query", store, "Person", "--where", "address.city == 'Oslo' OR address.geo.x > 1", "--select",
            "name,address.city,address.geo.x", "--format", "csv")
        #expect(run.output == "name,address.city,address.geo.x\nAnn,Oslo,1.5\n", "\(run.error)")
        let sorted = try CommandRun.coredata(
            "query", store, "Person", "--sort", "-address.city", "--select", "name", "--format", "csv")
        #expect(sorted.output == "name\nAnn\nBob\nCid\n", "\(sorted.error)")
        let alike = try CommandRun.coredata(
            "query", store, "Person", "--where", "address.NUMBER == '7'", "--select", "name", "--format", "csv")
        #expect(alike.output == "name\nAnn\n", "\(alike.error)")
        let wrong = try CommandRun.coredata("query", store, "Person", "--select", "address.town")
        #expect(wrong.status == 2 && wrong.error.contains("address has no element 'town'"))
    }

    @Test func exportsAreNestedInJSONAndFlatInCSV() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let json = try CommandRun.coredata("export", store, "--entity", "Person", "--no-ids")
        #expect(
            json.output.contains(
                #"{"address": {"city": "Oslo", "geo": {"x": 1.5}, "number": 7}, "name": "Ann"}"#), "\(json.output)")
        let csv = try CommandRun.coredata("export", store, "--entity", "Person", "--no-ids", "--format", "csv")
        #expect(csv.output.hasPrefix("address.city,address.geo.x,address.number,name\nOslo,1.5,7,Ann\nBern,,,Bob\n"))
        #expect(csv.error.contains("no text form") == false)
    }

    @Test(arguments: RoundTripTests.someFormats) func whatIsExportedIsImported(format: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        #expect(try RoundTripTests.roundTrip(store, format, in: scratch).differences.isEmpty)
    }

    @Test func whatIsNoElementIsToldWithItsLine() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        for (text, part) in [
            (#"[{"name": "Dan", "address": {"town": "X"}}]"#, "Person.address: has no element 'town'"),
            (#"[{"name": "Dan", "address": {"number": "x"}}]"#, "Person.address.number: 'x' is not a whole number"),
            (#"[{"name": "Dan", "address": "Oslo"}]"#, "Person.address"),
        ] {
            let file = try scratch.write(text, to: "wrong.json")
            let run = try CommandRun.coredata("import", store, "--entity", "Person", file)
            #expect(run.status != 0 && (run.error + run.output).contains(part), "\(run.error)\(run.output)")
        }
    }

    /// What a file does not say of a composite stays, as what it does not say of an object.
    @Test(
        arguments: Trials.some(
            of: [
                ("json", #"[{"name": "Ann", "address": {"city": "Rome", "geo": {}}}]"#),
                ("ndjson", #"{"name": "Ann", "address": {"CITY": "Rome"}}"#),
                ("xml", "<people><person name='Ann'><address><city>Rome</city></address></person></people>"),
                ("xml", "<people><person><name>Ann</name><address city='Rome'/></person></people>"),
                ("csv", "name,address.city\nAnn,Rome\n"),
            ], atLeast: 2))
    func elementsAreMergedIntoWhatIsThere(format: String, text: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let file = try scratch.write(text, to: "people.\(format)")
        let run = try CommandRun.coredata("import", store, "--entity", "Person", "--unique", "Person.name", file)
        #expect(run.status == 0, "\(run.error)")
        let csv = try CommandRun.coredata("export", store, "--entity", "Person", "--no-ids", "--format", "csv")
        #expect(csv.output.hasPrefix("address.city,address.geo.x,address.number,name\nRome,1.5,7,Ann\nBern,,,Bob\n"))
    }

    @Test func nestedElementsOfXMLAreRead() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let text = "<people><person name='Dan'><address city='Graz'><geo><x>3</x></geo></address></person></people>"
        let run = try CommandRun.coredata(
            "import", store, "--entity", "Person", try scratch.write(text, to: "people.xml"))
        #expect(run.status == 0, "\(run.error)")
        let query = try CommandRun.coredata(
            "query", store, "Person", "--where", "name == 'Dan'", "--select", "address.city,address.geo.x", "--format",
            "csv")
        #expect(query.output == "address.city,address.geo.x\nGraz,3\n", "\(query.output)\(query.error)")
    }
}
