import CoreData
import Foundation

/// Finds objects that are there several times, keeps one of each, and leads to it what led to the others.
///
///     let deduplicator = Deduplicator(stack)
///     let summary = try await deduplicator.removeDuplicates(
///         of: "Unit", by: "name", matching: .ignoringCaseAndBlanks, keeping: .fullest)
///     print("\(summary.removed) of \(summary.groups) groups removed")
///
/// One statement counts the values:
///
///     // SELECT t0.ZNAME, COUNT(*) FROM ZUNIT t0 GROUP BY t0.ZNAME
///
/// Works in batches, each saved whole or not at all; run again after an interruption it goes on. Before duplicates are looked
/// for, memory holds the distinct values.
public struct Deduplicator: Sendable {
    /// Which values count as the same.
    public enum Matching: Sendable {
        /// Equal ones, texts byte by byte.
        case exact
        /// Texts that differ in capitals and in blanks at their ends only: " Tin" and "tin", "kg" and "Kg".
        case ignoringCaseAndBlanks
        /// Texts that the closure makes the same.
        case by(@Sendable (String) -> String)
    }

    /// Which object of a group stays.
    public enum Keeping: Sendable {
        /// The one whose attribute is greatest, such as the date of its last change; no value comes last.
        case newest(by: String)
        /// The one with most attributes and relationships that have something.
        case fullest
        /// The one that the closure chooses of those of a group, which it must not change; on a queue of the deduplicator's.
        case chosen(@Sendable ([NSManagedObject]) -> NSManagedObject)
    }

    /// What was done.
    public struct Summary: Hashable, Sendable {
        /// How many values were there several times.
        public var groups = 0
        /// How many objects were deleted.
        public var removed = 0
    }

    /// How many groups are worked on at once, and how many related objects are led elsewhere in one save.
    public var batchSize = 100

    private let coordinator: NSPersistentStoreCoordinator
    private let stack: CoreDataStack?

    /// Works on a stack's store; its view context has everything afterwards.
    public init(_ stack: CoreDataStack) {
        coordinator = stack.coordinator
        self.stack = stack
    }

    /// Works on a coordinator's stores.
    public init(_ coordinator: NSPersistentStoreCoordinator) {
        self.coordinator = coordinator
        stack = nil
    }

    /// Removes the duplicates of one entity.
    ///
    /// What a loser leads to, the one that stays leads to as well: members of to-many relationships are added, a to-one is taken
    /// where it has none. What leads to a loser without an inverse is led to the one that stays. Then the loser is deleted by its
    /// delete rules. Objects without a value are no duplicates, and neither are objects of different entities.
    ///
    /// - Throws: a ``ToolkitError`` for an entity or attribute that the model has not; what fetching and saving throw;
    ///   `CancellationError` after the task was cancelled. Batches that were saved before stay.
    @discardableResult
    public func removeDuplicates(
        isolation: isolated (any Actor)? = #isolation, of entity: String, by attribute: String,
        matching: Matching = .exact, keeping: Keeping = .fullest, progress: ProgressHandler? = nil
    ) async throws -> Summary {
        do {
            let summary = try await BackgroundWork.run { cancellation in
                try run(entity, attribute, matching, keeping, cancellation, progress)
            }
            await stack?.mergeNow()
            return summary
        } catch {
            await stack?.mergeNow()
            throw error
        }
    }

    private func run(
        _ name: String, _ attribute: String, _ matching: Matching, _ keeping: Keeping,
        _ cancellation: BackgroundWork.Cancellation, _ progress: ProgressHandler?
    ) throws -> Summary {
        let entity = try coordinator.managedObjectModel.entity(called: name)
        for name in [attribute, keeping.attribute].compactMap({ $0 }) {
            guard entity.attributesByName[name] != nil else {
                let hint = Suggestion.text(for: name, among: Array(entity.attributesByName.keys))
                throw ToolkitError("\(entity.name ?? "") has no attribute '\(name)'\(hint)")
            }
        }
        let context = stack?.newImportContext() ?? NSManagedObjectContext(.privateQueue)
        if stack == nil { context.persistentStoreCoordinator = coordinator }
        return try context.performAndWait {
            let values = DuplicateValues(entity: entity, attribute: attribute, matching: matching)
            let groups = try values.groups(in: context)
            var summary = Summary()
            for start in stride(from: 0, to: groups.count, by: max(1, batchSize)) {
                try cancellation.check()
                let part = Array(groups[start..<min(start + max(1, batchSize), groups.count)])
                let batch = DuplicateBatch(
                    values: values, keeping: keeping, context: context, portion: max(1, batchSize))
                let removed = try batch.run(part)
                summary.groups += removed.groups
                summary.removed += removed.removed
                progress?(
                    ToolkitProgress(
                        fractionCompleted: Double(start + part.count) / Double(groups.count), count: summary.removed))
            }
            return summary
        }
    }
}

extension Deduplicator.Keeping {
    fileprivate var attribute: String? {
        if case .newest(let attribute) = self { return attribute }
        return nil
    }
}
