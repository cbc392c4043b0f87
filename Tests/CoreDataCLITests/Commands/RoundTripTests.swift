import Foundation
import TestSupport
import Testing

/// What `coredata export` writes, `coredata import` makes an equal store of.
@Suite struct RoundTripTests {
    static let formats = ["json", "ndjson", "xml", "csv", "nested json"]
    /// Every store in every format; in the short form a tenth of these pairs.
    static let trials: [(index: Int, format: String)] = Trials.some(
        of: Trials.some(of: formats.flatMap { format in fixtures.indices.map { ($0, format) } }), atLeast: 6)
    /// Every format; in the short form two.
    static let someFormats = Trials.some(of: formats, atLeast: 2)

    /// Exports the store, imports that into a new one, and compares the two.
    static func roundTrip(
        _ store: String, model: [String] = [], _ format: String, options: [String] = [], in scratch: Scratch
    ) throws -> StoreComparison {
        let form = format.split(separator: " ").last.map(String.init) ?? format
        // CSV has a file for each entity.
        let target = scratch.path(form == "csv" ? "export" : "export.\(form)")
        let more = format.hasPrefix("nested") ? ["--nested"] : []
        func run(_ arguments: [String]) throws {
            let run = try CommandRun.run(CommandRun.executable(), arguments)
            try #require(run.status == 0, "\(arguments): \(run.error)")
        }
        try run(["export", store, "--output", target, "--format", form] + model + more + options)
        let copy = scratch.path("copy.sqlite")
        try run(["store", "create", copy] + (model.isEmpty ? ["--model", store] : model))
        try run(["import", copy, target, "--format", form] + options)
        try run(["store", "verify", copy])
        return try StoreComparison(store, model: model, copy)
    }

    // MARK: Apple's stores

