import CoreData
import Foundation
import Testing

/// `perform` and `performAndWait` of a coordinator inside one another.
@Suite struct CoordinatorQueueTests {
    @Test("Q2: performAndWait on the coordinator's queue runs at once")
    func nested() throws {
        let stack = try LibraryStack()
        let (one, other) = (stack.coordinator, try LibraryStack().coordinator)
        var steps: [Int] = []
        one.performAndWait {
            steps.append(1)
            one.performAndWait { () -> Void in steps.append(2) }
            steps.append(one.performAndWait { 3 })
            other.performAndWait { one.performAndWait { () -> Void in steps.append(4) } }
        }
        #expect(steps == [1, 2, 3, 4])
    }

    @Test("Q2: so it does in a block of perform, and errors come out")
    func nestedInPerform() async throws {
        let coordinator = try LibraryStack().coordinator
        let count = await coordinator.perform { coordinator.performAndWait { coordinator.persistentStores.count } }
        #expect(count == 1)
        await #expect(throws: CocoaError.self) {
            try await coordinator.perform {
                try coordinator.performAndWait { () throws -> Void in throw CocoaError(.coderInvalidValue) }
            }
        }
    }
}
