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

    private func count(_ label: DishLabel) -> Count {
        let count = Count()
        withObservationTracking {
            _ = label.rank
        } onChange: {
            count.add()
        }
        label._follow(\DishLabel.rank)
        return count
    }

    /// Of two models that stand for one row because of a unique value, both notify their observers of changes from
    /// elsewhere.
    @Test(arguments: [false, true]) func bothModelsOfOneRowNotifyTheirObservers(_ isObservedBefore: Bool) throws {
        let (container, context) = try kitchen()
        let (first, second) = (DishLabel(title: "hot", rank: 1), DishLabel(title: "hot", rank: 2))
        context.insert(first)
        context.insert(second)
        var counts = isObservedBefore ? [count(first), count(second)] : []
        try context.save()
        #expect(first.persistentModelID == second.persistentModelID)
        counts = [count(first), count(second)]
        let other = ModelContext(container)
        let same = try #require(other.model(for: first.persistentModelID) as? DishLabel)
        same.rank = 7
        try other.save()
        context.takeSiblingChanges()
        #expect(first.rank == 7 && second.rank == 7)
        #expect(counts.map(\.number) == [1, 1])
    }

    /// An observer that began before the save is notified by the row that the model stands for since.
    @Test func observersStayWithTheirModelWhenItStandsForAnotherRow() throws {
        let (container, context) = try kitchen()
        let first = DishLabel(title: "hot", rank: 1)
        context.insert(first)
        try context.save()
        let second = DishLabel(title: "hot", rank: 1)
        context.insert(second)
        let number = count(second)
        try context.save()
        let before = number.number
        let other = ModelContext(container)
        let same = try #require(other.model(for: first.persistentModelID) as? DishLabel)
        same.rank = 7
        try other.save()
        context.takeSiblingChanges()
        #expect(second.rank == 7 && before == 0 && number.number == 1)
    }

    /// Once the model that the context returns is deallocated, it returns the other model of the row.
    @Test func theOtherModelOfARowTakesItsPlace() throws {
        let (_, context) = try kitchen()
        var first: DishLabel? = DishLabel(title: "hot", rank: 1)
        let second = DishLabel(title: "hot", rank: 2)
        first.map(context.insert)
        context.insert(second)
        try context.save()
        let id = second.persistentModelID
        weak let gone = first
        first = nil
        let found = context.model(for: id) as? DishLabel
        #expect(gone == nil && found === second)
    }
}
