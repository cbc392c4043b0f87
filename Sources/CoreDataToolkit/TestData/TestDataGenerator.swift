import CoreData
import Foundation

/// Fills a store with believable objects of any model: the same seed makes the same data, on every machine.
///
///     var generator = TestDataGenerator(stack, seed: 7)
///     generator.relationshipCounts = ["Unit.items": 0...40]
///     try await generator.generate(["Item": 1000, "Unit": 20])
///
/// Texts, numbers and dates fit the names of their attributes and keep to what validation allows, as far as that is said in simple
/// bounds; unique values are unique; relationships keep to their counts. Objects are saved in batches: of each, memory keeps its ID and whom it is linked to, less than a kilobyte; only
/// entities that must lead to one another from the first moment are saved all at once.
public struct TestDataGenerator: Sendable {
    /// What everything follows from.
    public var seed: UInt64
    /// How many objects are saved at once.
    public var batchSize = 500
    /// How many members to-many relationships have, as `Entity.relationship`; what the model says is kept to in any case.
    public var relationshipCounts: [String: ClosedRange<Int>] = [:]
    /// What the values of attributes are, as `Entity.attribute`: called with the number of the object, from 0.
    public var values: [String: @Sendable (Int) -> Any?] = [:]

    private let coordinator: NSPersistentStoreCoordinator
    private let stack: CoreDataStack?

    /// What was made.
    public struct Summary: Hashable, Sendable {
        /// How many objects, by the names of entities.
        public var objects: [String: Int] = [:]
        /// How many relationships were set between two objects.
        public var links = 0
    }

    /// Fills a stack's store, and its view context has everything afterwards.
    public init(_ stack: CoreDataStack, seed: UInt64 = 1) {
        coordinator = stack.coordinator
        self.stack = stack
        self.seed = seed
    }

    /// Fills a coordinator's store.
    public init(_ coordinator: NSPersistentStoreCoordinator, seed: UInt64 = 1) {
        self.coordinator = coordinator
        stack = nil
        self.seed = seed
    }

    /// Makes so many objects of each entity, beside those that are there.
    ///
    /// - Parameter counts: by the names of entities that are not abstract.
    /// - Throws: a ``ToolkitError`` for what the model has not, and for counts that contradict what relationships need; what saving
    ///   throws; `CancellationError` after the task was cancelled. Batches that were saved before stay.
    @discardableResult
    public func generate(
        isolation: isolated (any Actor)? = #isolation, _ counts: [String: Int], progress: ProgressHandler? = nil
    ) async throws -> Summary {
        let result: Result<Summary, any Error>
        do {
            result = .success(
                try await BackgroundWork.run { cancellation in
                    let context = stack?.newImportContext() ?? NSManagedObjectContext(.privateQueue)
                    if stack == nil { context.persistentStoreCoordinator = coordinator }
                    return try fill(context, counts) { fraction, count in
                        progress?(ToolkitProgress(fractionCompleted: fraction, count: count))
                        try cancellation.check()
                    }
                })
        } catch { result = .failure(error) }
        await stack?.mergeNow()
        return try result.get()
    }

    /// Does the work in a context of its own, and waits.
    ///
    /// - Parameter makesAllUnique: whether all values differ from object to object.
    package func fill(
        _ context: NSManagedObjectContext, _ counts: [String: Int], makesAllUnique: Bool = false,
        progress: (_ fraction: Double, _ objects: Int) throws -> Void = { _, _ in }
    ) throws -> Summary {
        let model = coordinator.managedObjectModel
        let plan = try TestDataPlan(model, counts, relationshipCounts, seed: seed)
        for key in values.keys { try Self.check(key, in: model) }
        return try context.performAndWait {
            var run = try TestDataRun(
                plan: plan, context: context, values: values, makesAllUnique: makesAllUnique,
                batchSize: max(1, batchSize))
            return try run.run(progress)
        }
    }

    private static func check(_ key: String, in model: NSManagedObjectModel) throws {
        let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ToolkitError("'\(key)' is no Entity.attribute, such as Item.name.") }
        let entity = try model.entity(called: parts[0])
        guard entity.attributesByName[parts[1]] != nil else {
            let hint = Suggestion.text(for: parts[1], among: Array(entity.attributesByName.keys))
            throw ToolkitError("\(parts[0]) has no attribute '\(parts[1])'\(hint)")
        }
    }
}
