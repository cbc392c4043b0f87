import Foundation

/// The rounds of one save in which the merge policy resolves what was in the way.
///
/// ```
///  save ──conflicts──▶ policy changes objects ──▶ save ──conflicts──▶ … ──▶ written ──▶ ObjectsDidChange
///                        │ throws                   │ fails
///                        ▼                          ▼
///                      every object as before the first round
/// ```
/// Nobody is told of what the policy changed before it is written.
final class ConflictRounds {
    private let context: NSManagedObjectContext
    private let policy: NSMergePolicy
    private var before: ContextState?
    private var count = 0
    /// What the last round was asked about values that are taken.
    private var asked: [ConstraintQuestion] = []

    /// Whoever loses so many races against other writers gives up.
    private static let limit = 200

    private struct ConstraintQuestion: Hashable {
        var constraint: [String]
        var objects: [ObjectIdentifier]
    }

    init(_ context: NSManagedObjectContext) {
        self.context = context
        policy = context.mergePolicy as? NSMergePolicy ?? .error
    }

    private var neverResolves: Bool {
        type(of: policy) == NSMergePolicy.self && policy.mergeType == .errorMergePolicyType
    }

    /// Has the policy resolve the conflicts.
    ///
    /// - Throws: what the policy throws, or an error that says why to save again would be in vain.
    func resolve(_ conflicts: SaveConflicts) throws {
        count += 1
        guard count <= Self.limit else {
            throw conflicts.error(
                under: policy, "; others were faster \(Self.limit) times in a row: save again later")
        }
        if conflicts.list.isEmpty { return }
        if before == nil, !neverResolves { before = ContextState(context) }
        let questions = conflicts.values.map {
            ConstraintQuestion(
                constraint: $0.constraint,
                objects: ($0.conflictingObjects + ($0.databaseObject.map { [$0] } ?? [])).map(ObjectIdentifier.init))
        }
        if !questions.isEmpty, questions == asked { throw unresolved(conflicts) }
        asked = questions
        let wasProcessing = context.isProcessing
        context.isProcessing = true
        defer { context.isProcessing = wasProcessing }
        if type(of: policy) != NSMergePolicy.self {
            conflicts.rows.forEach { $0.takeSnapshots() }
            conflicts.values.forEach { $0.takeSnapshots() }
        }
        try policy.resolve(mergeConflicts: conflicts.list)
        context.propagateDeletes()
        try context.checkReads()
        if conflicts.rows.contains(where: isUnresolved) { throw unresolved(conflicts) }
        try validateChanged(besides: conflicts.rows.filter { $0.newVersionNumber == 0 }.map(\.sourceObject))
    }

    /// What the policy changed has not been validated as it is now. Of objects without rows there is nothing to write.
    private func validateChanged(besides gone: [NSManagedObject]) throws {
        var seen = Set(gone.filter(\.isDeleted).map(ObjectReference.init))
        while true {
            let event = context.event
            let next = (event.inserted + event.updated + event.refreshed + event.deleted).filter {
                $0.registry === context.registry && $0.hasChanges && seen.insert(ObjectReference($0)).inserted
            }
            if next.isEmpty { return }
            try context.validate([next])
            // Validators change objects, too.
            context.propagateDeletes()
            try context.checkReads()
        }
    }

    private func unresolved(_ conflicts: SaveConflicts) -> any Error {
        conflicts.error(under: policy, ". The merge policy \(policy) left them as they were")
    }

    /// Whether the save would find the same again.
    private func isUnresolved(_ conflict: NSMergeConflict) -> Bool {
        let object = conflict.sourceObject
        guard object.registry === context.registry, object.isStored, !object.flags.contains(.inaccessible) else {
            return false
        }
        if conflict.newVersionNumber == 0 { return object.isUpdated && !object.isDeleted && !object.hasOnlyLost }
        let isChecked = context.checkedList.contains { $0 === object }
        guard object.isUpdated || object.isDeleted || isChecked else { return false }
        return object.rowView.map { Int($0.version) == conflict.oldVersionNumber } ?? false
    }

    /// The save failed: objects are as they were, but those of stores that were written.
    func takeBack(except stores: Set<Int32>) {
        before?.restore(context, except: stores)
        before = nil
        context.absorbed = []
    }

    /// The save succeeded: tells of what the policy changed.
    func finish() {
        before = nil
        for absorbed in context.absorbed {
            context.registry.alias(absorbed: absorbed.temporaryKey, to: absorbed.survivor.objectID)
        }
        if !context.absorbed.isEmpty, context.isKnownElsewhere {
            context.renamings.wrappingAdd(1, ordering: .releasing)
        }
        context.absorbed = []
        context.isResolved = true
        context.processPendingChanges()
        context.isResolved = false
    }
}
