import CoreData
import CoreDataToolkit
import Foundation
import Testing

/// What docs/toolkit.md shows is what is compiled and run here, so that it cannot rot.
@Suite struct ToolkitPageTests {
    private func example(model: NSManagedObjectModel, url: URL, items: URL, folder: URL) async throws -> Int {
        // The page's lines begin here.
        let unique = ["Item": "name", "Unit": "name", "LocationAtHome": "storedIn", "LocationAtShop": "aisle"]
        let stack = try await CoreDataStack.setUp(model: model, storeURL: url, options: .server)
        try await DefaultData.offer(
            in: stack, ask: { true },
            importing: { try await Importer($0, unique: unique).importRecords(from: .file(items), as: "Item") })
        try await Deduplicator(stack).removeDuplicates(of: "Unit", by: "name", matching: .ignoringCaseAndBlanks)
        let backup = Backup(stack, to: FolderDestination(folder))
        let made = try await backup.create()
        try await stack.performImport { context in
            let milk = try Importer(stack, unique: unique).object(of: "Item", for: "Milk", in: context)
            milk.setValue(NSNumber(value: 2), forKey: "quantity")
        }
        try await backup.restore(made.name)
        let count = try await stack.viewContext.perform {
            try stack.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item"))
        }
        // And they end here.
        return count
    }

    @Test func theExampleRuns() async throws {
        let grocery = try Grocery()
        let count = try await example(
            model: Grocery.model(), url: grocery.storeURL, items: Grocery.data,
            folder: grocery.folder.appendingPathComponent("Backups"))
        #expect(count == 377)
    }

    @Test func thePageShowsTheExample() throws {
        let lines = try String(contentsOfFile: #filePath, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let start = try #require(lines.firstIndex { $0.hasSuffix("// The page's lines begin here.") })
        let end = try #require(lines.firstIndex { $0.hasSuffix("// And they end here.") })
        let example = lines[(start + 1)..<end].map { $0.dropFirst(8) }.joined(separator: "\n")
        let page = try String(contentsOf: Grocery.root.appendingPathComponent("docs/toolkit.md"), encoding: .utf8)
        #expect(page.contains("```swift\n\(example)\n```"))
    }
}
