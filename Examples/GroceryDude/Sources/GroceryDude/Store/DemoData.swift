import CoreData
import CoreDataToolkit
import Foundation
import LivePages

// A store to look at and to try things out in.
extension Groceries {
    private static let kinds = [
        "apples", "beans", "berries", "biscuits", "bread", "butter", "carrots", "cheese", "coffee", "crackers",
        "juice", "lentils", "milk", "noodles", "oil", "peas", "rice", "soup", "tea", "tomatoes",
    ]
    private static let sorts = [
        "Organic", "Frozen", "Dried", "Smoked", "Fresh", "Wholegrain", "Salted", "Sweet", "Green", "Red", "Italian",
        "Spicy", "Light", "Canned", "Local", "Strong", "Golden", "Roasted", "Creamy", "Wild",
    ]
    private static let units = ["kg", "g", "L", "ml", "tin", "bag", "bottle", "jar"]
    private static let places = [
        "Fridge", "Freezer", "Pantry", "Cupboard", "Cellar", "Fruit bowl", "Bread bin", "Spice rack", "Garage",
        "Larder",
    ]
    private static let aisles = ["Fruit", "Bakery", "Dairy", "Cold"] + (1...8).map { "Aisle \($0)" }

    /// Fills a new store with items that are made up, the same ones each time: some with a picture, a shopping list half done.
    func makeDemo() async throws {
        let (kinds, sorts) = (Self.kinds, Self.sorts)
        let (units, places, aisles) = (Self.units, Self.places, Self.aisles)
        var generator = TestDataGenerator(stack, seed: 7)
        generator.relationshipCounts = [
            "Unit.items": 10...80, "LocationAtHome.items": 10...80, "LocationAtShop.items": 10...80,
        ]
        generator.values = [
            "Item.name": { "\(sorts[$0 / kinds.count % sorts.count]) \(kinds[$0 % kinds.count])" },
            "Item.quantity": { [1, 2, 0.5, 3, 1.5, 6][$0 % 6] as Float },
            "Item.listed": { $0 % 13 == 5 }, "Item.collected": { $0 % 39 == 5 },
            // Small pictures are made of the large ones.
            "Item.thumbnail": { _ in nil },
            "Unit.name": { units[$0 % units.count] },
            "LocationAtHome.storedIn": { places[$0 % places.count] },
            "LocationAtShop.aisle": { aisles[$0 % aisles.count] },
        ]
        try await generator.generate([
            "Item": kinds.count * sorts.count, "Item_Photo": 40, "Unit": units.count, "LocationAtHome": places.count,
            "LocationAtShop": aisles.count,
        ])
    }
}
