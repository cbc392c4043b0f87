import CoreData
import Foundation

/// Copies chosen entities from one store to another: attributes, to-one, to-many and ordered relationships, circles too.
///
///     let copier = try DeepCopier(fromStoreAt: shipped, to: stack, unique: ["Item": "name", "Unit": "name"])
///     try await copier.copy(["Item", "Unit"]) { progress in print(progress.count) }
///
/// Objects are told apart by unique attributes and found or made by them, so that a copy can be made again: run twice, or killed
/// in the middle and run again, the result is the same. Of the chosen entities every object becomes as it is in the source;
/// objects that they lead to, of other entities, are found, or made with their attributes. What has no unique attribute is copied
/// where a one-to-one relationship leads to it, as a picture of its item.
///
/// Works in batches, each saved whole or not at all; memory is bounded by the batch, and by the members of many-to-many and
/// ordered relationships.
public struct DeepCopier: Sendable {
    /// How many objects are copied and saved at once.
    public var batchSize = 200
    /// Relationships that are not copied, as `Entity.relationship`.
    public var leavesOut: Set<String> = []
    /// Whether objects without values for their unique attributes are left out and counted; else the first one stops the copy.
    public var skipsUnidentified = false

    private let source: NSPersistentStoreCoordinator
    private let destination: NSPersistentStoreCoordinator
    private let uniques: UniqueAttributes
    private let stack: CoreDataStack?

    /// What a copy did.
    public struct Summary: Sendable {
        /// How many objects of the chosen entities were gone through.
        public var objects = 0
        /// What became of the destination's objects, by the names of entities.
        public var entities: [String: ImportSummary.Counts] = [:]
        /// How many objects were left out because nothing tells them apart.
        public var skipped = 0
    }

    /// Copies between the stores of two coordinators.
    ///
    /// - Parameter unique: by the name of the entity, the attributes that tell its objects apart; without them the uniqueness
    ///   constraints of the destination's model count.
    /// - Throws: a ``ToolkitError`` for an entity or attribute that the destination's model has not.
    public init(
        from source: NSPersistentStoreCoordinator, to destination: NSPersistentStoreCoordinator,
        unique: [String: [String]]
    ) throws {
        self.source = source
        self.destination = destination
        uniques = try UniqueAttributes(unique, in: destination.managedObjectModel)
        stack = nil
    }

    /// Copies from a store in a file, which is only read, to a stack, whose view context has everything afterwards.
    ///
    /// - Parameter model: the store's model; `nil` for the copy that the store keeps, and else the stack's own.
    /// - Throws: what opening the store throws, a ``ToolkitError`` for an entity or attribute that the model has not.
    public init(
        fromStoreAt url: URL, type: NSPersistentStore.StoreType = .sqlite, model: NSManagedObjectModel? = nil,
        to stack: CoreDataStack, unique: [String: String]
    ) throws {
        uniques = try UniqueAttributes(unique.mapValues { [$0] }, in: stack.model)
        let cached = model == nil ? try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) : nil
        source = try NSPersistentStoreCoordinator(validating: model ?? cached ?? stack.model)
        try source.addPersistentStore(
            type: type, at: url, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
        destination = stack.coordinator
        self.stack = stack
    }

    /// Copies all objects of the entities and of those below them.
    ///
    /// - Parameter entities: their names; `nil` for all that have something to tell their objects apart.
    /// - Throws: a ``ToolkitError`` that names entity or relationship where nothing tells objects apart; what fetching and saving
    ///   throw; `CancellationError` after the task was cancelled. Batches that were saved before stay.
    @discardableResult
    public func copy(
        isolation: isolated (any Actor)? = #isolation, _ entities: [String]? = nil, progress: ProgressHandler? = nil
    ) async throws -> Summary {
        do {
            let summary = try await BackgroundWork.run { cancellation in
                try run(entities, cancellation, progress)
            }
            await stack?.mergeNow()
            return summary
        } catch {
            await stack?.mergeNow()
            throw error
        }
    }

    private func run(
        _ entities: [String]?, _ cancellation: BackgroundWork.Cancellation, _ progress: ProgressHandler?
    ) throws -> Summary {
        let plan = try DeepCopyPlan(
            entities, from: source.managedObjectModel, to: destination.managedObjectModel, uniques, leavesOut)
        let from = NSManagedObjectContext(.privateQueue)
        from.persistentStoreCoordinator = source
        let into = stack?.newImportContext() ?? NSManagedObjectContext(.privateQueue)
        if stack == nil { into.persistentStoreCoordinator = destination }
        var summary = Summary()
        try from.performAndWait {
            let ids = try plan.chosen.map { try Self.objectIDs(of: $0, in: from) }
            let total = max(1, ids.reduce(0) { $0 + $1.count })
            for (entity, ids) in zip(plan.chosen, ids) {
                for start in stride(from: 0, to: ids.count, by: max(1, batchSize)) {
                    try cancellation.check()
                    let part = Array(ids[start..<min(start + max(1, batchSize), ids.count)])
                    let objects = try Self.objects(part, of: entity, in: from)
                    try into.performAndWait {
                        defer { into.reset() }
                        var batch = DeepCopyBatch(plan: plan, context: into, skipsUnidentified: skipsUnidentified)
                        try batch.copy(objects)
                        if into.hasChanges { try into.save() }
                        summary.add(batch)
                    }
                    from.reset()
                    summary.objects += part.count
                    progress?(
                        ToolkitProgress(
                            fractionCompleted: Double(summary.objects) / Double(total), count: summary.objects))
                }
            }
        }
        return summary
    }

    private static func objectIDs(
        of entity: DeepCopyPlan.Entity, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
        request.resultType = .managedObjectIDResultType
        request.includesSubentities = false
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        return try context.fetch(request)
    }

    /// One statement for the objects, and one for each relationship.
    private static func objects(
        _ ids: [NSManagedObjectID], of entity: DeepCopyPlan.Entity, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name)
        request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
        request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
        request.returnsObjectsAsFaults = false
        request.relationshipKeyPathsForPrefetching = entity.relationships.map(\.name)
        return try context.fetch(request)
    }
}

extension DeepCopier.Summary {
    fileprivate mutating func add(_ batch: DeepCopyBatch) {
        for (entity, counts) in batch.counts {
            entities[entity, default: .init()].created += counts.created
            entities[entity, default: .init()].updated += counts.updated
            entities[entity, default: .init()].linked += counts.linked
        }
        skipped += batch.skipped
    }
}
