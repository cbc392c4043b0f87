import CoreData
import Foundation

/// Finds duplicate objects, keeps one of each group, and redirects references to the others to it.
///
///     let deduplicator = Deduplicator(stack)
///     let summary = try await deduplicator.removeDuplicates(
///         of: "Unit", by: "name", matching: .ignoringCaseAndBlanks, keeping: .fullest)
///     print("\(summary.removed) of \(summary.groups) groups removed")
///
/// One statement finds the duplicates:
///
///     // SELECT t0.ZNAME, COUNT(*) FROM ZUNIT t0 GROUP BY t0.ZNAME
///
/// The work is done in batches, and each batch is saved completely or not at all. After an interruption, run it again
/// to continue. While searching for duplicates, memory contains the distinct values.
public struct Deduplicator: Sendable {
    /// The rule that decides which values are equal.
    public enum Matching: Sendable {
        /// Values are equal; texts are compared byte by byte.
        case exact
        /// Texts may differ in case and in white space at both ends: " Tin" and "tin", "kg" and "Kg".
        case ignoringCaseAndBlanks
        /// Texts for which the closure returns equal results.
        case by(@Sendable (String) -> String)
    }

    /// The rule that decides which object of a group is kept.
    public enum Keeping: Sendable {
        /// The object with the greatest value of the attribute, such as the date of its last change; no value counts as
        /// least.
        case newest(by: String)
        /// The object with the most non-empty attributes and relationships.
        case fullest
        /// The object that the closure chooses from a group. The closure runs on the deduplicator's queue and must not
        /// change the objects.
        case chosen(@Sendable ([NSManagedObject]) -> NSManagedObject)
    }

    /// The result of a run.
    public struct Summary: Hashable, Sendable {
        /// The number of values with duplicates.
        public var groups = 0
        /// The number of deleted objects.
        public var removed = 0
    }

    /// The number of groups per batch, and of related objects that are redirected in one save.
    public var batchSize = 100

    private let coordinator: NSPersistentStoreCoordinator
    private let stack: CoreDataStack?

    /// Works on a stack's store; its view context contains all changes afterwards.
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
    /// The kept object takes over the relationships of each duplicate: members of to-many relationships are added, and
    /// a to-one is set if it is empty. References to a duplicate without an inverse are redirected to the kept object.
    /// Then the duplicate is deleted with its delete rules. Objects without a value, and objects of different entities,
    /// are not duplicates.
    ///
    /// - Throws: a ``ToolkitError`` for an unknown entity or attribute; errors of fetching and saving;
    ///   `CancellationError` after the task was cancelled. Batches that were saved before remain.
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
