import CoreData

/// A part of exchanges, as programs that use Apple's names see it.
package enum SyncStage: Sendable {
    /// Receives and applies changes of other devices.
    case importing
    /// Captures and sends changes of this device.
    case exporting
}

/// The beginning or the end of a stage, for observers of stages.
package enum SyncStageChange: Sendable {
    case began(SyncStage)
    case ended(SyncStage, (any Error)?)
}

/// Tells an observer of stages: each one that ends has begun.
///
/// A stage in which nothing is sent or received does not begin, unless it fails.
struct SyncStageReport {
    let observe: (@Sendable (SyncStageChange) -> Void)?
    private var current: SyncStage?

    init(_ observe: (@Sendable (SyncStageChange) -> Void)?) { self.observe = observe }

    mutating func begin(_ stage: SyncStage) {
        guard current != stage else { return }
        current = stage
        observe?(.began(stage))
    }

    mutating func end(_ stage: SyncStage, _ error: (any Error)?) {
        if current != stage {
            guard error != nil else { return }
            begin(stage)
        }
        current = nil
        observe?(.ended(stage, error))
    }
}

/// The objects of a store that one save of changes of other devices inserted, updated and deleted.
package struct AppliedChanges: Sendable {
    package private(set) var inserted: Set<NSManagedObjectID> = []
    package private(set) var updated: Set<NSManagedObjectID> = []
    package private(set) var deleted: Set<NSManagedObjectID> = []

    package init() {}

    /// The changes that a context is about to save; call on its queue.
    init(unsavedIn context: NSManagedObjectContext) {
        func ids(_ objects: Set<NSManagedObject>) -> Set<NSManagedObjectID> {
            Set(objects.lazy.map(\.objectID).filter { !$0.isTemporaryID })
        }
        inserted = ids(context.insertedObjects)
        updated = ids(context.updatedObjects)
        deleted = ids(context.deletedObjects)
    }

    package var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// Adds the changes of a later save.
    package mutating func add(_ later: AppliedChanges) {
        inserted = inserted.union(later.inserted).subtracting(later.deleted)
        updated = updated.union(later.updated).subtracting(later.deleted).subtracting(inserted)
        deleted.formUnion(later.deleted)
    }
}
