import Foundation

/// The rounds of one save in which the merge policy resolves conflicts.
///
/// ```
///  save ──conflicts──▶ policy changes objects ──▶ save ──conflicts──▶ … ──▶ written ──▶ ObjectsDidChange
///                        │ throws                   │ fails
///                        ▼                          ▼
///                      every object as before the first round
/// ```
/// Observers are notified of the policy's changes after they are written.
///
/// Invariants:
/// - One value belongs to one save: it is made at the first conflict.
/// - The state before the first round is kept until the save ends, unless the policy never changes an object.
final class ConflictRounds {
    private let context: NSManagedObjectContext
    private let policy: NSMergePolicy
    private var before: ContextState?
    private var count = 0
    /// The constraint conflicts of the last round. The same conflicts again mean that the policy did not resolve them.
    private var asked: [ConstraintQuestion] = []

    /// The number of rounds after which a save that keeps losing races against other writers fails.
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

    /// Lets the merge policy resolve the conflicts.
    ///
    /// - Throws: the policy's error, or an error that says why another attempt would fail, too.
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
        let wasProcessing = context.pendingChanges.isProcessing
        context.pendingChanges.isProcessing = true
        defer { context.pendingChanges.isProcessing = wasProcessing }
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

    /// Validates the objects that the policy changed, except deleted ones without a row: they are not written.
    private func validateChanged(besides gone: [NSManagedObject]) throws {
        var seen = Set(gone.filter(\.isDeleted).map(ObjectReference.init))
        while true {
            let event = context.pendingChanges.event
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
        let isChecked = context.pendingChanges.versionChecked.contains { $0 === object }
        guard object.isUpdated || object.isDeleted || isChecked else { return false }
        return object.rowView.map { Int($0.version) == conflict.oldVersionNumber } ?? false
    }

    /// Restores the objects after a failed save, except those of stores that were committed.
    func rollBack(except stores: Set<Int32>) {
        before?.restore(context, except: stores)
        before = nil
        context.saveState.absorbedInsertions = []
    }

    /// Ends the rounds of a save that succeeded: observers are notified of the policy's changes.
    func finish() {
        before = nil
        for absorbed in context.saveState.absorbedInsertions {
            context.registry.alias(absorbed: absorbed.temporaryKey, to: absorbed.survivor.objectID)
        }
        if !context.saveState.absorbedInsertions.isEmpty, context.isKnownElsewhere {
            context.children.notePermanentKeys()
        }
        context.saveState.absorbedInsertions = []
        context.saveState.isEndingPolicyEvent = true
        context.processPendingChanges()
        context.saveState.isEndingPolicyEvent = false
    }
}
