import CoreData
import Foundation
import LivePages
import LivePagesTesting

@testable import GroceryDude

extension App: TestedApp {
    package static var site: Site { .groceryDude }
    package nonisolated static var program: String { "GroceryDude" }
}

typealias TestServer = AppServer<App>

/// What a test's store has at first.
struct Filling: Sendable {
    static let small = Filling { try $0.fillSmall() }

    let fill: @MainActor @Sendable (Groceries) throws -> Void
}

extension AppServer where App == GroceryDude.App {
    static func run(
        _ filling: Filling, _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await run({ try filling.fill($0.groceries) }, test)
    }
}

extension Groceries {
    /// A few things in two places, with Milk on the list.
    func fillSmall() throws {
        try perform("Fill") {
            let kg = try findOrMakePlace(.unit, named: "kg")
            for (name, home, shop) in [
                ("Milk", "Fridge", "Dairy"), ("Butter", "Fridge", "Dairy"), ("Flour", "Pantry", "Baking"),
            ] {
                let item = try makeItem(named: name)
                item.unit = name == "Flour" ? kg as? GroceryDude.Unit : nil
                item.locationAtHome = try findOrMakePlace(.home, named: home) as? LocationAtHome
                item.locationAtShop = try findOrMakePlace(.shop, named: shop) as? LocationAtShop
                item.listed = name == "Milk"
            }
        }
    }

    /// The number of the item of that name.
    func number(of name: String) throws -> Int {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try view.fetch(request).first?.number ?? 0
    }
}
