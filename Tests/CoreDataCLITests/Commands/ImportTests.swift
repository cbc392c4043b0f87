import Foundation
import TestSupport
import Testing

@Suite struct ImportTests {
    static let everything = """
        <entity name="Thing">
            <attribute name="title" attributeType="String"/>
            <attribute name="note" optional="YES" attributeType="String"/>
            <attribute name="small" optional="YES" attributeType="Integer 16"/>
            <attribute name="large" optional="YES" attributeType="Integer 64"/>
            <attribute name="real" optional="YES" attributeType="Double"/>
            <attribute name="float" optional="YES" attributeType="Float"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="isDone" optional="YES" attributeType="Boolean"/>
            <attribute name="day" optional="YES" attributeType="Date"/>
            <attribute name="bytes" optional="YES" attributeType="Binary"/>
            <attribute name="code" optional="YES" attributeType="UUID"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <attribute name="passing" optional="YES" transient="YES" attributeType="String"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="things" \
        inverseEntity="Tag"/>
            <relationship name="steps" optional="YES" toMany="YES" ordered="YES" destinationEntity="Step" \
        inverseName="thing" inverseEntity="Step"/>
            <uniquenessConstraints>
                <uniquenessConstraint><constraint value="title"/></uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        <entity name="Tag">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="things" optional="YES" toMany="YES" destinationEntity="Thing" inverseName="tags" \
        inverseEntity="Thing"/>
            <uniquenessConstraints>
                <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        <entity name="Step">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="thing" optional="YES" maxCount="1" destinationEntity="Thing" inverseName="steps" \
        inverseEntity="Thing"/>
            <uniquenessConstraints>
                <uniquenessConstraint><constraint value="name"/></uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        """

    static let things = """
        [
          {"bytes": "AQID", "code": "6F997B6B-4C1E-4A5B-9C3D-0123456789AB", "day": "2024-05-10T18:14:06.843063Z", \
        "float": 0.1, "isDone": true, "large": -9223372036854775808, "link": "https://example.org/a?b=c", \
        "note": "a \\"b\\"\\n<c>, ü漢🌱 ", "price": 123456789.25, "real": 0.1, "small": 32767, "title": "full", \
        "steps.name": ["second", "first"], "tags.name": ["x", "y"]},
          {"bytes": null, "code": null, "day": null, "float": null, "isDone": null, "large": null, "link": null, \
        "note": null, "price": null, "real": null, "small": null, "title": "empty", "steps.name": [], "tags.name": []}
        ]

        """

