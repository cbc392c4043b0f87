import Foundation
import TestSupport
import Testing

/// The example: what `make shopping-list` does.
@Suite struct ShoppingListTests {
    private static let unique = "Item.name,Unit.name,LocationAtHome.storedIn,LocationAtShop.aisle"

    @Test func theExampleRuns() throws {
        let scratch = try Scratch()
        let run = try CommandRun.run(
            CommandRun.example.appendingPathComponent("run.sh"), [scratch.folder.path],
            environment: ["COREDATA": CommandRun.executable().path])
        #expect(run.status == 0, "\(run.error)")
        #expect(run.output.contains("377 records imported"))
        #expect(run.output.contains("Aisle 4 (5)\nBaking Powder"))
        #expect(run.output.contains("47 objects"))
        #expect(run.output.contains("Model      kept in the store"))
        #expect(run.lines.last?.hasSuffix("is sound") == true)
        #expect(run.error == "")
    }

    @Test func importingTwiceChangesNothing() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        // A field that is named like a relationship finds the related object by its one unique attribute.
        let first = try CommandRun.coredata(
            "import", store, "--entity", "Item", CommandRun.exampleData, "--unique", Self.unique, "--json")
        #expect(first.output.contains(#""Item": {"created": 377, "updated": 0, "linked": 1084}"#), "\(first.error)")
        #expect(first.output.contains(#""Unit": {"created": 20, "updated": 0, "linked": 0}"#))
        let second = try CommandRun.coredata(
            "import", store, "--entity", "Item", CommandRun.exampleData, "--unique", Self.unique, "--json")
        #expect(second.output.contains(#""records": 377, "skipped": 0"#))
        #expect(second.output.contains(#""entities": {}"#))
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func applesDefaultDataIsImported() throws {
        let scratch = try Scratch()
        let model = Fixtures.url("grocery-dude/Model.xcdatamodeld").path
        let store = scratch.path("store.sqlite")
        let made = try CommandRun.coredata("store", "create", store, "--model", model, "--model-version", "Model 8")
        #expect(made.status == 0)
        let run = try CommandRun.coredata(
            "import", store, "--entity", "Item", Fixtures.url("grocery-dude/DefaultData.xml").path,
            "--unique", "Item.name", "--unique", "Unit.name", "--unique", "LocationAtHome.storeIn",
            "--unique", "LocationAtShop.aisle", "--map", "unit=unit.name",
            "--map", "locationathome=locationAtHome.storeIn", "--map", "locationatshop=locationAtShop.aisle", "--json")
        // The file has 400 items; Potatoes come twice.
        #expect(run.output.contains(#""Item": {"created": 399,"#), "\(run.error)")
        #expect(run.output.contains(#""LocationAtHome": {"created": 18,"#))
        #expect(run.output.contains(#""LocationAtShop": {"created": 17,"#))
        // Text stays as it is: ' Tin' keeps its blank, 'kg' and 'Kg' are two; blank units are none.
        let units = try CommandRun.coredata(
            "query", store, "Unit", "--select", "name", "--format", "ndjson", "--sort", "name")
        #expect(
            units.lines == [
                #"{"name": " Tin"}"#, #"{"name": "Kg"}"#, #"{"name": "L"}"#, #"{"name": "g"}"#, #"{"name": "kg"}"#,
                #"{"name": "ml"}"#, #"{"name": "pk"}"#, #"{"name": "punnet"}"#,
            ])
        #expect(try CommandRun.coredata("query", store, "Item", "--where", "unit == nil", "--count").output == "356\n")
        #expect(try CommandRun.coredata("store", "verify", store).status == 0)
    }

    /// Framework 478, no cached model; the example's model has the same version hashes.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func applesStoreOpensWithTheExamplesModel() throws {
        let store = Fixtures.url("grocery-dude/DefaultData.sqlite").path
        let model = CommandRun.exampleModel
        let list = try CommandRun.coredata(
            "query", store, "Item", "--model", model, "--where", "unit.name == 'kg'", "--sort", "-name", "--limit", "2",
            "--select", "name,unit.name,locationAtShop.aisle,listed")
        #expect(list.lines.first == "name     unit.name  locationAtShop.aisle  listed", "\(list.output)\(list.error)")
        #expect(list.lines.last == "2 objects")
        let info = try CommandRun.coredata("store", "info", store)
        #expect(info.output.contains("Framework  478"))
        #expect(info.output.contains("Item             399      1            ZITEM        f72a2bc1d710eeee…"))
        // A store migration left -1 as the highest key of every table.
        let verified = try CommandRun.coredata("store", "verify", store, "--model", model)
        #expect(verified.status == 0)
        #expect(verified.lines.count == 4)
    }
}
