import Foundation
import SwiftData

// A small schema for tests of models and contexts.

@Model final class Dish {
    var name: String
    var servings = 2
    var price = 0.0
    var note: String?
    var season: DishSeason = DishSeason.summer
    @Relationship(deleteRule: .cascade, inverse: \DishStep.dish) var steps: [DishStep] = []
    @Relationship(inverse: \DishLabel.dishes) var labels: [DishLabel] = []
    @Transient var isSelected = false

    init(name: String, servings: Int = 2) {
        self.name = name
        self.servings = servings
    }
}

enum DishSeason: String, Codable { case summer, winter }

@Model final class DishStep {
    var text: String
    var dish: Dish?
    init(text: String, dish: Dish? = nil) {
        self.text = text
        self.dish = dish
    }
}

@Model final class DishLabel {
    @Attribute(.unique) var title: String
    var rank = 0
    var dishes: [Dish] = []
    init(title: String, rank: Int = 0) {
        self.title = title
        self.rank = rank
    }
}

/// A relationship without another side, and one that leads somewhere always.
@Model final class DishOrder {
    var number: Int
    var item: Dish?
    var guest: DishGuest
    init(number: Int, guest: DishGuest) {
        self.number = number
        self.guest = guest
    }
}

@Model final class DishGuest {
    var name: String
    init(name: String) { self.name = name }
}

/// A container in memory, and a context of its own.
func kitchen() throws -> (container: ModelContainer, context: ModelContext) {
    let container = try ModelContainer(
        for: Schema([Dish.self, DishStep.self, DishLabel.self, DishOrder.self, DishGuest.self]),
        configurations: [ModelConfiguration(isStoredInMemoryOnly: true)])
    return (container, ModelContext(container))
}
