import CoreData
import Foundation

/// Fills a store with realistic objects of any model: the same seed gives the same data on every machine.
///
///     var generator = TestDataGenerator(stack, seed: 7)
///     generator.relationshipCounts = ["Unit.items": 0...40]
///     try await generator.generate(["Item": 1000, "Unit": 20])
///
/// Texts, numbers and dates suit the names of their attributes and satisfy validation that consists of simple bounds.
/// Unique values are unique, and relationships keep to their counts. Objects are saved in batches. Memory contains only
/// their IDs and links, less than a kilobyte per object. An exception are entities that require each other: they are
/// saved all at once.
public struct TestDataGenerator: Sendable {
    /// The seed of all data.
    public var seed: UInt64
    /// The number of objects per save.
    public var batchSize = 500
    /// The numbers of members of to-many relationships, as `Entity.relationship`; the model's limits always apply.
    public var relationshipCounts: [String: ClosedRange<Int>] = [:]
    /// The values of attributes, as `Entity.attribute`: closures that are called with the number of the object, from 0.
    public var values: [String: @Sendable (Int) -> Any?] = [:]

    private let coordinator: NSPersistentStoreCoordinator
    private let stack: CoreDataStack?

    /// The result of a run.
    public struct Summary: Hashable, Sendable {
        /// The number of objects by entity name.
        public var objects: [String: Int] = [:]
        /// The number of relationships set between two objects.
        public var links = 0
    }

    /// Fills a stack's store; its view context contains everything afterwards.
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

    /// Creates the given number of objects of each entity, in addition to existing ones.
    ///
    /// - Parameter counts: the numbers by the names of entities that are not abstract.
    /// - Throws: a ``ToolkitError`` for unknown names, and for counts that contradict required relationships; the
    ///   errors of saving; `CancellationError` after the task was cancelled. Batches that were saved before remain.
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

    /// Creates the objects synchronously, in a separate context.
    ///
    /// - Parameter makesAllUnique: whether all values differ between objects.
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
