import CoreData
import CoreDataToolkit
import Foundation
import LivePages

extension Groceries {
    /// Fills a new store: common groceries, a shopping list half done.
    func makeDemo() async throws {
        _ = try await importDefaultData()
        try await stack.performImport { context in
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            for (index, item) in try context.fetch(request).enumerated() where index % 13 == 5 {
                item.listed = true
                item.collected = index % 39 == 5
                item.quantity = [1, 2, 0.5, 3, 1.5, 6][index / 13 % 6]
            }
        }
    }
}
