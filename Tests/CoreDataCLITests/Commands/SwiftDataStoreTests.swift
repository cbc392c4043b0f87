import CoreData
import Foundation
import TestSupport
import Testing

/// Stores as SwiftData makes them: values that it keeps as JSON text, as archives and in composites are readable.
@Suite struct SwiftDataStoreTests {
    /// Makes a store with one object, of a model such as SwiftData derives from a class with enumerations, a struct and arrays.
    private func store(_ scratch: Scratch) throws -> String {
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        func composite(
            _ name: String, _ elements: [NSAttributeDescription], _ userInfo: [String: Any]? = nil
        ) -> NSCompositeAttributeDescription {
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.elements = elements
            composite.userInfo = userInfo
            composite.isOptional = true
            return composite
        }
        let isEnumeration: [String: Any] = ["EnumType": NSNumber(value: true)]
        let tags = attribute("tags", .transformableAttributeType)
        tags.valueTransformerName = "NSSecureUnarchiveFromData"
        let counts = attribute("counts", .transformableAttributeType)
        counts.valueTransformerName = "NSSecureUnarchiveFromData"
        let entity = NSEntityDescription()
        entity.name = "Drink"
        entity.properties = [
            attribute("name", .stringAttributeType),
            composite("glass", [attribute("glass", .stringAttributeType)], isEnumeration),
            composite(
                "ice", [attribute("cubed", .stringAttributeType), attribute("crushed", .stringAttributeType)],
                isEnumeration.merging(["enum": ["cubed", "crushed"]]) { $1 }),
            composite(
                "place",
                [
                    attribute("street", .stringAttributeType), attribute("number", .integer16AttributeType),
                    attribute("floors", .binaryDataAttributeType),
                ]),
            attribute("steps", .binaryDataAttributeType), attribute("notes", .binaryDataAttributeType),
            attribute("photo", .binaryDataAttributeType), tags, counts,
        ]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let path = scratch.path("drinks.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let drink = NSManagedObject(entity: entity, insertInto: context)
            drink.setValue("Sour", forKey: "name")
            drink.setValue(["glass": "coupe"], forKey: "glass")
            drink.setValue(["crushed": "crushed"], forKey: "ice")
            drink.setValue(
                ["street": "Elm", "number": 7, "floors": Data("[1,2]".utf8)] as [String: Any], forKey: "place")
            drink.setValue(Data(#"["Stir",{"for":1.50}]"#.utf8), forKey: "steps")
            drink.setValue(Data(#"{ "a" : "x\/y" }"#.utf8), forKey: "notes")
            drink.setValue(Data([1, 2, 3]), forKey: "photo")
            drink.setValue(["sour", "sweet"], forKey: "tags")
            drink.setValue(["lemons": 2, "limes": 1], forKey: "counts")
            let other = NSManagedObject(entity: entity, insertInto: context)
            other.setValue("Water", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
        return path
    }

    private static let selection = "name,glass,ice,place,steps,notes,photo,tags,counts"

    @Test(
        arguments: [
            (
                "ndjson",
                [
                    #"{"name": "Sour", "glass": "coupe", "ice": "crushed", "#
                        + #""place": {"floors": [1,2], "number": 7, "street": "Elm"}, "steps": ["Stir",{"for":1.50}], "#
                        + #""notes": {"a":"x/y"}, "photo": "AQID", "tags": ["sour","sweet"], "#
                        + #""counts": {"lemons":2,"limes":1}}"#,
                    #"{"name": "Water", "glass": null, "ice": null, "place": null, "steps": null, "notes": null, "#
                        + #""photo": null, "tags": null, "counts": null}"#,
                ]
            ),
            (
                "csv",
                [
                    selection,
                    #"Sour,coupe,crushed,"{""floors"": [1,2], ""number"": 7, ""street"": ""Elm""}","#
                        + #""[""Stir"",{""for"":1.50}]","{""a"":""x/y""}",AQID,"[""sour"",""sweet""]","#
                        + #""{""lemons"":2,""limes"":1}""#,
                    "Water,,,,,,,,",
                ]
            ),
        ] as [(String, [String])])
    func valuesAreReadable(format: String, lines: [String]) throws {
        let scratch = try Scratch()
        let run = try CommandRun.coredata(
            "query", store(scratch), "Drink", "--sort", "name", "--select", Self.selection, "--format", format)
        #expect(run.lines.map(String.init) == lines, "\(run.error)")
    }

    @Test func tablesNameTheElementsOfComposites() throws {
        let scratch = try Scratch()
        let run = try CommandRun.coredata("query", store(scratch), "Drink/p1", "--select", "ice,place,steps,photo,tags")
        for text in [
            "crushed", "floors: [1,2], number: 7, street: Elm", #"["Stir",{"for":1.50}]"#, "<3 bytes>",
            #"["sour","sweet"]"#,
        ] {
            #expect(run.output.contains(text), "\(text): \(run.output)\(run.error)")
        }
    }

    /// Text that the JSON of an export would not make the same bytes of is a text there.
    @Test func exportsHaveJSONWhereAnImportMakesTheSameBytes() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let json = try CommandRun.coredata("export", store, "--entity", "Drink", "--no-ids", "--format", "ndjson")
        for text in [
            #""glass": "coupe""#, #""ice": "crushed""#, #""steps": ["Stir",{"for":1.50}]"#,
            #""notes": "{ \"a\" : \"x\\/y\" }""#, #""photo": "AQID""#,
            #""place": {"floors": [1,2], "number": 7, "street": "Elm"}"#,
        ] {
            #expect(json.output.contains(text), "\(text): \(json.output)\(json.error)")
        }
        let csv = try CommandRun.coredata("export", store, "--entity", "Drink", "--no-ids", "--format", "csv")
        let columns = "counts,glass,ice,name,notes,photo,place.floors,place.number,place.street,steps,tags"
        #expect(csv.lines.first.map(String.init) == columns, "\(csv.error)")
    }

    @Test(arguments: RoundTripTests.someFormats) func whatIsExportedIsImported(format: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        #expect(try RoundTripTests.roundTrip(store, format, in: scratch).differences.isEmpty)
        let difference = try CommandRun.coredata("store", "diff", store, scratch.path("copy.sqlite"))
        #expect(difference.status == 0, "\(difference.output)\(difference.error)")
    }

    @Test(arguments: [
        (#"[{"name": "Fizz", "ice": "melted"}]"#, "Drink.ice: has no case 'melted'"),
        (#"[{"name": "Fizz", "ice": 3}]"#, "Drink.ice: takes a case of its enumeration"),
        (#"[{"name": "Fizz", "place": "Elm"}]"#, "Drink.place: takes an object with its elements, not a text"),
        (#"[{"name": "Fizz", "photo": "[1,"}]"#, "Drink.photo: '[1,' is not base64"),
    ])
    func wrongValuesAreTold(text: String, message: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let file = try scratch.write(text, to: "wrong.json")
        let run = try CommandRun.coredata("import", store, "--entity", "Drink", file)
        #expect(run.status != 0 && (run.error + run.output).contains(message), "\(run.error)\(run.output)")
    }

    @Test func generatedDataHasOneCaseOfEachEnumeration() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        let made = try CommandRun.coredata("generate-data", store, "--count", "Drink=40")
        #expect(made.status == 0, "\(made.error)")
        let run = try CommandRun.coredata(
            "query", store, "Drink", "--select", "ice,glass", "--format", "csv", "--limit", "100")
        let lines = Set(run.lines.dropFirst().map(String.init))
        // The raw value is that of the object that was there.
        let expected = ["", "cubed", "crushed"].flatMap { ice in ["", "coupe"].map { "\(ice),\($0)" } }
        #expect(run.lines.count == 43 && lines.isSubset(of: expected), "\(lines)\(run.error)")
        #expect(lines.isSuperset(of: ["cubed,coupe", "crushed,coupe"]))
        // As are JSON and archives, which nothing could read otherwise.
        let others = try CommandRun.coredata(
            "query", store, "Drink", "--select", "steps,tags", "--format", "ndjson", "--limit", "100")
        let steps = ["null", #"["Stir",{"for":1.50}]"#]
        let expectedOthers = steps.flatMap { steps in
            ["null", #"["sour","sweet"]"#].map { #"{"steps": \#(steps), "tags": \#($0)}"# }
        }
        #expect(Set(others.lines.map(String.init)).isSubset(of: expectedOthers), "\(others.output)\(others.error)")
    }

    @Test func documentationNamesTheCasesOfEnumerations() throws {
        let scratch = try Scratch()
        let run = try CommandRun.coredata("model", "doc", store(scratch))
        #expect(run.output.contains("Enumeration of <code>cubed</code>, <code>crushed</code>"), "\(run.error)")
        #expect(run.output.contains("Enumeration of String values"))
        #expect(run.output.contains("Composite of <code>street</code>"))
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func appleMadeStoreIsReadable() throws {
        let path = try Fixtures.temporaryCopy("swiftdata/CartKitSwiftData_v1.sqlite").path
        let table = try CommandRun.coredata("query", path, "CartModel", "--select", "status,metadataJSON")
        #expect(table.output.contains(#"{"source":"legacy-swiftdata"}"#), "\(table.output)\(table.error)")
        let json = try CommandRun.coredata("query", path, "CartModel", "--select", "metadataJSON", "--format", "ndjson")
        #expect(json.output == #"{"metadataJSON": {"source":"legacy-swiftdata"}}"# + "\n", "\(json.error)")
        let export = try CommandRun.coredata("export", path, "--entity", "CartModel", "--no-ids")
        #expect(export.output.contains(#""metadataJSON": {"source":"legacy-swiftdata"}"#), "\(export.error)")
    }
}
