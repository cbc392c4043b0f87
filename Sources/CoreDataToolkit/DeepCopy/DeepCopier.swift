import CoreData
import Foundation

/// Copies objects of chosen entities from one store to another: attributes, and to-one, to-many and ordered
/// relationships, including cycles.
///
///     let copier = try DeepCopier(fromStoreAt: shipped, to: stack, unique: ["Item": "name", "Unit": "name"])
///     try await copier.copy(["Item", "Unit"]) { progress in print(progress.count) }
///
/// Unique attributes identify objects: an object is found by them, or created. So a copy is idempotent: run twice, or
/// killed and run again, it gives the same result. Every object of the chosen entities is made equal to its source.
/// Related objects of other entities are found, or created with their attributes. An object without unique attributes
/// is copied if a one-to-one relationship of its owner refers to it, such as the picture of an item.
///
/// The work is done in batches, and each batch is saved completely or not at all. Memory use is limited by the batch
/// size, and by the number of members of many-to-many and ordered relationships.
public struct DeepCopier: Sendable {
    /// The number of objects that are copied and saved together.
    public var batchSize = 200
    /// Relationships to ignore, as `Entity.relationship`.
    public var leavesOut: Set<String> = []
    /// Whether objects without values for their unique attributes are skipped and counted; otherwise the first one
    /// stops the copy.
    public var skipsUnidentified = false

    private let source: NSPersistentStoreCoordinator
    private let destination: NSPersistentStoreCoordinator
    private let uniques: UniqueAttributes
    private let stack: CoreDataStack?

    /// The result of a copy.
    public struct Summary: Sendable {
        /// The number of processed objects of the chosen entities.
        public var objects = 0
        /// The numbers of changed objects in the destination, by entity name.
        public var entities: [String: ImportSummary.Counts] = [:]
        /// The number of objects that were skipped because they cannot be identified.
        public var skipped = 0
    }

    /// Copies between the stores of two coordinators.
    ///
    /// - Parameter unique: by entity name, the attributes that identify its objects; by default, the uniqueness
    ///   constraints of the destination's model.
    /// - Throws: a ``ToolkitError`` for an entity or attribute that the destination's model lacks.
    public init(
        from source: NSPersistentStoreCoordinator, to destination: NSPersistentStoreCoordinator,
        unique: [String: [String]]
    ) throws {
        self.source = source
        self.destination = destination
        uniques = try UniqueAttributes(unique, in: destination.managedObjectModel)
        stack = nil
    }

    /// Copies from a store's file, which is opened read-only, to a stack, whose view context contains all changes
    /// afterwards.
    ///
    /// - Parameter model: the store's model; by default the model cached in the store, else the stack's own.
    /// - Throws: the errors of opening the store; a ``ToolkitError`` for an entity or attribute that the model lacks.
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

    /// Copies all objects of the entities and of their subentities.
    ///
    /// - Parameter entities: the entities' names; `nil` for all entities whose objects can be identified.
    /// - Throws: a ``ToolkitError`` that names an entity or relationship whose objects cannot be identified; errors of
    ///   fetching and saving; `CancellationError` after the task was cancelled. Batches that were saved before remain.
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

    /// Fetches with one statement for the objects, and one for each relationship.
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
