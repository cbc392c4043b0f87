import CoreData
import Foundation

extension Groceries {
    /// Fills a new store: common groceries, a shopping list half done.
    func makeDemo() async throws {
        _ = try await importDefaultData()
        let context = backgroundContext("demo")
        try await context.perform {
            let request = NSFetchRequest<Item>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            for (index, item) in try context.fetch(request).enumerated() where index % 13 == 5 {
                item.listed = true
                item.collected = index % 39 == 5
                item.quantity = [1, 2, 0.5, 3, 1.5, 6][index / 13 % 6]
            }
            try context.save()
        }
    }
}