    static let fixtures: [(store: String, model: String?, version: String?, count: Int)] = [
        ("bookmarks/Bookmarks_V1.sqlite", nil, nil, 10), ("bookmarks/Bookmarks_V2.sqlite", nil, nil, 10),
        ("bookmarks/Bookmarks_V4.sqlite", nil, nil, 10), ("sample-model/SampleModel_V1.sqlite", nil, nil, 145),
        ("sample-model/SampleModel_V2.sqlite", nil, nil, 145),
        ("sample-model-2/SampleModel2_V2.sqlite", nil, nil, 126),
        ("grocery-dude/DefaultData-5-entities.sqlite", nil, nil, 442),
        ("grocery-dude/DefaultData.sqlite", "EXAMPLE", nil, 442),
        ("core-data-books/CoreDataBooks.CDBStore", "core-data-books/CoreDataBooks.xcdatamodeld", nil, 11),
        ("recipes/Recipes.sqlite", "recipes/Recipes.xcdatamodeld", "Recipes", 50),
        ("surf-journal/SurfJournalModel.sqlite", "surf-journal/SurfJournalModel.xcdatamodeld", nil, 5_000),
        ("twitter-seed/RKSeedDatabase.sqlite", "twitter-seed/RKTwitterCoreData.xcdatamodel", nil, 0),
    ]

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: trials)
    func everyStoreComesBackEqual(index: Int, format: String) throws {
        let fixture = Self.fixtures[index]
        let scratch = try Scratch()
        let model = fixture.model.map { name in
            ["--model", name == "EXAMPLE" ? CommandRun.exampleModel : Fixtures.url(name).path]
                + (fixture.version.map { ["--model-version", $0] } ?? [])
        }
        let comparison = try Self.roundTrip(Fixtures.url(fixture.store).path, model: model ?? [], format, in: scratch)
        #expect(comparison.differences.isEmpty, "\(fixture.store)")
        #expect(comparison.objectCount == fixture.count)
    }

    // MARK: Values and relationships that are hard

    /// Every kind of relationship: one-to-one, one-way, to itself, ordered on both sides, to a tree of entities; two that
    /// must lead to each other.
    private static let entities = """
        <entity name="Node" isAbstract="YES">
            <attribute name="name" optional="YES" attributeType="String" defaultValueString="new"/>
            <relationship name="parent" optional="YES" maxCount="1" destinationEntity="Node" inverseName="children" \
        inverseEntity="Node"/>
            <relationship name="children" optional="YES" toMany="YES" ordered="YES" destinationEntity="Node" \
        inverseName="parent" inverseEntity="Node"/>
            <relationship name="links" optional="YES" toMany="YES" ordered="YES" destinationEntity="Node" \
        inverseName="backlinks" inverseEntity="Node"/>
            <relationship name="backlinks" optional="YES" toMany="YES" ordered="YES" destinationEntity="Node" \
        inverseName="links" inverseEntity="Node"/>
            <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Node" inverseName="friends" \
        inverseEntity="Node"/>
        </entity>
        <entity name="Branch" parentEntity="Node">
            <relationship name="label" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Label" \
        inverseName="branch" inverseEntity="Label"/>
        </entity>
        <entity name="Leaf" parentEntity="Node">
            <attribute name="note" attributeType="String" defaultValueString="?"/>
            <attribute name="size" optional="YES" attributeType="Integer 64" defaultValueString="7"/>
            <attribute name="real" optional="YES" attributeType="Double"/>
            <attribute name="float" optional="YES" attributeType="Float"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="day" optional="YES" attributeType="Date"/>
            <attribute name="bytes" optional="YES" attributeType="Binary"/>
            <attribute name="picture" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="colour" optional="YES" attributeType="Transformable" valueTransformerName="Colour"/>
            <attribute name="isRed" optional="YES" attributeType="Boolean" defaultValueString="YES"/>
            <attribute name="code" optional="YES" attributeType="UUID"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Label"/>
        </entity>
        <entity name="Label">
            <attribute name="text" optional="YES" attributeType="String"/>
            <relationship name="branch" optional="YES" maxCount="1" destinationEntity="Branch" inverseName="label" \
        inverseEntity="Branch"/>
        </entity>
        <entity name="Lock"><relationship name="key" maxCount="1" destinationEntity="Key" inverseName="lock" \
        inverseEntity="Key"/></entity>
        <entity name="Key"><relationship name="lock" maxCount="1" destinationEntity="Lock" inverseName="key" \
        inverseEntity="Lock"/></entity>
        """

    private static let objects = """
        {"objectID": "Branch/p1", "name": "root", "friends": ["Leaf/p4"], "label": "Label/p1", "children": ["Leaf/p4", "Branch/p2", "Leaf/p3"]}
        {"objectID": "Branch/p2", "name": "", "parent": "Branch/p1", "links": ["Leaf/p4", "Branch/p1", "Leaf/p3"]}
        {"objectID": "Leaf/p3", "name": null, "note": "", "size": null, "real": 0.1, "float": 0.1, "price": 12.345678, \
        "day": "2024-05-10T18:14:06.843063Z", "bytes": "", "picture": "AQID", "colour": "AAEC/w==", "isRed": null, \
        "code": "6F997B6B-4C1E-4A5B-9C3D-0123456789AB", "link": "https://a.b/c?d=e%20f#g", "tags": ["Label/p2", "Label/p1"], \
        "links": ["Branch/p2", "Leaf/p3"], "backlinks": ["Branch/p2", "Leaf/p3"], "friends": ["Leaf/p4", "Leaf/p3"]}
        {"objectID": "Leaf/p4", "name": "a \\"b\\", <c>\\n\\t'd' & ü漢🌱 ", "note": " x ", "size": -9223372036854775808, \
        "real": "Infinity", "float": 3.4028235e38, "price": -0.1, "day": "0001-01-01", "bytes": null, "picture": "", \
        "colour": "", "isRed": false, "tags": [], "backlinks": ["Branch/p1", "Branch/p2"], "friends": ["Branch/p1", "Leaf/p3"]}
        {"objectID": "Label/p1", "text": "one"}
        {"objectID": "Label/p2", "text": null, "branch": null}
        {"objectID": "Lock/p1", "key": "Key/p1"}
        {"objectID": "Lock/p2", "key": "Key/p2"}
        {"objectID": "Key/p1", "lock": "Lock/p1"}
        {"objectID": "Key/p2", "lock": "Lock/p2"}

        """

    private func hardStore(_ scratch: Scratch, batchSize: Int = 500) throws -> String {
        let store = try scratch.makeStore(entities: Self.entities)
        let file = try scratch.write(Self.objects, to: "objects.ndjson")
        let run = try CommandRun.coredata("import", store, file, "--batch-size", "\(batchSize)")
        try #require(run.status == 0, "\(run.error)")
        #expect(run.error == "")
        return store
    }

    @Test(arguments: someFormats)
    func everyValueAndRelationshipComesBackEqual(format: String) throws {
        let scratch = try Scratch()
        let store = try hardStore(scratch)
        let query = try CommandRun.coredata(
            "query", store, "Leaf", "--sort", "objectID", "--format", "ndjson", "--select",
            "name,note,size,real,day,bytes,picture,isRed,parent.name,backlinks.name,friends.name")
        #expect(
            query.output == #"""
                {"name": null, "note": "", "size": null, "real": 0.1, "day": "2024-05-10T18:14:06.843063Z", "bytes": "", \#
                "picture": "AQID", "isRed": null, "parent.name": "root", "backlinks.name": ["", null], \#
                "friends.name": [null, "a \"b\", <c>\n\t'd' & ü漢🌱 "]}
                {"name": "a \"b\", <c>\n\t'd' & ü漢🌱 ", "note": " x ", "size": -9223372036854775808, "real": "inf", \#
                "day": "0001-01-01T00:00:00Z", "bytes": null, "picture": "", "isRed": false, "parent.name": "root", \#
                "backlinks.name": ["root", ""], "friends.name": [null, "root"]}

                """#)
        let comparison = try Self.roundTrip(store, format, in: scratch)
        #expect(comparison.differences.isEmpty)
        #expect(comparison.objectCount == 10)
    }

    /// Records that come before those that they lead to are linked in the end, or wait for them where they must.
    @Test(arguments: Trials.some(of: [1, 2, 3, 7]))
    func theSizeOfABatchMakesNoDifference(size: Int) throws {
        let scratch = try Scratch()
        let store = try hardStore(scratch)
        let other = try Scratch()
        let copy = try hardStore(other, batchSize: size)
        #expect(try StoreComparison(store, copy).differences.isEmpty)
    }

    @Test func importingWhatAStoreHasChangesNothing() throws {
        let scratch = try Scratch()
        let store = try hardStore(scratch)
        let file = scratch.path("all.json")
        #expect(try CommandRun.coredata("export", store, "--output", file).status == 0)
        let again = try CommandRun.coredata("import", store, file, "--json")
        #expect(again.status == 0 && again.output.contains(#""entities": {}"#), "\(again.output)\(again.error)")
        // By their IDs objects are found and changed.
        let id = try CommandRun.coredata("query", store, "Label/p2", "--select", "objectID", "--format", "csv").lines[1]
        let edit = try scratch.write("objectID,text\n\(id),two\nLabel/p1,\n", to: "edit.csv")
        let edited = try CommandRun.coredata("import", store, edit, "--json")
        #expect(edited.output.contains(#""Label": {"created": 0, "updated": 2, "linked": 0}"#), "\(edited.error)")
        let texts = try CommandRun.coredata("query", store, "Label", "--select", "text", "--sort", "text")
        #expect(texts.lines.dropFirst(2) == ["NULL", "two", "2 objects"])
    }

    // MARK: By unique attributes

    @Test(
        arguments: Trials.some(of: [
            ["--format", "json"], ["--format", "json", "--nested"], ["--format", "csv"], ["--format", "xml"],
        ]))
    func relatedObjectsAreToldByTheAttributeThatIsAskedFor(options: [String]) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let unique = ["--unique", "Item.name,Unit.name,LocationAtHome.storedIn,LocationAtShop.aisle"]
        let imported = try CommandRun.run(
            CommandRun.executable(), ["import", store, "--entity", "Item", CommandRun.exampleData] + unique)
        try #require(imported.status == 0)
        let exported = try CommandRun.run(
            CommandRun.executable(), ["export", store, "--entity", "Item", "--no-ids"] + unique + options)
        #expect(!exported.output.contains("x-coredata") && exported.error == "")
        if options.contains("--nested") { #expect(exported.output.contains(#""unit": {"name": "kg"}"#)) }
        if options == ["--format", "json"] { #expect(exported.output.contains(#""unit.name": "kg""#)) }
        let file = try scratch.write(exported.output, to: "items.\(options[1])")
        let copy = scratch.path("copy.sqlite")
        try CommandRun.coredata("store", "create", copy, "--model", store)
        let back = try CommandRun.run(CommandRun.executable(), ["import", copy, "--entity", "Item", file] + unique)
        #expect(back.status == 0, "\(back.error)")
        let columns = "name,quantity,unit.name,locationAtHome.storedIn,locationAtShop.aisle"
        func rows(_ store: String) throws -> [Substring] {
            try CommandRun.coredata("query", store, "Item", "--select", columns, "--sort", "name", "--format", "csv")
                .lines
        }
        #expect(try rows(store) == rows(copy) && rows(copy).count == 378)
    }

    // MARK: Files

    @Test func nothingIsReplacedUnlessItIsAskedFor() throws {
        let scratch = try Scratch()
        let store = try hardStore(scratch)
        let file = try scratch.write("mine", to: "all.json")
        let refused = try CommandRun.coredata("export", store, "--output", file)
        #expect(refused.status == 2)
        #expect(refused.error == "error: There is something at \(file) already; --force replaces it.\n")
        #expect(try scratch.read("all.json") == "mine")
        #expect(try CommandRun.coredata("export", store, "--output", file, "--force").status == 0)
        #expect(try scratch.read("all.json").hasPrefix("{\n"))
        // Of a folder no file is written when one is there.
        try FileManager.default.createDirectory(atPath: scratch.path("out"), withIntermediateDirectories: true)
        _ = try scratch.write("mine", to: "out/Leaf.csv")
        let folder = try CommandRun.coredata("export", store, "--format", "csv", "--output", scratch.path("out"))
        #expect(folder.status == 2 && folder.error.contains("out/Leaf.csv already"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")) == ["Leaf.csv"])
        // What is no file is written to, not replaced.
        #expect(try CommandRun.coredata("export", store, "--format", "json", "--output", "/dev/null").status == 0)
        #expect(
            try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType != .typeRegular)
    }

    @Test func whatLeadsNowhereIsNamed() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.entities)
        let file = try scratch.write(
            """
            {"objectID": "Branch/p1", "label": "Label/p9", "children": ["Leaf/p7", "Leaf/p8"]}
            {"objectID": "Leaf/p7", "note": "x"}

            """, to: "part.ndjson")
        let run = try CommandRun.coredata("import", store, file)
        #expect(run.status == 1)
        #expect(
            run.error == """
                note: left out 2 relationships to objects that are neither in the file nor in the store: \
                Branch.children → Node/p8, Branch.label → Label/p9

                """)
        #expect(
            try CommandRun.coredata("query", store, "Leaf", "--where", "parent.name == 'new'", "--count").output
                == "1\n")
        let lock = try scratch.write(#"{"objectID": "Lock/p1", "key": "Key/p9"}"#, to: "lock.ndjson")
        let refused = try CommandRun.coredata("import", store, lock)
        #expect(refused.status == 2)
        #expect(
            refused.error.contains(
                "record 1: Lock.key: leads to Key/p9, which is neither in the file nor in the store\nNothing was imported."
            ))
        let wrong = try scratch.write(#"{"objectID": "Leaf7", "note": "x"}"#, to: "wrong.ndjson")
        #expect(try CommandRun.coredata("import", store, wrong).error.contains("objectID: 'Leaf7' is no ID such as"))
        let nobodys = try scratch.write(#"{"note": "x"}"#, to: "nobodys.ndjson")
        #expect(
            try CommandRun.coredata("import", store, nobodys).error.contains(
                "nothing tells of which entity the record is; give an entity, or records with an objectID"))
    }
}
