import Foundation
import SwiftData
import Synchronization
import Testing

@Suite struct ModelFollowingTests {
    private final class Count: Sendable {
        let value = Mutex(0)
        var number: Int { value.withLock { $0 } }
        func add() { value.withLock { $0 += 1 } }
    }

    /// Complaint 22, complaint 24: observers learn of what a sibling saved, and of no property that did not change.
    @Test func observersLearnOfSiblingSavesByProperty() throws {
        let (container, context) = try kitchen()
        let dish = Dish(name: "Soup")
        context.insert(dish)
        try context.save()
        let other = ModelContext(container)
        let same = try #require(other.model(for: dish.persistentModelID) as? Dish)
        let (names, notes) = (Count(), Count())
        withObservationTracking {
            _ = same.name
        } onChange: {
            names.add()
        }
        withObservationTracking {
            _ = same.note
        } onChange: {
            notes.add()
        }
        same._follow(\Dish.name)
        same._follow(\Dish.note)
        dish.name = "Broth"
        try context.save()
        other.takeSiblingChanges()
        #expect(same.name == "Broth")
        #expect(names.number == 1 && notes.number == 0)
    }

    /// Observers learn of the other side of a relationship, and of a rollback.
    @Test func observersLearnOfInversesAndRollback() throws {
        let (_, context) = try kitchen()
        let dish = Dish(name: "Soup")
        let step = DishStep(text: "Boil")
        context.insert(dish)
        context.insert(step)
        try context.save()
        let steps = Count()
        withObservationTracking {
            _ = dish.steps
        } onChange: {
            steps.add()
        }
        dish._follow(\Dish.steps)
        step.dish = dish
        #expect(steps.number == 1)
        let names = Count()
        dish.name = "Broth"
        withObservationTracking {
            _ = dish.name
        } onChange: {
            names.add()
        }
        dish._follow(\Dish.name)
        context.rollback()
        #expect(names.number == 1 && dish.name == "Soup")
    }
}
