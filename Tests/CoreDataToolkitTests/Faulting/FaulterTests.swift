import CoreData
import CoreDataToolkit
import Foundation
import Testing

@Suite struct FaulterTests {
    @Test func changedObjectsAreSavedAndBecomeFaultsUpTheChain() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeFullStack()
        try await stack.inView { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "name BEGINSWITH 'A'")
            request.returnsObjectsAsFaults = false
            let items = try context.fetch(request)
            #expect(items.count > 2 && items.allSatisfy { !$0.isFault })
            items[0].setValue("Changed", forKey: "name")
            try Faulter.fault(items)
            #expect(items.allSatisfy(\.isFault) && !context.hasChanges)
            stack.parentContext.performAndWait {
                let above = items.compactMap { stack.parentContext.registeredObject(for: $0.objectID) }
                #expect(above.allSatisfy(\.isFault) && !stack.parentContext.hasChanges)
            }
            #expect(items[0].value(forKey: "name") as? String == "Changed")
        }
        // It is in the store, not only in the parent.
        let written = try await stack.performImport { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "name == 'Changed'")
            return try context.count(for: request)
        }
        #expect(written == 1)
    }

    @Test func newObjectsAreSavedFirst() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        try await stack.inView { context in
            let unit = NSEntityDescription.insertNewObject(forEntityName: "Unit", into: context)
            unit.setValue("kg", forKey: "name")
            try Faulter.fault(unit)
            #expect(unit.isFault && !unit.objectID.isTemporaryID)
            #expect(unit.value(forKey: "name") as? String == "kg")
        }
    }
}
