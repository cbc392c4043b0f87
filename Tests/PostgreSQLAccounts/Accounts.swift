import CoreData
import CoreDataPostgreSQL
import Foundation

/// Accounts between which many move money at once: what is there in all stays the same, and each move is counted once on both sides.
package struct Accounts: Sendable {
    package let url: URL

    package init(_ url: URL) {
        self.url = url
        PostgreSQLStore.register()
    }

    package static let count = 4

    package static func makeModel() -> NSManagedObjectModel {
        let account = NSEntityDescription()
        account.name = "Account"
        account.properties = ["number", "balance", "moves"].map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .integer64AttributeType, false)
            attribute.defaultValue = 0
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [account]
        return model
    }

    package func open() throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        return coordinator
    }

    private static func newContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private static func accounts(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return try context.fetch(request)
    }

    package func make() throws {
        let context = Self.newContext(try open())
        try context.performAndWait {
            for number in 0..<Self.count {
                let account = NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
                account.setValue(number, forKey: "number")
                account.setValue(1000, forKey: "balance")
            }
            try context.save()
        }
    }

    /// Moves money so often, in each of so many contexts at once.
    ///
    /// - Throws: what a save fails with that is no conflict.
    package func move(times: Int, contexts: Int, seed: UInt64) throws {
        let coordinator = try open()
        let outcomes = Outcomes()
        DispatchQueue.concurrentPerform(iterations: contexts) { index in
            do {
                let context = Self.newContext(coordinator)
                var state = seed &* 1_000_003 &+ UInt64(index) &+ 1
                for _ in 0..<times {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    let (from, other) = (Int(state >> 33) % Self.count, Int(state >> 40) % (Self.count - 1))
                    try context.performAndWait {
                        try Self.move(from, (from + 1 + other) % Self.count, Int(state >> 50) % 50, context)
                    }
                }
            } catch { outcomes.add(error) }
        }
        if let error = outcomes.first { throw error }
    }

    private static func move(_ from: Int, _ to: Int, _ amount: Int, _ context: NSManagedObjectContext) throws {
        while true {
            let all = try accounts(context)
            for (account, change) in [(all[from], -amount), (all[to], amount)] {
                account.setValue((account.value(forKey: "balance") as? Int ?? 0) + change, forKey: "balance")
                account.setValue((account.value(forKey: "moves") as? Int ?? 0) + 1, forKey: "moves")
            }
            do { return try context.save() } catch let error as CocoaError
                where error.code.rawValue == NSManagedObjectMergeError
            {
                context.rollback()
                context.refreshAllObjects()
            }
        }
    }

    /// What there is in all, and how often it was moved.
    package func sums() throws -> (balance: Int, moves: Int) {
        let context = Self.newContext(try open())
        return try context.performAndWait {
            let all = try Self.accounts(context)
            func sum(_ key: String) -> Int { all.reduce(0) { $0 + ($1.value(forKey: key) as? Int ?? 0) } }
            return (sum("balance"), sum("moves") / 2)
        }
    }

    private final class Outcomes: @unchecked Sendable {
        // Safe because the lock guards the errors.
        private let lock = NSLock()
        private var errors: [any Error] = []

        func add(_ error: any Error) { lock.withLock { errors.append(error) } }
        var first: (any Error)? { lock.withLock { errors.first } }
    }
}
