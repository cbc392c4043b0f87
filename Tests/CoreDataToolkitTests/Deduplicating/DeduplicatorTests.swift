import CoreData
import CoreDataToolkit
import Foundation
import Testing

@Suite struct DeduplicatorTests {
    /// The example's units, and three that somebody wrote differently.
    private static func makeStack(_ grocery: Grocery) async throws -> CoreDataStack {
        let stack = try await grocery.makeFullStack()
        try await stack.performImport { context in
            for (name, count) in [(" Tin", 3), ("Kg", 2), ("KG", 1)] {
                let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
                unit.setValue(name, forKey: "name")
                for number in 0..<count {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue("\(name) \(number)", forKey: "name")
                    item.setValue(unit, forKey: "unit")
                }
            }
        }
        return stack
    }

    @Test func unitsThatDifferInBlanksAndCapitalsBecomeOne() async throws {
        let grocery = try Grocery()
        let stack = try await Self.makeStack(grocery)
        // Byte by byte nothing is there twice.
        #expect(try await Deduplicator(stack).removeDuplicates(of: "Unit", by: "name").removed == 0)
        let summary = try await Deduplicator(stack).removeDuplicates(
            of: "Unit", by: "name", matching: .ignoringCaseAndBlanks, keeping: .fullest)
        #expect(summary.groups == 2 && summary.removed == 3)
        // Of those that are as full, the oldest stays.
        #expect(try await stack.texts("Unit", "name").filter { $0.lowercased().contains("kg") } == ["kg"])
        #expect(try await stack.count("Item", "unit.name == 'tin'") == 22 + 3)
        #expect(try await stack.count("Item", "unit.name == 'kg'") == 37 + 3)
        #expect(try await stack.count("Item", "unit == nil") == 47)
        let again = try await Deduplicator(stack).removeDuplicates(
            of: "Unit", by: "name", matching: .ignoringCaseAndBlanks)
        #expect(again.removed == 0)
    }

    @Test func manyMembersAreLedElsewhereAFewAtATime() async throws {
        let grocery = try Grocery()
        let stack = try await Self.makeStack(grocery)
        var deduplicator = Deduplicator(stack)
        deduplicator.batchSize = 7
        let summary = try await deduplicator.removeDuplicates(
            of: "Unit", by: "name", matching: .by { $0.isEmpty ? "" : "one" }, keeping: .fullest)
        #expect(summary.groups == 1 && summary.removed == 22)
        #expect(try await stack.count("Item", "unit != nil") == 377 - 47 + 6)
    }

    @Test func theNewestOrTheChosenOneStays() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        try await stack.performImport { context in
            for (name, quantity) in [("Milk", 1), ("Milk", 3), ("Milk", 2), ("Tea", 1), ("Rice", 1), ("Rice", 5)] {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(name, forKey: "name")
                item.setValue(NSNumber(value: quantity), forKey: "quantity")
                let photo = NSEntityDescription.insertNewObject(forEntityName: "Item_Photo", into: context)
                item.setValue(photo, forKey: "photo")
            }
        }
        let newest = try await Deduplicator(stack).removeDuplicates(
            of: "Item", by: "name", keeping: .newest(by: "quantity"))
        #expect(newest.groups == 2 && newest.removed == 3)
        #expect(try await stack.count("Item", "name == 'Milk' && quantity == 3") == 1)
        // Their photos went with them.
        #expect(try await stack.count("Item_Photo") == 3)
        try await stack.performImport { context in
            for quantity in [7, 8] {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue("Salt", forKey: "name")
                item.setValue(NSNumber(value: quantity), forKey: "quantity")
            }
        }
        try await Deduplicator(stack).removeDuplicates(of: "Item", by: "name", keeping: .chosen { $0[1] })
        #expect(try await stack.count("Item", "name == 'Salt' && quantity == 8") == 1)
        let wrong = await #expect(throws: ToolkitError.self) {
            try await Deduplicator(stack).removeDuplicates(of: "Item", by: "nme")
        }
        #expect(wrong?.message.contains("did you mean 'name'?") == true)
    }

    @Test func objectsWithoutAValueAreNoDuplicates() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        try await stack.performImport { context in
            for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context) }
        }
        #expect(try await Deduplicator(stack).removeDuplicates(of: "Unit", by: "name").removed == 0)
        #expect(try await stack.count("Unit") == 3)
    }
}
