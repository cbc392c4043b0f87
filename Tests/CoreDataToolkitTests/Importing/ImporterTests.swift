import CoreData
import CoreDataToolkit
import Foundation
import Synchronization
import Testing

@Suite struct ImporterTests {
    @Test func theGroceriesAreImportedOnce() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var importer = try Importer(stack, unique: Grocery.unique)
        importer.batchSize = 50
        let told = Mutex<[Int]>([])
        let first = try await importer.importRecords(
            from: .file(Grocery.data), as: "Item", map: Grocery.map
        ) { progress in told.withLock { $0.append(progress.count) } }
        #expect(first.records == 377 && first.skipped == 0)
        #expect(first.entities["Item"]?.created == 377)
        #expect(first.entities["Unit"]?.created == 20)
        #expect(told.withLock { $0 } == [50, 100, 150, 200, 250, 300, 350, 377])
        #expect(try await stack.count("Item", "unit == nil") == 47)
        #expect(try await stack.count("Item", "unit.name == 'g'") == 57)
        let second = try await importer.importRecords(from: .file(Grocery.data), as: "Item", map: Grocery.map)
        #expect(second.records == 377 && second.entities.isEmpty)
        #expect(try await stack.count("Unit") == 20)
    }

    @Test func whatIsThereCanStayAsItIs() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var importer = try Importer(stack, unique: Grocery.unique)
        importer.keepsExisting = true
        func add(_ text: String) async throws -> ImportSummary {
            try await importer.importRecords(from: .data(Data(text.utf8), format: .json), as: "Item")
        }
        _ = try await add(#"[{"name": "Milk", "quantity": 2, "unit": {"name": "L"}}]"#)
        let again = try await add(
            #"[{"name": "Milk", "quantity": 9, "unit": {"name": "ml"}}, {"name": "Tea", "unit": {"name": "L"}}]"#)
        #expect(again.entities["Item"]?.created == 1)
        #expect(again.entities["Item"]?.updated == 0)
        #expect(try await stack.count("Item", "name == 'Milk' && quantity == 2 && unit.name == 'L'") == 1)
        #expect(try await stack.count("Item", "name == 'Tea' && unit.name == 'L'") == 1)
        // Not even made where only what stays would lead there.
        #expect(try await stack.count("Unit") == 1)
    }

    private static let texts: [(RecordFormat, String)] = [
        (.xml, #"<items><item name="Milk" quantity="2" unit="L"/><item name="Tea" quantity="1" unit=""/></items>"#),
        (.json, #"[{"name": "Milk", "quantity": 2, "unit": {"name": "L"}}, {"name": "Tea", "quantity": 1}]"#),
        (.ndjson, "{\"name\": \"Milk\", \"quantity\": 2, \"unit\": \"L\"}\n{\"name\": \"Tea\", \"quantity\": 1}\n"),
        (.csv, "name,quantity,unit.name\nMilk,2,L\nTea,1,\n"),
    ]

    @Test(arguments: texts)
    func everyFormatMeansTheSame(format: RecordFormat, text: String) async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let importer = try Importer(stack, unique: Grocery.unique)
        let summary = try await importer.importRecords(
            from: .data(Data(text.utf8), format: format), as: "Item",
            map: format == .xml ? ["unit": "unit.name"] : [:])
        #expect(summary.records == 2)
        #expect(try await stack.count("Item", "name == 'Milk' && quantity == 2 && unit.name == 'L'") == 1)
        #expect(try await stack.count("Item", "name == 'Tea' && unit == nil") == 1)
        #expect(try await stack.count("Unit") == 1)
    }

    @Test func wrongValuesAreToldWithLineEntityAndAttribute() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var importer = try Importer(stack, unique: Grocery.unique)
        let file = try grocery.write("name,quantity\nMilk,2\nTea,many\nRice,1\nSalt,none\n", to: "Items.csv")
        let failure = await #expect(throws: RecordFailure.self) {
            try await importer.importRecords(from: .file(file), as: "Item")
        }
        #expect(failure?.line == 3 && failure?.number == 2)
        #expect(
            failure?.localizedDescription.contains("Items.csv:3: record 2: Item.quantity: 'many' is not a number")
                == true)
        #expect(try await stack.count("Item") == 0)
        importer.skipsInvalid = true
        let summary = try await importer.importRecords(from: .file(file), as: "Item")
        #expect(summary.records == 2 && summary.skipped == 2)
        #expect(summary.failures.map(\.line) == [3, 5])
        #expect(try await stack.texts("Item", "name") == ["Milk", "Rice"])
    }

    @Test func whatTheModelHasNotIsToldWithWhatItHas() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let entity = #expect(throws: ToolkitError.self) { try Importer(stack, unique: ["Itm": "name"]) }
        #expect(entity?.message.contains("did you mean 'Item'?") == true)
        let attribute = #expect(throws: ToolkitError.self) { try Importer(stack, unique: ["Item": "nme"]) }
        #expect(attribute?.message.contains("did you mean 'name'?") == true)
        let importer = try Importer(stack, unique: Grocery.unique)
        await #expect(throws: ToolkitError.self) {
            try await importer.importRecords(from: .file(Grocery.data), as: "Item", map: ["unit": "unit.nam"])
        }
        await #expect(throws: ToolkitError.self) {
            try await importer.importRecords(from: .file(grocery.folder.appendingPathComponent("a.txt")), as: "Item")
        }
    }

    @Test func anImportThatIsCancelledKeepsItsBatchesAndGoesOn() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        var importer = try Importer(stack, unique: Grocery.unique)
        importer.batchSize = 100
        let begun = AsyncStream<Void>.makeStream()
        let go = Mutex<Task<Void, any Error>?>(nil)
        let task = Task { [importer] in
            for await _ in begun.stream { break }
            try await importer.importRecords(from: .file(Grocery.data), as: "Item", map: Grocery.map) { _ in
                go.withLock { $0?.cancel() }
            }
        }
        go.withLock { $0 = task }
        begun.continuation.yield()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await stack.count("Item") == 100)
        let rest = try await importer.importRecords(from: .file(Grocery.data), as: "Item", map: Grocery.map)
        #expect(rest.entities["Item"]?.created == 277)
    }

    @Test func objectsAreFoundOrMadeInTheOrderOfTheirValues() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeFullStack()
        let importer = try Importer(stack, unique: Grocery.unique)
        let names = try await stack.performImport { context in
            let units = try importer.objects(of: "Unit", for: ["kg", "barrel", "g", "barrel"], in: context)
            #expect(units[1] === units[3] && units[1].isInserted && !units[0].isInserted)
            let none = try importer.existingObject(of: "Unit", for: "KG", in: context)
            #expect(none == nil)
            return units.compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(names == ["kg", "barrel", "g", "barrel"])
        #expect(try await stack.count("Unit") == 21)
    }

    @Test func aValueOfAnotherTypeIsAnError() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let importer = try Importer(stack, unique: Grocery.unique)
        try await stack.performImport { context in
            #expect(throws: ToolkitError.self) { try importer.object(of: "Unit", for: 5, in: context) }
            #expect(context.insertedObjects.isEmpty)
        }
    }

    @Test func manyValuesAreLookedUpInPortions() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        let importer = try Importer(stack, unique: Grocery.unique)
        let names = (0..<1200).map { "item \($0)" }
        for _ in 0..<2 {
            try await stack.performImport { context in
                let items = try importer.objects(of: "Item", for: names, in: context)
                #expect(items.count == 1200)
            }
        }
        #expect(try await stack.count("Item") == 1200)
    }
}