    /// JSON has everything; export writes what import read, byte by byte.
    @Test func everyTypeSurvivesImportAndExport() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let file = try scratch.write(Self.things, to: "things.json")
        let imported = try CommandRun.coredata("import", store, "--entity", "Thing", file, "--json")
        #expect(imported.status == 0, "\(imported.error)")
        #expect(imported.output.contains(#""Thing": {"created": 2, "updated": 0, "linked": 4}"#))
        let exported = try CommandRun.coredata("export", store, "--entity", "Thing", "--no-ids")
        #expect(exported.output == Self.things, "\(exported.error)")
        #expect(try CommandRun.coredata("store", "verify", store).status == 0)
    }

    @Test(arguments: ["xml", "csv", "ndjson"])
    func everyFormatSurvivesExportAndImport(format: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let file = try scratch.write(Self.things, to: "things.json")
        try CommandRun.coredata("import", store, "--entity", "Thing", file)
        let first = scratch.path("first.\(format)")
        try CommandRun.coredata("export", store, "--entity", "Thing", "--no-ids", "--output", first)
        let copy = try Scratch()
        let other = try copy.makeStore(entities: Self.everything)
        let imported = try CommandRun.coredata("import", other, "--entity", "Thing", first)
        #expect(imported.status == 0, "\(imported.error)")
        let second = try CommandRun.coredata("export", other, "--entity", "Thing", "--no-ids", "--format", format)
        #expect(try second.output == scratch.read("first.\(format)"))
        #expect(second.output.contains("2024-05-10T18:14:06.843063Z"))
    }

    @Test(arguments: ["json", "xml"])
    func allEntitiesOfAStoreGoIntoOneFileAndBack(format: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        try CommandRun.coredata("import", store, "--entity", "Thing", scratch.write(Self.things, to: "things.json"))
        let all = scratch.path("all.\(format)")
        #expect(try CommandRun.coredata("export", store, "--no-ids", "--output", all).status == 0)
        let copy = try Scratch()
        let other = try copy.makeStore(entities: Self.everything)
        for (entity, count) in [("Tag", 2), ("Thing", 2), ("Step", 2)] {
            let run = try CommandRun.coredata("import", other, "--entity", entity, all)
            #expect(run.status == 0, "\(run.error)")
            #expect(try CommandRun.coredata("query", other, entity, "--count").output == "\(count)\n")
        }
    }

    @Test(
        arguments: Trials.some(
            of: [
                (#"{"small": 32768}"#, "Thing.small: '32768' is not between -32768 and 32767, or not whole"),
                (#"{"small": 1.5}"#, "Thing.small: '1.5' is not between -32768 and 32767, or not whole"),
                (#"{"small": "many"}"#, "Thing.small: 'many' is not a whole number"),
                (#"{"small": true}"#, "Thing.small: 'true' is not a whole number"),
                (#"{"real": "nan"}"#, "Thing.real: 'nan' is not a number"),
                (#"{"price": "12 EUR"}"#, "Thing.price: '12 EUR' is not a number"),
                (#"{"isDone": "perhaps"}"#, "Thing.isDone: 'perhaps' is not true or false"),
                (
                    #"{"day": "10.5.2024"}"#,
                    "Thing.day: '10.5.2024' is not a date such as 2024-05-01 or 2024-05-01T12:30:00Z"
                ),
                (#"{"bytes": "%"}"#, "Thing.bytes: '%' is not base64"),
                (#"{"code": "6F997B6B"}"#, "Thing.code: '6F997B6B' is not a UUID"),
                (#"{"note": ["a"]}"#, "Thing.note: takes a text, not a list"),
                (#"{"tags": "x"}"#, "'tags' goes through a to-many relationship, which takes a list; JSON has lists"),
                (#"{"title": null}"#, "Thing: no value for title, which tells records apart"),
            ], atLeast: 4))
    func aWrongValueIsNamedWithItsPlace(record: String, message: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let full =
            record.contains("title") ? record : record.replacing("{", with: #"{"title": "a", "#, maxReplacements: 1)
        let file = try scratch.write("{\"title\": \"first\"}\n\(full)\n", to: "things.ndjson")
        let run = try CommandRun.coredata("import", store, "--entity", "Thing", file)
        #expect(run.status == 2)
        #expect(run.error == "error: \(file):2: record 2: \(message)\nNothing was imported.\n")
        #expect(try CommandRun.coredata("query", store, "Thing", "--count").output == "0\n")
    }

    @Test func anInvalidRecordStopsTheImportAndItsBatch() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let lines = (1...10).map { $0 == 8 ? #"{"title": "bad", "small": "x"}"# : #"{"title": "\#($0)"}"# }
        let file = try scratch.write(lines.joined(separator: "\n"), to: "things.ndjson")
        let stopped = try CommandRun.coredata("import", store, "--entity", "Thing", file, "--batch-size", "3")
        #expect(stopped.status == 2)
        #expect(stopped.error.hasSuffix("\n6 records before it stay imported.\n"))
        #expect(try CommandRun.coredata("query", store, "Thing", "--count").output == "6\n")

        let skipping = try CommandRun.coredata(
            "import", store, "--entity", "Thing", file, "--batch-size", "3", "--skip-invalid", "--json")
        #expect(skipping.status == 1)
        #expect(skipping.error == "skipped: \(file):8: record 8: Thing.small: 'x' is not a whole number\n")
        #expect(skipping.output.hasPrefix(#"{"records": 9, "skipped": 1,"#))
        #expect(skipping.output.contains(#""Thing": {"created": 3, "updated": 0, "linked": 0}"#))
        #expect(try CommandRun.coredata("query", store, "Thing", "--count").output == "9\n")
    }

    /// What the model forbids is found before the save, so that the record can be named.
    @Test func whatTheModelForbidsIsNamedWithItsPlace() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(
            entities: """
                <entity name="Thing">
                    <attribute name="name" attributeType="String" minValueString="2"/>
                    <attribute name="size" optional="YES" attributeType="Integer 32" maxValueString="10"/>
                </entity>
                """)
        let file = try scratch.write("name,size\nab,5\nc,3\nde,11\nfg,\n,1\n", to: "things.csv")
        let stopped = try CommandRun.coredata("import", store, "--entity", "Thing", file)
        #expect(stopped.status == 2)
        #expect(stopped.error.hasPrefix("error: \(file):3: record 2: Thing.name: "))
        let skipping = try CommandRun.coredata("import", store, "--entity", "Thing", file, "--skip-invalid", "--json")
        #expect(skipping.status == 1)
        #expect(skipping.output.hasPrefix(#"{"records": 2, "skipped": 3,"#))
        #expect(skipping.error.contains("\(file):4: record 3: Thing.size: "))
        let left = try CommandRun.coredata("query", store, "Thing", "--select", "name", "--format", "csv")
        #expect(left.output == "name\nab\nfg\n")
    }

    @Test func emptyFieldsAreNoValuesUnlessTheyAreKept() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let file = try scratch.write("title,note,small\na,\"\",\nb,,\n", to: "things.csv")
        try CommandRun.coredata("import", store, "--entity", "Thing", file)
        let nothing = try CommandRun.coredata("query", store, "Thing", "--where", "note == nil", "--count")
        #expect(nothing.output == "2\n")
        try CommandRun.coredata("import", store, "--entity", "Thing", file, "--keep-empty")
        let empty = try CommandRun.coredata(
            "query", store, "Thing", "--where", "note == ''", "--select", "title", "--format", "csv")
        #expect(empty.output == "title\na\n")
    }

    @Test func fieldsAreFoundMappedOrNamedAsLeftOut() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let file = try scratch.write("TITLE,remark,Smal,price\na,b,1,2\n", to: "things.csv")
        let run = try CommandRun.coredata(
            "import", store, "--entity", "Thing", file, "--map", "remark=note", "--map", "price=", "--map", "none=note")
        #expect(run.status == 0)
        #expect(
            run.error.split(separator: "\n") == [
                "note: the field 'Smal' of 1 record was left out: no property has that name; did you mean 'small'?",
                "note: --map none=… was for nothing: no record has the field 'none'",
            ])
        let row = try CommandRun.coredata(
            "query", store, "Thing", "--select", "title,note,small,price", "--format", "ndjson")
        #expect(row.output == #"{"title": "a", "note": "b", "small": null, "price": null}"# + "\n")
    }

    @Test func nestedObjectsAndStandardInputAreRead() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let input = """
            {"name": "Milk", "unit": {"name": "L"}, "photo": {"data": "AQID"}}
            {"name": "Oil", "unit": {"name": "L"}, "photo": null}
            {"name": "Milk", "quantity": 3, "photo": {"data": "BAUG"}}
            """
        let run = try CommandRun.coredata(
            "import", store, "--entity", "Item", "--unique", "Item.name", "--unique", "Unit.name", "--format", "ndjson",
            "-", "--json", input: input)
        #expect(run.status == 0, "\(run.error)")
        #expect(run.output.contains(#""Item_Photo": {"created": 1,"#))
        #expect(run.output.contains(#""Unit": {"created": 1,"#))
        let rows = try CommandRun.coredata(
            "query", store, "Item", "--select", "name,quantity,unit.name,photo.data", "--sort", "name", "--format",
            "csv")
        #expect(rows.output == "name,quantity,unit.name,photo.data\nMilk,3,L,BAUG\nOil,1,L,\n")
    }

    /// Only those that several objects may share: a photo is its item's own.
    @Test func relatedObjectsThatAreMadeAnewAreNoted() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let file = try scratch.write(
            """
            {"name": "Milk", "unit": {"name": "L"}, "photo": {"data": "AQID"}}
            {"name": "Oil", "unit.name": "L"}
            """, to: "items.ndjson")
        let anew = try CommandRun.coredata("import", store, "--entity", "Item", "--unique", "Item.name", file)
        #expect(anew.status == 0)
        #expect(
            anew.error
                == "note: made 2 objects of Unit without looking for existing ones, because nothing tells them apart; --unique Unit.name does\n"
        )
        let other = try Scratch()
        let found = try CommandRun.coredata(
            "import", other.makeStore(), "--entity", "Item", "--unique", "Item.name,Unit.name", file)
        #expect(found.status == 0 && found.error == "", "\(found.error)")
    }

    @Test func recordsInOneBatchFindEachOther() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.everything)
        let records = (0..<1_200).map { #"{"title": "\#($0 % 700)", "tags": ["t\#($0 % 7)"]}"# }
        let file = try scratch.write(records.joined(separator: "\n"), to: "things.ndjson")
        let run = try CommandRun.coredata("import", store, "--entity", "Thing", file, "--json")
        #expect(run.output.contains(#""Tag": {"created": 7,"#), "\(run.error)")
        #expect(run.output.contains(#""Thing": {"created": 700,"#))
        let tagged = try CommandRun.coredata("query", store, "Thing", "--where", "tags.@count == 1", "--count")
        #expect(tagged.output == "700\n")
    }
}
